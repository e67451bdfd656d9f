// Certificates that a person gives: close to their end, and not usable.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { EtcdCluster } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { GivenSecrets, peerSecret } from "../../e2e-tls/given-secrets.ts";
import type { TestCluster } from "../support/cluster.ts";
import { kube } from "../support/environment.ts";
import { about, memberOf, type Stage } from "./stage.ts";

const day = 86_400_000;
/** The lifetime of certificates that tests make. */
const life = 90 * day;
const month = "EtcdCertificateExpiresInAMonth";
const week = "EtcdCertificateExpiresInAWeek";
const lastDay = "EtcdCertificateExpiresInADay";
const problem = "EtcdCertificateProblem";

/** How long it is valid, in days: what fires, and what does not yet. */
const stages = [
  { days: 20, fires: [month], silent: [week, lastDay] },
  { days: 5, fires: [month, week], silent: [lastDay] },
  { days: 0.5, fires: [month, week, lastDay], silent: [] },
] as const;

export function certificateFaults(the: () => Stage): void {
  describe("a certificate", { concurrency: 1 }, () => {
    let cluster: TestCluster | undefined;
    let secrets: GivenSecrets | undefined;
    before(async () => {
      const name = "given";
      secrets = await GivenSecrets.for({ namespace: the().namespace, name });
      await secrets.renew(peerSecret);
      cluster = await memberOf(the(), name, { TLS: { static: { member: { peerSecret } } } });
      await cluster.untilHealthy();
    });
    after(() => cluster && kube.delete(EtcdCluster, cluster.key));

    test("comes closer to its end, and is renewed", async () => {
      assert.ok(cluster && secrets);
      const { proof } = the();
      const where = about(cluster);
      await proof.silent(where, month, week, lastDay);
      for (const { days, fires, silent } of stages) {
        const at = Date.now() - life + days * day;
        await secrets.put(peerSecret, await secrets.good(peerSecret, { at }));
        await proof.fires(where, ...fires);
        await proof.silent(where, ...silent);
      }
      await secrets.renew(peerSecret);
      await proof.silent(where, month, week, lastDay);
    });

    test("cannot be used, and can again", async () => {
      assert.ok(cluster && secrets);
      const { proof } = the();
      const where = about(cluster);
      await proof.silent(where, problem);
      const { crt, ca } = await secrets.good(peerSecret);
      await secrets.put(peerSecret, { crt, ca });
      await proof.fires(where, problem);
      await secrets.renew(peerSecret);
      await proof.silent(where, problem);
    });
  });
}
