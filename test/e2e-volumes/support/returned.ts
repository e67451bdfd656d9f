// Members that come back on their volumes: the same ids and names in a cluster of the same id; nothing is bootstrapped again.
import assert from "node:assert/strict";
import { waitFor } from "../../../lab/progress.ts";
import { eventReasons } from "../../../src/api/events.ts";
import type { TestCluster } from "../../e2e/support/cluster.ts";
import { patience } from "../../e2e/support/environment.ts";
import type { HealthyCluster } from "../../e2e/support/healthy.ts";

/** Same cluster, same members; their pods may be others. */
export function sameMembers(before: HealthyCluster, after: HealthyCluster): void {
  assert.equal(after.clusterId, before.clusterId);
  const ids = ({ members }: HealthyCluster): string[] => members.map(({ id, name }) => `${name} ${id}`);
  assert.deepEqual(ids(after), ids(before));
}

/** The same, and these members, by name, are in other pods; all others in the same, with no restart. */
export function onlyReturned(before: HealthyCluster, after: HealthyCluster, ...names: readonly string[]): void {
  sameMembers(before, after);
  for (const [index, { name, uid, restarts }] of after.members.entries()) {
    const earlier = before.members[index];
    assert.equal(uid !== earlier?.uid, names.includes(name), `the pod of ${name}`);
    if (!names.includes(name)) assert.equal(restarts, earlier?.restarts, `restarts of ${name}`);
  }
}

/** Waits until each of these members has another pod than before, and the cluster is healthy. */
export async function untilReturned(
  cluster: TestCluster,
  before: HealthyCluster,
  ...names: readonly string[]
): Promise<HealthyCluster> {
  await untilOtherPods(cluster, before, names);
  return cluster.untilHealthy();
}

/** The same where something else keeps Ready False. */
export async function untilReturnedMembers(
  cluster: TestCluster,
  before: HealthyCluster,
  ...names: readonly string[]
): Promise<HealthyCluster> {
  await untilOtherPods(cluster, before, names);
  return cluster.untilMembersHealthy();
}

async function untilOtherPods(cluster: TestCluster, before: HealthyCluster, names: readonly string[]): Promise<void> {
  const old = new Set(before.members.filter(({ name }) => names.includes(name)).map(({ uid }) => uid));
  let left: string[] = [];
  await waitFor(
    `${cluster.name}: other pods of ${names.join(", ")}`,
    async () => {
      const pods = await cluster.pods();
      left = pods.flatMap(({ metadata }) => (old.has(metadata?.uid ?? "") ? [metadata?.name ?? ""] : []));
      return left.length === 0 || undefined;
    },
    { timeoutMs: patience, lastSeen: () => `still the old pods: ${left.join(", ")}` },
  );
}

/** Since it was made, one cluster began: the first. */
export async function beganOnce(cluster: TestCluster): Promise<void> {
  const { reason } = eventReasons.clusterCreated;
  const begun = (await cluster.events()).filter((event) => event.reason === reason);
  assert.deepEqual(
    begun.map(({ series }) => series?.count),
    [undefined],
    begun.map(({ note }) => note).join("; "),
  );
}
