// A cluster of etcd-operator 0.9 with TLS is taken over as it runs, and its manifest is not changed.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { EtcdCluster } from "../../src/api/etcd-cluster/etcd-cluster.ts";
import { createInherited } from "../e2e-rolls/support/inherited-cluster.ts";
import type { TestCluster } from "../e2e/support/cluster.ts";
import { kube } from "../e2e/support/environment.ts";
import { OperatorProcess } from "../e2e/support/operator-process.ts";
import { Writer } from "../e2e/proofs/writer.ts";
import { ownNamespace } from "../support/kubectl.ts";
import { authority, condition, leaf, putSecret } from "./support.ts";

const secrets = { peerSecret: "peers", serverSecret: "servers", operatorSecret: "operator" };

export function inherited(): void {
  describe("a cluster of etcd-operator 0.9 with TLS", { concurrency: 1 }, () => {
    let cluster: TestCluster;
    let operator: OperatorProcess | undefined;
    let writer: Writer | undefined;
    before(async () => {
      // Its pods run as root, which the restricted profile forbids.
      const namespace = await ownNamespace("tls-inherited");
      const of = { namespace, name: "inherited" };
      const ca = await authority("inherited");
      await putSecret(namespace, "peers", "peer", await leaf(ca, { use: "both", of }), ca.cert);
      await putSecret(namespace, "servers", "server", await leaf(ca, { use: "both", of }), ca.cert);
      await putSecret(namespace, "operator", "etcd-client", await leaf(ca, { use: "client", of }), ca.cert);
      cluster = await createInherited(of, 2, "random", undefined, secrets);
    });
    after(async () => {
      await writer?.stop();
      await operator?.kill();
      await kube.delete(EtcdCluster, cluster.key);
    });

    test("is taken over without a new pod, and grows", async () => {
      const before = (await cluster.pods()).map(({ metadata }) => metadata?.uid ?? "").toSorted();
      writer = new Writer(cluster);
      operator = new OperatorProcess({ namespace: cluster.namespace });
      await cluster.until("to be managed", (now) => condition(now, "CertificatesValid")?.reason === "Valid");
      await cluster.untilHealthy();
      assert.deepEqual((await cluster.pods()).map(({ metadata }) => metadata?.uid ?? "").toSorted(), before);
      await cluster.edit({ size: 3 });
      const { members } = await cluster.untilHealthy();
      assert.equal(members.filter(({ uid }) => before.includes(uid)).length, 2);
      await writer.nothingIsLost();
    });
  });
}
