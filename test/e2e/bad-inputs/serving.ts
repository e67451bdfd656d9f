// An edit that is wrong, of a cluster that serves: the members that run are left as they are, one that is lost cannot be
// replaced and that is told, and the correction makes the cluster whole.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deletePods } from "../support/harm.ts";
import { lane } from "../support/lane.ts";
import type { Whole } from "../support/whole.ts";
import { healed, patchSpec, untilTold } from "./bad-case.ts";

interface BadEdit {
  readonly what: string;
  readonly edit: object;
  readonly correct: object;
  readonly says: readonly (string | RegExp)[];
}

const edits: readonly BadEdit[] = [
  {
    what: "a node selector that no node fits",
    edit: { pod: { nodeSelector: { disk: "none-has-it" } } },
    correct: { pod: { nodeSelector: null } },
    says: ["Unschedulable", "No node takes it: change spec.pod"],
  },
  {
    what: "a repository that is not there",
    edit: { repository: "registry.invalid/etcd" },
    correct: { repository: null },
    says: [/ErrImagePull|ImagePullBackOff/, "spec.repository or spec.image"],
  },
];

export function servingClusters(): void {
  describe("an edit of a cluster that serves", { concurrency: 1 }, () => {
    const on = lane("serving", { size: 3 });

    for (const { what, edit, correct, says } of edits)
      test(`${what} costs a serving cluster nothing, and the member that is lost meanwhile comes back with the correction`, async (context) => {
        const { cluster, writer } = on();
        const before = await cluster.whole();
        await patchSpec(cluster.key, edit);
        await cluster.until(
          "the edit was seen",
          ({ metadata, status }) => status?.observedGeneration === metadata?.generation,
        );
        assert.deepEqual(standing(await cluster.whole()), standing(before), "the edit alone changes nobody");
        const victim = before.members.find(({ id }) => id !== before.leader.id);
        assert.ok(victim);
        await deletePods(cluster, victim.name);
        await untilTold(cluster, { reason: "MemberCannotStart", says: ["2 healthy voters of 3", ...says] });
        await writer.progress();
        const after = await healed(context, cluster, () => patchSpec(cluster.key, correct));
        const stayed = standing(before, victim.name);
        assert.deepEqual(
          standing(after).filter(({ name }) => stayed.some((one) => one.name === name)),
          stayed,
        );
        await writer.nothingIsLost();
      });
  });
}

const standing = (
  { members }: Whole,
  without?: string,
): { name: string; id: string; uid: string; restarts: number }[] =>
  members.filter(({ name }) => name !== without).map(({ name, id, uid, restarts }) => ({ name, id, uid, restarts }));
