// Asserts who was replaced: lost members are, all others keep their member id and their pod.
import assert from "node:assert/strict";
import { waitFor } from "../../../lab/progress.ts";
import { patience } from "../support/environment.ts";
import type { HealthyCluster, HealthyMember } from "../support/healthy.ts";

const identity = ({ name, id, uid }: HealthyMember): Pick<HealthyMember, "name" | "id" | "uid"> => ({ name, id, uid });

/** Each of these members, by name, was replaced by a new one; nobody else was. */
export function onlyReplaced(before: HealthyCluster, after: HealthyCluster, ...gone: readonly string[]): void {
  assert.equal(after.clusterId, before.clusterId);
  const kept = before.members.filter(({ name }) => !gone.includes(name));
  const isKept = ({ name }: HealthyMember): boolean => kept.some((member) => member.name === name);
  assert.deepEqual(after.members.filter(isKept).map(identity), kept.map(identity));
  const fresh = after.members.filter((member) => !isKept(member));
  assert.equal(fresh.length, gone.length, `new: ${fresh.map(({ name }) => name).join(", ")}`);
  for (const { id, uid, name } of fresh)
    assert.ok(!before.members.some((member) => member.id === id || member.uid === uid), `${name} is not new`);
}

/** Same members, same pods, no restart. */
export function sameProcesses(before: HealthyCluster, after: HealthyCluster): void {
  onlyReplaced(before, after);
  const restarts = ({ members }: HealthyCluster): readonly number[] => members.map((member) => member.restarts);
  assert.deepEqual(restarts(after), restarts(before));
}

/** Waits until etcd no longer lists the member: the replacement has begun. */
export async function untilRemoved({ leader }: HealthyCluster, victim: HealthyMember): Promise<void> {
  let seen = "";
  await waitFor(
    `${victim.name} to be removed`,
    async () => {
      const { members } = await leader.etcd.memberList({ linearizable: true }, { deadline: 2_000 });
      seen = members.map(({ name, id }) => name || id).join(", ");
      return members.every(({ id }) => id !== victim.id) || undefined;
    },
    { timeoutMs: patience, everyMs: 50, lastSeen: () => seen },
  );
}
