// A wrong edit of a serving cluster leaves the running members alone. If the operator itself rejects the spec, a lost member
// is replaced with the last valid settings; if only Kubernetes does, the failure is reported and the correction heals it.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deletePods } from "../support/disruptions.ts";
import { lane } from "../support/lane.ts";
import { onlyReplaced } from "../proofs/replaced.ts";
import type { TestCluster } from "../support/cluster.ts";
import { followers, type HealthyCluster } from "../support/healthy.ts";
import { healed, patchSpec, untilReported } from "./bad-case.ts";
import { matrixTest } from "../../support/matrix.ts";

export function servingClusters(): void {
  describe("a wrong edit of a serving cluster", { concurrency: 1 }, () => {
    const on = lane("serving", { size: 3 });

    test("a node selector that no node matches costs no member, and one that is lost meanwhile is replaced after the correction", async (context) => {
      const { cluster, writer } = on();
      const before = await cluster.untilHealthy();
      const says = ["Unschedulable", "No node takes it: change spec.pod"];
      await patchSpec(cluster.key, { pod: { nodeSelector: { disk: "none-has-it" } } });
      // The first new member of the roll cannot join, and so no old one leaves.
      await untilReported(cluster, { reason: "MemberCannotStart", says });
      await writer.progress(50);
      assert.deepEqual(await podsOf(cluster, before), identities(before).map(podIdentity), "no member is touched");
      const [victim] = followers(before);
      assert.ok(victim);
      await deletePods(cluster, victim.name);
      await untilReported(cluster, { reason: "MemberCannotStart", says: ["2 healthy voters of 3", ...says] });
      await writer.progress();
      const after = await healed(context, cluster, () => patchSpec(cluster.key, { pod: { nodeSelector: null } }));
      const stayed = identities(before, victim.name);
      assert.deepEqual(
        identities(after).filter(({ name }) => stayed.some((one) => one.name === name)),
        stayed,
      );
      await writer.nothingIsLost();
    });

    matrixTest(
      "a repository that does not exist costs no member, and one that is lost meanwhile is replaced from the image of the others",
      async (context) => {
        const { cluster, writer } = on();
        const before = await cluster.untilHealthy();
        await patchSpec(cluster.key, { repository: "registry.invalid/etcd" });
        const says = [/ErrImagePull|ImagePullBackOff/, "spec.repository or spec.image"];
        await untilReported(cluster, { reason: "UpdateStopped", says });
        await writer.progress(50);
        assert.deepEqual(identities(await cluster.untilMembersHealthy()), identities(before), "no member is touched");
        const [victim] = followers(before);
        assert.ok(victim);
        await deletePods(cluster, victim.name);
        const replaced = await cluster.untilMembersHealthy({ without: [victim.name] });
        onlyReplaced(before, replaced, victim.name);
        for (const { spec } of await cluster.pods()) assert.match(spec?.containers[0]?.image ?? "", /^quay\.io\//);
        const after = await healed(context, cluster, () => patchSpec(cluster.key, { repository: null }));
        assert.deepEqual(identities(after), identities(replaced), "the correction changes no member");
        await writer.nothingIsLost();
      },
    );

    // src/cluster/plan/plan-desired.test.ts, and test/e2e-volumes/volumes/growth.ts under another wrong spec.
    matrixTest("while the spec is invalid, a lost member is replaced with the last valid settings", async (context) => {
      const { cluster, writer } = on();
      const before = await cluster.untilHealthy();
      const problem = "spec.etcd.extraArgs contains --no-such-flag";
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

const podIdentity = ({ name, uid, restarts }: { name: string; uid: string; restarts: number }): object => ({
  name,
  uid,
  restarts,
});

/** The pods of these members, as they are now. */
async function podsOf(cluster: TestCluster, { members }: HealthyCluster): Promise<object[]> {
  const pods = await Promise.all(members.map(({ name }) => cluster.pod(name)));
  return pods.map((pod) =>
    podIdentity({
      name: pod?.metadata?.name ?? "",
      uid: pod?.metadata?.uid ?? "",
      restarts: pod?.status?.containerStatuses?.[0]?.restartCount ?? 0,
    }),
  );
}
