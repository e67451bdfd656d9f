// Versions that the cluster cannot go to, and images that do not hold what they say: the status tells what is wrong and what
// to do, no more than one member is touched, and reverting the edit undoes it.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { waitFor } from "../../../lab/progress.ts";
import type { EtcdClusterSpec } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { Pod } from "../../../src/kube/objects/kinds.ts";
import type { TestCluster } from "../../e2e/support/cluster.ts";
import { kube, patience, patiently } from "../../e2e/support/environment.ts";
import { tagImage } from "../../e2e/support/disruptions.ts";
import { type HealthyCluster, podText } from "../../e2e/support/healthy.ts";
import { type Lane, lane } from "../../e2e/support/lane.ts";
import { onlyReplaced, sameProcesses } from "../../e2e/proofs/replaced.ts";
import { untilRolled } from "../../e2e/proofs/rolled.ts";
import { isMatrix, type Row, rowsOf } from "../../support/matrix.ts";
import { conditionOf } from "../../e2e/support/status.ts";

const current = "3.5.35";
/** One that has to go to another patch first; every row of the matrix goes on from `current`. */
const old = isMatrix ? "3.5.21" : current;
const next = "3.6.16";
const repository = "quay.io/coreos/etcd";

/** src/cluster/assess/target.test.ts has them all. */
const paths = rowsOf<Row & { what: string; version: string; says: readonly RegExp[] }>([
  {
    what: "two minor versions up",
    version: "3.7.3",
    says: [/one minor version at a time/, isMatrix ? /: 3\.5\.35, 3\.6\.16, 3\.7\.3/ : /: 3\.6\.16, 3\.7\.3/],
  },
  {
    what: "one minor version up, from a patch that is too old for it,",
    version: next,
    says: [/every member must run at least 3\.5\.32/, /one after another: 3\.5\.35, 3\.6\.16/],
    onlyInMatrix: true,
  },
  {
    what: "one minor version down, which etcd 3.5 cannot do,",
    version: "3.4.23",
    says: [/cannot go back to 3\.4/],
    onlyInMatrix: true,
  },
  {
    what: "that is known to lose data",
    version: "3.5.1",
    says: [/no cluster is moved to etcd 3\.5\.1/, /Set 3\.5\.35 instead/],
    onlyInMatrix: true,
  },
]);

interface BadImage extends Row {
  readonly what: string;
  readonly edit: Partial<EtcdClusterSpec>;
  /** Runs before the edit. */
  readonly prepare?: () => Promise<void>;
  readonly says: readonly RegExp[];
}

const untouching = rowsOf<BadImage>([
  {
    what: "an image that does not exist",
    edit: { version: next, repository: "registry.invalid/etcd-missing" },
    says: [/registry\.invalid\/etcd-missing:v3\.6\.16/, /ErrImagePull|ImagePullBackOff/],
  },
  {
    what: "an image without etcd",
    edit: { version: next, repository: "registry.invalid/etcd-none" },
    prepare: () => tagImage("lab.local/probe:1", `registry.invalid/etcd-none:v${next}`),
    says: [/registry\.invalid\/etcd-none:v3\.6\.16/],
    onlyInMatrix: true,
  },
  {
    what: "an image of another version than its tag says",
    edit: { version: next, repository: "registry.invalid/etcd-mislabelled" },
    prepare: () => tagImage(`${repository}:v${current}`, `registry.invalid/etcd-mislabelled:v${next}`),
    says: [/registry\.invalid\/etcd-mislabelled:v3\.6\.16/, /3\.5\.35/],
  },
]);

export function refusals(): void {
  describe("refused versions and images", { concurrency: 1 }, () => {
    // 3.6 does not take this value any more, and exits; 3.5 has it by default.
    const etcdEnv = [{ name: "ETCD_V2_DEPRECATION", value: "not-yet" }];
    const on = lane("refused", { size: 3, version: old, pod: { etcdEnv } });

    for (const { what, version, says } of paths)
      test(`a version ${what} is refused with a sentence, and no member is touched`, async () => {
        const { cluster } = on();
        const before = await cluster.untilHealthy();
        await cluster.edit({ version });
        await untilReported(cluster, says, "VersionDiffers");
        await untilWarned(cluster, says);
        await nobodyTouched(on(), before);
        await cluster.edit({ version: old });
        onlyReplaced(before, await cluster.untilHealthy());
      });

    for (const { what, edit, prepare, says } of untouching)
      test(`${what} is reported, no member is touched, and reverting the edit undoes it`, async () => {
        const { cluster } = on();
        await cluster.edit({ version: current });
        const before = await untilRolled(cluster);
        await prepare?.();
        await cluster.edit(edit);
        await untilReported(cluster, says);
        await nobodyTouched(on(), before);
        await cluster.edit({ version: current, repository });
        onlyReplaced(before, await cluster.untilHealthy());
        await noChecksLeft(cluster);
      });

    test("a version in which etcd exits stops the upgrade at the first member, and reverting the edit undoes it", async () => {
      const { cluster, writer } = on();
      await cluster.edit({ version: current });
      const before = await untilRolled(cluster);
      await cluster.edit({ version: next });
      const message = await untilReported(cluster, [/does not come up in 3\.6\.16/, /invalid value .*not-yet/]);
      const inNext = (await cluster.pods()).filter(({ spec }) => spec?.containers[0]?.image?.endsWith(`:v${next}`));
      const touched = before.members.filter(({ uid }) => inNext.some(({ metadata }) => metadata?.uid === uid));
      assert.equal(touched.length, 1, message);
      assert.ok(message.includes(touched[0]?.name ?? "?"), message);
      await writer.progress(100);
      const others = before.members.filter(({ name }) => name !== touched[0]?.name);
      for (const { name, uid, restarts } of others) {
        const pod = await cluster.pod(name);
        assert.equal(pod?.metadata?.uid, uid);
        assert.equal(pod.status?.containerStatuses?.[0]?.restartCount, restarts);
        assert.match(pod.spec?.containers[0]?.image ?? "", /:v3\.5\.35$/);
      }
      await cluster.edit({ version: current });
      const after = await cluster.untilHealthy();
      assert.equal(after.clusterId, before.clusterId);
      for (const { etcd, name } of after.members) assert.equal((await etcd.status(patiently)).version, current, name);
      for (const { name, uid } of others) assert.equal(after.members.find((one) => one.name === name)?.uid, uid);
      await writer.nothingIsLost();
      await noChecksLeft(cluster);
    });
  });
}

/** By the Ready condition; returns its message. */
async function untilReported(cluster: TestCluster, says: readonly RegExp[], reason?: string): Promise<string> {
  const seen = await cluster.until(`Ready says ${says.join(", ")}`, (object) => {
    const ready = conditionOf(object, "Ready");
    const isReason = reason === undefined || ready?.reason === reason;
    return ready?.status === "False" && isReason && says.every((words) => words.test(ready.message ?? ""));
  });
  return conditionOf(seen, "Ready")?.message ?? "";
}

async function untilWarned(cluster: TestCluster, says: readonly RegExp[]): Promise<void> {
  let seen = "none";
  await waitFor(
    `${cluster.name}: a warning that says ${says.join(", ")}`,
    async () => {
      const warnings = (await cluster.events()).filter(({ type }) => type === "Warning");
      seen = warnings.map(({ reason, note }) => `${reason}: ${note}`).join("; ");
      return warnings.some(({ note = "" }) => says.every((words) => words.test(note))) || undefined;
    },
    { timeoutMs: patience, lastSeen: () => seen },
  );
}

/** For as long as a hundred writes take, which is longer than any step of a roll. */
async function nobodyTouched({ cluster, writer }: Lane, before: HealthyCluster): Promise<void> {
  await writer.progress(100);
  sameProcesses(before, await cluster.untilMembersHealthy());
  await writer.nothingIsLost();
}

/** The pods that try images out go when they are not needed any more. */
async function noChecksLeft({ namespace }: TestCluster): Promise<void> {
  let seen = "";
  await waitFor(
    "no pod to try an image out",
    async () => {
      const { items } = await kube.list(Pod, { namespace, labelSelector: "etcd_image_check" });
      seen = items.map(podText).join(", ");
      return items.length === 0 || undefined;
    },
    { timeoutMs: patience, lastSeen: () => seen },
  );
}
