// Members that certificates keep apart on a real Kubernetes: they come back in the pods that they had, with what was written.
import assert from "node:assert/strict";
import { test } from "node:test";
import { waitFor } from "../../lab/progress.ts";
import { EtcdCluster } from "../../src/api/etcd-cluster/etcd-cluster.ts";
import { rotateCaAnnotation } from "../../src/cluster/objects/tls.ts";
import { decoded } from "../../src/cluster/objects/secrets.ts";
import { type Pod, Secret } from "../../src/kube/objects/kinds.ts";
import { signerOf } from "../../src/tls/ca-bundle.ts";
import type { TestCluster } from "../e2e/support/cluster.ts";
import { kube, patience } from "../e2e/support/environment.ts";
import type { HealthyCluster } from "../e2e/support/healthy.ts";
import { isMatrix } from "../support/matrix.ts";
import { kubectl } from "../support/kubectl.ts";
import { type GivenSecrets, peerSecret } from "./given-secrets.ts";
import { condition, leaf, overwrite, type TlsLane, untilPresented } from "./support.ts";

/** With certificates that the operator made. */
export function madeApart(the: () => TlsLane): void {
  let old: readonly Secret[] = [];

  test("all Secrets are deleted: the members come back in their pods, and nothing is lost", async () => {
    const { cluster, namespace } = the();
    const before = await cluster.untilHealthy();
    const selector = `etcd_cluster=${cluster.name}`;
    old = (await kube.list(Secret, { namespace, labelSelector: selector })).items;
    await kubectl("delete", "secret", `--namespace=${namespace}`, `--selector=${selector}`);
    await expectReunion(the(), before);
  });

  test("older Secrets are brought back: they come back once more", async () => {
    const { cluster } = the();
    const before = await cluster.untilHealthy();
    for (const { metadata, data = {} } of old) {
      const now = await kube.get(Secret, { ...cluster.key, name: metadata?.name ?? "" });
      await overwrite(now, data);
    }
    await expectReunion(the(), before);
  });

  if (isMatrix)
    test("a rotation that is held up: the CA before renews what is in use, and no pod restarts", async () => {
      const { cluster, writer } = the();
      await cluster.edit({ updateStrategy: "OnDelete" });
      const before = await cluster.untilHealthy();
      const name = { ...cluster.key, name: `${cluster.name}-peer-ca` };
      const annotations = { [rotateCaAnnotation]: "held up" };
      await kube.mergePatch(EtcdCluster, cluster.key, { metadata: { annotations } });
      const kept = await waitFor(
        "the CA before to be kept",
        async () => {
          const secret = await kube.get(Secret, name);
          return decoded(secret)["previous-ca.key"] === undefined ? undefined : secret;
        },
        { timeoutMs: patience },
      );
      // As if two thirds of its life were over.
      const { "previous-ca.crt": cert = "", "previous-ca.key": key = "" } = decoded(kept);
      const due = await leaf({ cert, key }, { use: "both", of: cluster.key, at: Date.now() - 61 * 86_400_000 });
      const data = { ...kept.data, "previous-peer.crt": base64(due.cert), "previous-peer.key": base64(due.key) };
      const old = { leaves: await fingerprints(before), processes: await processes(cluster) };
      await overwrite(kept, data);
      await waitFor(
        "every member to present another certificate of the CA before",
        async () => {
          const now = await Promise.all(before.members.map(({ address }) => untilPresented(`https://${address}:2380`)));
          const isNew = now.every(
            (one) => !old.leaves.includes(one.fingerprint) && signerOf(one.cert, cert) !== undefined,
          );
          return isNew || undefined;
        },
        { timeoutMs: patience },
      );
      assert.deepEqual(await processes(cluster), old.processes);
      await writer.nothingIsLost();
    });
}

/** With certificates that a person gave for peers. */
export function givenApart(the: () => TlsLane, given: () => GivenSecrets): void {
  if (!isMatrix) return;
  test("another CA is given after the old certificate has expired: the members come back in their pods", async () => {
    const { cluster } = the();
    const before = await cluster.untilHealthy();
    const lifeMs = 20_000;
    await given().put(peerSecret, await given().good(peerSecret, { lifeMs }));
    await cluster.until(
      "to say that it has expired",
      (now) => condition(now, "CertificatesValid")?.reason === "Expired",
    );
    await given().otherCas();
    await given().renew(peerSecret);
    await expectReunion(the(), before);
  });
}

/** They were started again, each in its pod. What they are given then may have them replaced in order, as any other CA. */
async function expectReunion({ cluster, writer }: TlsLane, before: HealthyCluster): Promise<void> {
  const restartsOf = ({ status }: Pod): number => status?.containerStatuses?.[0]?.restartCount ?? 0;
  let seen = "";
  await waitFor(
    "all members to be started again in their pods",
    async () => {
      const pods = await cluster.pods();
      seen = pods.map((pod) => `${pod.metadata?.name} ${restartsOf(pod)}`).join(", ");
      const isAgain = before.members.every(({ uid, restarts }) =>
        pods.some((pod) => pod.metadata?.uid === uid && restartsOf(pod) > restarts),
      );
      return isAgain || undefined;
    },
    { timeoutMs: patience, everyMs: 500, lastSeen: () => seen },
  );
  await cluster.until("to say that all is well", (now) => condition(now, "Ready")?.status === "True");
  await cluster.untilEvent("Member Started Again");
  await writer.progress();
  await writer.nothingIsLost();
}

async function fingerprints({ members }: HealthyCluster): Promise<string[]> {
  const seen = await Promise.all(members.map(({ address }) => untilPresented(`https://${address}:2380`)));
  return seen.map(({ fingerprint }) => fingerprint);
}

/** The cluster is not Ready while it waits for somebody to delete pods. */
async function processes(cluster: TestCluster): Promise<string[]> {
  const pods = await cluster.pods();
  return pods
    .map(
      ({ metadata, status }) => `${metadata?.uid} ${status?.containerStatuses?.map((one) => one.restartCount).join()}`,
    )
    .toSorted();
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");
