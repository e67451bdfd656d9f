// An edit that is wrong, of a cluster that serves: the members that run are left as they are. One that is lost is replaced
// with the last valid settings where the operator itself sees what is wrong; where only Kubernetes does, that it cannot be
// replaced is told, and the correction makes the cluster whole.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deletePods } from "../support/harm.ts";
import { lane } from "../support/lane.ts";
import { othersStay } from "../support/stay.ts";
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

    test("an edit that the operator does not take keeps no lost member from being replaced, with the last valid settings", async (context) => {
      const { cluster, writer } = on();
      const before = await cluster.whole();
      const problem = "spec.etcd.extraArgs holds --no-such-flag";
      await patchSpec(cluster.key, { etcd: { extraArgs: ["--no-such-flag=1", "--heartbeat-interval=150"] } });
      await untilTold(cluster, { reason: "InvalidSpec", says: [problem] });
      const victim = before.members.find(({ id }) => id !== before.leader.id);
      assert.ok(victim);
      await deletePods(cluster, victim.name);
      const after = await cluster.membersWhole({ without: [victim.name] });
      othersStay(before, after, victim.name);
      for (const { spec } of await cluster.pods()) {
        const { command = [], env = [] } = spec?.containers[0] ?? {};
        assert.doesNotMatch(
          JSON.stringify([command, env]),
          /no-such-flag|heartbeat/i,
          "nothing of the edit is applied",
        );
      }
      await untilTold(cluster, { reason: "InvalidSpec", says: [problem] });
      await writer.nothingIsLost();
      const corrected = await healed(context, cluster, () => patchSpec(cluster.key, { etcd: null }));
      assert.deepEqual(standing(corrected), standing(after), "the correction changes nobody either");
    });
  });
}

const standing = (
  { members }: Whole,
  without?: string,
): { name: string; id: string; uid: string; restarts: number }[] =>
  members.filter(({ name }) => name !== without).map(({ name, id, uid, restarts }) => ({ name, id, uid, restarts }));
