// Certificates that a person gives: every combination, renewed ones, other CAs, and bad Secrets, which hurt nothing.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { describe, test } from "node:test";
import { bundlePlugin } from "../../lab/images/bundle.ts";
import { run } from "../../lab/machine/command.ts";
import { waitFor } from "../../lab/progress.ts";
import { decoded } from "../../src/cluster/objects/secrets.ts";
import { presentedCertificate } from "../../src/etcd/presented-certificate.ts";
import { Secret } from "../../src/kube/objects/kinds.ts";
import { createCluster } from "../e2e/support/cluster.ts";
import { kube, patience } from "../e2e/support/environment.ts";
import { deletePods } from "../e2e/support/disruptions.ts";
import type { HealthyCluster } from "../e2e/support/healthy.ts";
import { sameProcesses } from "../e2e/proofs/replaced.ts";
import { isMatrix } from "../support/matrix.ts";
import { givenApart } from "./apart.ts";
import { badSecrets } from "./bad-secrets.ts";
import { GivenSecrets, operatorSecret, peerSecret, serverSecret } from "./given-secrets.ts";
import { condition, tlsLane, untilPresented } from "./support.ts";

const never = new AbortController().signal;

export function given(): void {
  describe("given for peers only", { concurrency: 1 }, () => {
    let secrets: GivenSecrets | undefined;
    const the = tlsLane("peers", { size: 3, TLS: { static: { member: { peerSecret } } } }, async (namespace) => {
      secrets = await GivenSecrets.for({ namespace, name: "peers" });
      await secrets.renew(peerSecret);
    });
    test("peers speak TLS, clients do not", async () => {
      const { members } = await the().cluster.untilHealthy();
      for (const { address } of members) {
        await untilPresented(`https://${address}:2380`);
        assert.equal(await presentedCertificate({ url: `https://${address}:2379` }, never), undefined);
      }
      await the().writer.nothingIsLost();
    });

    test("who joins is let in at its first start, before DNS knows it", async () => {
      const { cluster, writer } = the();
      const { members, leader } = await cluster.untilHealthy();
      const lost = members.find(({ id }) => id !== leader.id) ?? assert.fail("no follower");
      await deletePods(cluster, lost.name);
      await waitFor(
        "another member in its place",
        async () => (await cluster.untilHealthy()).members.every(({ uid }) => uid !== lost.uid) || undefined,
        { timeoutMs: patience },
      );
      const after = await cluster.untilHealthy();
      assert.deepEqual(
        [...members, ...after.members].map(({ restarts }) => restarts),
        [0, 0, 0, 0, 0, 0],
      );
      await writer.nothingIsLost();
    });

    givenApart(the, () => secrets ?? assert.fail("no Secrets were made"));
  });

  describe("given for clients only", { concurrency: 1 }, () => {
    const TLS = { static: { member: { serverSecret }, operatorSecret } };
    const the = tlsLane("clients", { size: 1, TLS }, async (namespace) => {
      const secrets = await GivenSecrets.for({ namespace, name: "clients" });
      await secrets.renew(operatorSecret);
      // As docs/security.md asks for it: for servers alone.
      await secrets.put(serverSecret, await secrets.good(serverSecret, { use: "server" }));
    });
    test("clients speak TLS, peers do not", async () => {
      const { members } = await the().cluster.untilHealthy();
      for (const { address } of members) {
        assert.equal(await presentedCertificate({ url: `https://${address}:2380` }, never), undefined);
        await untilPresented(`https://${address}:2379`);
      }
      await the().writer.nothingIsLost();
    });

    test("kubectl etcd talks to members as a client: their own certificate is for servers alone", async () => {
      const { cluster } = the();
      const folder = mkdtempSync(path.join(tmpdir(), "kubectl-etcd-"));
      try {
        await bundlePlugin(path.join(folder, "kubectl-etcd"));
        const env = { PATH: `${folder}:${process.env["PATH"]}` };
        const etcd = (...words: string[]): Promise<string> =>
          run("kubectl", ["etcd", `--namespace=${cluster.namespace}`, ...words], {
            env,
            signal: AbortSignal.timeout(patience),
          });
        await etcd("ctl", cluster.name, "put", "greeting", "hello");
        assert.match(await etcd("ctl", cluster.name, "get", "greeting"), /hello/);
        await cluster.untilPodsReady();
        assert.match(await etcd("defrag", cluster.name, "--accept-downtime", "--yes"), /defragmented/);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    });
  });

  describe("given for both", { concurrency: 1 }, () => {
    const TLS = { static: { member: { peerSecret, serverSecret }, operatorSecret } };
    let secrets: GivenSecrets | undefined;
    const given = (): GivenSecrets => secrets ?? assert.fail("no Secrets were made");
    // Three take longer to be replaced, in the same way.
    const the = tlsLane("both", { size: isMatrix ? 3 : 1, TLS }, async (namespace) => {
      secrets = await GivenSecrets.for({ namespace, name: "both" });
      await secrets.renew(peerSecret, serverSecret, operatorSecret);
    });

    badSecrets(the, given);

    test("renewed certificates are used while clients write, and no pod restarts", async () => {
      const { cluster, writer } = the();
      const before = await cluster.untilHealthy();
      const presented = (): Promise<string[]> => fingerprints(before);
      const old = new Set(await presented());
      await given().renew(peerSecret, serverSecret, operatorSecret);
      await waitFor(
        "every member to present other certificates",
        async () => (await presented()).every((one) => !old.has(one)) || undefined,
        { timeoutMs: patience },
      );
      sameProcesses(before, await cluster.untilHealthy());
      await writer.nothingIsLost();
      writer.oneRetryWasEnough();
    });

    test("other CAs are taken over while clients write", async () => {
      const { cluster, writer } = the();
      await given().otherCas();
      const { ca } = await given().good(peerSecret);
      await given().renew(peerSecret, serverSecret, operatorSecret);
      await waitFor(
        "the new CAs to be taken over",
        async () => {
          const kept = decoded(await kube.get(Secret, { ...cluster.key, name: "both-peer-tls" }));
          const now = await cluster.get();
          const isOver =
            condition(now, "CertificatesValid")?.reason === "Valid" && kept["peer-ca.crt"]?.trim() === ca.trim();
          return isOver || undefined;
        },
        { timeoutMs: (isMatrix ? 6 : 4) * patience, everyMs: 2000 },
      );
      await cluster.untilHealthy();
      await writer.nothingIsLost();
      writer.oneRetryWasEnough();
    });

    test("a new cluster without its Secrets makes no member, and says why", async () => {
      const { namespace } = the();
      const missing = { static: { member: { peerSecret: "nowhere" } } };
      const cluster = await createCluster({ namespace, name: "without" }, { size: 1, TLS: missing });
      const seen = await cluster.until("to say what is missing", (now) => condition(now, "Ready")?.status === "False");
      await cluster.until("to name the Secret", (now) =>
        /Secret nowhere does not exist/.test(condition(now, "Ready")?.message ?? ""),
      );
      assert.deepEqual(await cluster.pods(), [], JSON.stringify(seen.status));
      await (await GivenSecrets.for(cluster.key)).renew(peerSecret);
      await cluster.edit({ TLS: { static: { member: { peerSecret } } } });
      await cluster.untilHealthy();
    });
  });
}

/** The fingerprints that the members present to peers and to clients. */
async function fingerprints({ members }: HealthyCluster): Promise<string[]> {
  const urls = members.flatMap(({ address }) => [2380, 2379].map((port) => `https://${address}:${port}`));
  return (await Promise.all(urls.map(untilPresented))).map(({ fingerprint }) => fingerprint);
}
