// What operators are killed in the middle of: each scenario creates a cluster, changes it, and records it after each step.
import assert from "node:assert/strict";
import { waitFor } from "../../../lab/progress.ts";
import { EtcdCluster, type EtcdClusterSpec } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { clusterIdAnnotation } from "../../../src/cluster/objects/claims.ts";
import { rotateCaAnnotation } from "../../../src/cluster/objects/tls.ts";
import { createCluster, type TestCluster } from "../../e2e/support/cluster.ts";
import { deletePods } from "../../e2e/support/disruptions.ts";
import { clientTlsOf } from "../../e2e/support/endpoints.ts";
import { kube, patience, patiently } from "../../e2e/support/environment.ts";
import { memberAt } from "../../e2e/support/healthy.ts";
import { untilRolled } from "../../e2e/proofs/rolled.ts";
import { holdSameData } from "../../e2e/proofs/same-data.ts";
import { conditionOf } from "../../e2e/support/status.ts";
import { Writer } from "../../e2e/proofs/writer.ts";
import { onlyReturned, untilReturned } from "../../e2e-volumes/support/returned.ts";
import { onVolumes, untilEachClaim } from "../../e2e-volumes/support/volumes.ts";
import type { Scenario, Setup } from "./run.ts";

/** Members are added and removed one at a time while a client writes. */
export async function oneByOne({ key, operators, record }: Setup): Promise<void> {
  const cluster = await createCluster(key, { size: 1 });
  const writer = new Writer(cluster);
  const intact = async (step: string): Promise<void> => {
    await operators.during(writer.nothingIsLost());
    await record(step, cluster);
  };
  try {
    const first = await operators.during(cluster.untilHealthy());
    await intact("creation");
    // With this many entries members join one after another. Members that join together may legitimately be replaced while
    // clients write and operators crash, so the write counts could not be compared.
    await operators.during(writer.progress(100));

    await cluster.scale(3);
    const three = await operators.during(cluster.untilHealthy());
    await intact("growth");

    const victim = three.members.find(({ id }) => id !== three.leader.id);
    assert.ok(victim);
    await deletePods(cluster, victim.name);
    await operators.during(cluster.untilHealthy({ without: [victim.name] }));
    await intact("repair");

    await cluster.scale(1);
    const last = await operators.during(cluster.untilHealthy());
    await intact("shrinking");
    assert.equal(last.clusterId, first.clusterId);
  } finally {
    await writer.stop();
  }
}

/** Four members join the seed together, after a first write to it. */
export async function together({ key, operators, record }: Setup): Promise<void> {
  const cluster = await createCluster(key, { size: 5 });
  await operators.during(firstWrite(cluster));
  const { members } = await operators.during(cluster.untilHealthy());
  for (const { etcd } of members) assert.equal((await etcd.list("/early", {}, patiently)).keys.length, 1);
  await record("creation", cluster);
}

/** An edit is rolled out, member by member, while a client writes. */
export const rolled =
  (from: Omit<EtcdClusterSpec, "size">, to: Partial<EtcdClusterSpec>): Scenario =>
  async ({ key, operators, record }) => {
    const cluster = await createCluster(key, { size: 3, ...from });
    const first = await operators.during(cluster.untilHealthy());
    await record("creation", cluster);
    const writer = new Writer(cluster);
    try {
      // With this many entries members join one after another.
      await operators.during(writer.progress(100));
      await cluster.edit(to);
      const last = await operators.during(untilRolled(cluster));
      assert.equal(last.clusterId, first.clusterId);
      await holdSameData(last);
      await operators.during(writer.nothingIsLost());
      await record("roll", cluster);
    } finally {
      await writer.stop();
    }
  };

/** Members with volumes: a lost pod comes back as the same member, and the volumes are asked to grow. */
export async function onTheirVolumes({ key, operators, record }: Setup): Promise<void> {
  const cluster = await createCluster(key, { size: 3, pod: onVolumes("1Gi") });
  const first = await operators.during(cluster.untilHealthy());
  await operators.during(untilNoted(cluster, "1Gi"));
  await record("creation", cluster);
  const writer = new Writer(cluster);
  try {
    const victim = first.members.find(({ id }) => id !== first.leader.id);
    assert.ok(victim);
    await deletePods(cluster, victim.name);
    onlyReturned(first, await operators.during(untilReturned(cluster, first, victim.name)), victim.name);
    await operators.during(writer.nothingIsLost());
    await record("repair", cluster);

    await cluster.edit({ pod: onVolumes("2Gi") });
    await operators.during(untilNoted(cluster, "2Gi"));
    onlyReturned(first, await operators.during(cluster.untilHealthy()), victim.name);
    await operators.during(writer.nothingIsLost());
    await record("volumes that grow", cluster);
  } finally {
    await writer.stop();
  }
}

/** With certificates that are made, and volumes: a lost pod comes back as the same member. */
export async function securedOnVolumes({ key, operators, record }: Setup): Promise<void> {
  const cluster = await createCluster(key, { size: 3, TLS: { auto: true }, pod: onVolumes("1Gi") });
  const first = await operators.during(untilRolled(cluster));
  await operators.during(untilNoted(cluster, "1Gi"));
  await record("creation", cluster);
  const writer = new Writer(cluster);
  try {
    await operators.during(writer.progress());
    const victim = first.members.find(({ id }) => id !== first.leader.id);
    assert.ok(victim);
    await deletePods(cluster, victim.name);
    onlyReturned(first, await operators.during(untilReturned(cluster, first, victim.name)), victim.name);
    await operators.during(writer.nothingIsLost());
    await record("repair", cluster);
  } finally {
    await writer.stop();
  }
}

/** Both CAs are replaced while a client writes, which notices nothing. */
export const rotated =
  (spec: Partial<EtcdClusterSpec>): Scenario =>
  async ({ key, operators, record }) => {
    const cluster = await createCluster(key, { size: 3, TLS: { auto: true }, ...spec });
    const first = await operators.during(untilRolled(cluster));
    await record("creation", cluster);
    const old = await clientTlsOf(cluster.key);
    const writer = new Writer(cluster);
    try {
      // With this many entries members join one after another.
      await operators.during(writer.progress(100));
      await kube.mergePatch(EtcdCluster, key, { metadata: { annotations: { [rotateCaAnnotation]: "1" } } });
      // Applications have a minute and a half to read their Secret again, in which nothing moves.
      const last = await operators.during(untilRolled(cluster, () => isRotated(cluster, old?.ca ?? "")));
      assert.equal(last.clusterId, first.clusterId);
      await holdSameData(last);
      await operators.during(writer.nothingIsLost());
      writer.oneRetryWasEnough();
      await record("rotation", cluster);
    } finally {
      await writer.stop();
    }
  };

async function isRotated(cluster: TestCluster, old: string): Promise<boolean> {
  const said = conditionOf(await cluster.get(), "CertificatesValid");
  const { ca = old } = (await clientTlsOf(cluster.key)) ?? {};
  return said?.reason === "Valid" && !ca.includes(old.trim());
}

/** The claims ask for that much, and say whose data they hold. */
async function untilNoted(cluster: TestCluster, storage: string): Promise<void> {
  await untilEachClaim(cluster, `claims of ${storage} with notes`, (claims) =>
    claims.every(({ metadata, spec }) => {
      const { [clusterIdAnnotation]: id } = metadata?.annotations ?? {};
      return id !== undefined && spec?.resources?.requests?.["storage"] === storage;
    }),
  );
}

function firstWrite(cluster: TestCluster): Promise<true> {
  let seen = "no member";
  const write = async (): Promise<true | undefined> => {
    const address = (await cluster.pods()).map(({ status }) => status?.podIP).find((one) => one !== undefined);
    if (address === undefined) return undefined;
    try {
      await memberAt(address).put("/early", "1", { deadline: 1000 });
      return true;
    } catch (error) {
      seen = String(error);
      return undefined;
    }
  };
  return waitFor("a first write", write, { timeoutMs: patience, everyMs: 20, lastSeen: () => seen });
}
