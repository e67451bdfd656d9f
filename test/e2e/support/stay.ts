// Who goes and who stays: a repair exchanges those that are lost, and everybody else remains the member and the pod that
// it was.
import assert from "node:assert/strict";
import { waitFor } from "../../../lab/progress.ts";
import { patience } from "./ground.ts";
import type { Whole, WholeMember } from "./whole.ts";

const self = ({ name, id, uid }: WholeMember): Pick<WholeMember, "name" | "id" | "uid"> => ({ name, id, uid });

/** For each of those that are gone, by name, there is one that nobody knew before. */
export function othersStay(before: Whole, after: Whole, ...gone: readonly string[]): void {
  assert.equal(after.clusterId, before.clusterId);
  const kept = before.members.filter(({ name }) => !gone.includes(name));
  const isKept = ({ name }: WholeMember): boolean => kept.some((member) => member.name === name);
  assert.deepEqual(after.members.filter(isKept).map(self), kept.map(self));
  const fresh = after.members.filter((member) => !isKept(member));
  assert.equal(fresh.length, gone.length, `new: ${fresh.map(({ name }) => name).join(", ")}`);
  for (const { id, uid, name } of fresh)
    assert.ok(!before.members.some((member) => member.id === id || member.uid === uid), `${name} was there before`);
}

/** The repair has begun: who is gone is off the list. Asked of etcd alone. */
export async function isTakenOut({ leader }: Whole, victim: WholeMember): Promise<void> {
  let seen = "";
  await waitFor(
    `${victim.name} to be taken out`,
    async () => {
      const { members } = await leader.etcd.memberList({ linearizable: true }, { deadline: 2_000 });
      seen = members.map(({ name, id }) => name || id).join(", ");
      return members.every(({ id }) => id !== victim.id) || undefined;
    },
    { timeoutMs: patience, everyMs: 50, lastSeen: () => seen },
  );
}
