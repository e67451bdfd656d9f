// One mistake from start to end: applied, reported by condition and event, corrected, healthy.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { seconds } from "../../../lab/progress.ts";
import { EtcdCluster } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import type { Key } from "../../../src/kube/objects/objects.ts";
import { apply, kubectl } from "../../support/kubectl.ts";
import { type Row, rowsOf } from "../../support/matrix.ts";
import { clusterwide, currentEtcd, TestCluster } from "../support/cluster.ts";
import { kube, restrictedNamespace } from "../support/environment.ts";
import { conditionOf } from "../support/status.ts";
import type { HealthyCluster } from "../support/healthy.ts";

/** Reason of the Ready condition → reason of the event. */
const events = {
  InvalidSpec: "Invalid Spec",
  MemberCannotStart: "Member Cannot Start",
  Refused: "Refused",
  ForeignCluster: "Foreign Cluster",
  UpdateStopped: "Update Stopped",
} as const;

interface Reported {
  readonly reason: keyof typeof events;
  /** Parts of the message: what is wrong and what to do. */
  readonly says: readonly (RegExp | string)[];
}

interface BadCase extends Reported, Row {
  readonly what: string;
  readonly name: string;
  /** In addition to size and version. */
  readonly spec?: object;
  /** Runs before the cluster is created, in a namespace of its own. */
  readonly prepare?: (key: Key) => Promise<unknown>;
  /** A merge patch of the spec, or another fix. */
  readonly correct: object | ((key: Key) => Promise<unknown>);
  readonly after?: () => Promise<unknown>;
}

let shared: Promise<string> | undefined;

/** For all cases without `prepare`. */
export function sharedNamespace(): Promise<string> {
  shared ??= restrictedNamespace("bad");
  return shared;
}

/** Call it in a `describe`. */
export function badCase(one: BadCase): void {
  for (const row of rowsOf([one])) testBadCase(row);
}

function testBadCase({ what, name, spec, prepare, correct, after, ...reported }: BadCase): void {
  test(`${what} is reported, and the cluster runs when it is corrected`, async (context) => {
    const namespace = prepare === undefined ? await sharedNamespace() : await restrictedNamespace("bad");
    const key = { namespace, name };
    try {
      await prepare?.(key);
      const cluster = await applyCluster(key, { size: 1, version: currentEtcd, ...spec });
      await untilReported(cluster, reported);
      await healed(context, cluster, () =>
        typeof correct === "function" ? correct(key) : patchSpec(key, correct).then(() => undefined),
      );
      await kube.delete(EtcdCluster, key);
    } finally {
      await after?.();
    }
  });
}

/** With kubectl apply. */
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

/** By the Ready condition and a warning event. */
export async function untilReported(cluster: TestCluster, { reason, says }: Reported): Promise<void> {
  const isSaid = (text = ""): boolean =>
    says.every((words) => (typeof words === "string" ? text.includes(words) : words.test(text)));
  await cluster.until(`${reason} is reported: ${says.join(", ")}`, (seen) => {
    const ready = conditionOf(seen, "Ready");
    return ready?.status === "False" && ready.reason === reason && isSaid(ready.message);
  });
  const event = await cluster.untilEvent(events[reason], ({ note }) => isSaid(note));
  assert.equal(event.type, "Warning");
}

/** Prints how long it took; a busy machine makes it no assertion. */
export async function healed(
  context: TestContext,
  cluster: TestCluster,
  correct: () => Promise<unknown>,
): Promise<HealthyCluster> {
  const began = Date.now();
  await correct();
  const after = await cluster.untilHealthy();
  context.diagnostic(`healthy ${seconds(Date.now() - began)} after it was corrected`);
  return after;
}
