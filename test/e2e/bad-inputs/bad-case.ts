// One mistake from beginning to end, as a person makes it: applied, told in the status and by an event, corrected, whole.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { seconds } from "../../../lab/progress.ts";
import { EtcdCluster } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import type { Key } from "../../../src/kube/objects/objects.ts";
import { apply, kubectl } from "../../support/kubectl.ts";
import { clusterwide, currentEtcd, TestCluster } from "../support/cluster.ts";
import { kube, restrictedNamespace } from "../support/ground.ts";
import { conditionOf } from "../support/status.ts";
import type { Whole } from "../support/whole.ts";

/** The reason of the condition and of the event that go together. */
const events = {
  InvalidSpec: "Invalid Spec",
  MemberCannotStart: "Member Cannot Start",
  Refused: "Refused",
  ForeignCluster: "Foreign Cluster",
} as const;

export interface Told {
  readonly reason: keyof typeof events;
  /** What is wrong, and what to do about it. */
  readonly says: readonly (RegExp | string)[];
}

export interface BadCase extends Told {
  readonly what: string;
  readonly name: string;
  /** Besides size and version. */
  readonly spec?: object;
  /** Before the cluster is made. Such a case has a namespace of its own. */
  readonly prepare?: (key: Key) => Promise<unknown>;
  /** A merge patch of the spec, or what is done elsewhere. */
  readonly correct: object | ((key: Key) => Promise<unknown>);
  readonly after?: () => Promise<unknown>;
}

let shared: Promise<string> | undefined;

/** One for all that need none of their own. */
export function sharedNamespace(): Promise<string> {
  shared ??= restrictedNamespace("bad");
  return shared;
}

/** To be called in a `describe`. */
export function badCase({ what, name, spec, prepare, correct, after, ...told }: BadCase): void {
  test(`${what} is told, and healed when it is corrected`, async (context) => {
    const namespace = prepare === undefined ? await sharedNamespace() : await restrictedNamespace("bad");
    const key = { namespace, name };
    try {
      await prepare?.(key);
      const cluster = await applyCluster(key, { size: 1, version: currentEtcd, ...spec });
      await untilTold(cluster, told);
      await healed(context, cluster, () =>
        typeof correct === "function" ? correct(key) : patchSpec(key, correct).then(() => undefined),
      );
      await kube.delete(EtcdCluster, key);
    } finally {
      await after?.();
    }
  });
}

/** As from a file of a person's. */
export async function applyCluster(key: Key, spec: object): Promise<TestCluster> {
  await apply(manifest(key, spec));
  return new TestCluster(key);
}

export function manifest(key: Key, spec: object | undefined): object {
  const { group, version, kind } = EtcdCluster;
  const metadata = { ...key, ...clusterwide };
  return { apiVersion: `${group}/${version}`, kind, metadata, ...(spec !== undefined && { spec }) };
}

export async function patchSpec({ namespace, name }: Key, spec: object): Promise<void> {
  await kubectl(
    "patch",
    `--namespace=${namespace}`,
    `etcd/${name}`,
    "--type=merge",
    `--patch=${JSON.stringify({ spec })}`,
  );
}

/** In the condition that people look at, and by a warning. */
export async function untilTold(cluster: TestCluster, { reason, says }: Told): Promise<void> {
  const isSaid = (text = ""): boolean =>
    says.every((words) => (typeof words === "string" ? text.includes(words) : words.test(text)));
  await cluster.until(`${reason} is told: ${says.join(", ")}`, (seen) => {
    const ready = conditionOf(seen, "Ready");
    return ready?.status === "False" && ready.reason === reason && isSaid(ready.message);
  });
  const event = await cluster.untilEvent(events[reason], ({ note }) => isSaid(note));
  assert.equal(event.type, "Warning");
}

/** How long it took is told, not judged: the machine has other things to do. */
export async function healed(
  context: TestContext,
  cluster: TestCluster,
  correct: () => Promise<unknown>,
): Promise<Whole> {
  const began = Date.now();
  await correct();
  const whole = await cluster.whole();
  context.diagnostic(`whole ${seconds(Date.now() - began)} after it was corrected`);
  return whole;
}
