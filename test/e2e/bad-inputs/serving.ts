// A wrong edit of a serving cluster leaves the running members alone. If the operator itself rejects the spec, a lost member
// is replaced with the last valid settings; if only Kubernetes does, the failure is reported and the correction heals it.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deletePods } from "../support/disruptions.ts";
import { lane } from "../support/lane.ts";
import { onlyReplaced } from "../support/replaced.ts";
import type { HealthyCluster } from "../support/healthy.ts";
import { healed, patchSpec, untilReported } from "./bad-case.ts";

interface BadEdit {
  readonly what: string;
  readonly edit: object;
  readonly correct: object;
  readonly says: readonly (string | RegExp)[];
}

const edits: readonly BadEdit[] = [
  {
    what: "a node selector that no node matches",
    edit: { pod: { nodeSelector: { disk: "none-has-it" } } },
    correct: { pod: { nodeSelector: null } },
    says: ["Unschedulable", "No node takes it: change spec.pod"],
  },
  {
    what: "a repository that does not exist",
    edit: { repository: "registry.invalid/etcd" },
    correct: { repository: null },
    says: [/ErrImagePull|ImagePullBackOff/, "spec.repository or spec.image"],
  },
];

export function servingClusters(): void {
  describe("a wrong edit of a serving cluster", { concurrency: 1 }, () => {
    const on = lane("serving", { size: 3 });

    for (const { what, edit, correct, says } of edits)
      test(`${what} does not affect running members, and a member lost meanwhile is replaced after the correction`, async (context) => {
        const { cluster, writer } = on();
        const before = await cluster.untilHealthy();
        await patchSpec(cluster.key, edit);
        await cluster.untilObserved();
        assert.deepEqual(
          identities(await cluster.untilHealthy()),
          identities(before),
          "the edit alone changes no member",
        );
        const victim = before.members.find(({ id }) => id !== before.leader.id);
        assert.ok(victim);
        await deletePods(cluster, victim.name);
        await untilReported(cluster, { reason: "MemberCannotStart", says: ["2 healthy voters of 3", ...says] });
        await writer.progress();
        const after = await healed(context, cluster, () => patchSpec(cluster.key, correct));
        const stayed = identities(before, victim.name);
        assert.deepEqual(
          identities(after).filter(({ name }) => stayed.some((one) => one.name === name)),
          stayed,
        );
        await writer.nothingIsLost();
      });

    test("while the spec is invalid, a lost member is replaced with the last valid settings", async (context) => {
      const { cluster, writer } = on();
      const before = await cluster.untilHealthy();
      const problem = "spec.etcd.extraArgs holds --no-such-flag";
      await patchSpec(cluster.key, { etcd: { extraArgs: ["--no-such-flag=1", "--heartbeat-interval=150"] } });
      await untilReported(cluster, { reason: "InvalidSpec", says: [problem] });
      const victim = before.members.find(({ id }) => id !== before.leader.id);
      assert.ok(victim);
      await deletePods(cluster, victim.name);
      const after = await cluster.untilMembersHealthy({ without: [victim.name] });
      onlyReplaced(before, after, victim.name);
      for (const { spec } of await cluster.pods()) {
        const { command = [], env = [] } = spec?.containers[0] ?? {};
        assert.doesNotMatch(
          JSON.stringify([command, env]),
          /no-such-flag|heartbeat/i,
          `nothing of the invalid spec is applied: ${JSON.stringify([command, env])}`,
        );
      }
      await untilReported(cluster, { reason: "InvalidSpec", says: [problem] });
      await writer.nothingIsLost();
      const corrected = await healed(context, cluster, () => patchSpec(cluster.key, { etcd: null }));
      assert.deepEqual(identities(corrected), identities(after), "the correction changes no member");
    });
  });
}

const identities = (
  { members }: HealthyCluster,
  without?: string,
): { name: string; id: string; uid: string; restarts: number }[] =>
  members.filter(({ name }) => name !== without).map(({ name, id, uid, restarts }) => ({ name, id, uid, restarts }));
