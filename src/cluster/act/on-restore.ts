// What is done when the data of a cluster is replaced by that of a backup.
import type { CompleteEtcdRestore } from "../../api/etcd-restore/etcd-restore.ts";
import { specDigest } from "../../restore/objects/spec-digest.ts";
import { highestRevisionIn, revisionIn } from "../assess/revisions.ts";
import type { FirstStart } from "../objects/first-start.ts";
import type { PodTls } from "../objects/tls.ts";
import type { ActionOf } from "../plan/actions.ts";
import type { ClusterExecution } from "./execution.ts";
import { restoreNow } from "./preconditions.ts";
import { confirmSeed } from "./seed-admission.ts";
import { formatPlan, parsePlan, seedPlanOf, seedRestoreOf } from "./seed-plan.ts";
import { writeStatus } from "./write-status.ts";

/** Nothing is stopped before the pod of the first member is known to be admitted, and all that it needs is written down. */
export async function beginRestore(
  execution: ClusterExecution,
  { name, uid }: ActionOf<"beginRestore">,
): Promise<void> {
  const found = await restoreNow(execution, name, uid);
  const plan = await seedPlanOf(execution, found);
  await confirmSeed(execution, plan, { name, uid });
  const highestRevision = highestRevisionIn(execution.assessment.world);
  await writeStatus(execution, {
    highestRevision,
    restore: {
      name,
      uid,
      phase: "Stopping",
      ...keptOf(execution, found),
      restored: latest(plan.job.sha256, execution.cluster.status.restore?.restored),
      specs: latest(specDigest(found.spec), execution.cluster.status.restore?.specs),
      stoppedAtRevision: revisionIn(execution.assessment.world) ?? null,
      plan: formatPlan(plan),
    },
  });
}

/** Where what the cluster held can be found, also that of a restore which this one takes over from. */
function keptOf({ cluster }: ClusterExecution, { status }: CompleteEtcdRestore) {
  const { restore } = cluster.status;
  const before = restore === undefined || restore.phase === "Done" ? undefined : restore;
  const snapshotPath = status.snapshotPath ?? before?.snapshotPath;
  const keptVolumes = status.keptVolumes ?? before?.keptVolumes;
  return {
    backup: status.backup?.path ?? "",
    snapshotPath: snapshotPath ?? null,
    keptVolumes: keptVolumes ?? null,
  };
}

const mostKnown = 10;

const latest = (one: string, before: readonly string[] = []): string[] =>
  [one, ...before.filter((other) => other !== one)].slice(0, mostKnown);

/** What the old members were is forgotten in the same write: from here on the cluster has yet to begin. */
export async function beginSeed(execution: ClusterExecution): Promise<void> {
  await writeStatus(execution, {
    restore: { phase: "Seeding" },
    phase: "Creating",
    clusterId: null,
    raftLogVersion: null,
    voters: [],
    size: 0,
  });
}

/** How the first member comes to its data. */
export async function seedStart(execution: ClusterExecution, member: string, tls: PodTls): Promise<FirstStart> {
  const { restore } = execution.cluster.status;
  if (restore?.phase !== "Seeding") return { as: "seed" };
  const plan =
    parsePlan(restore.plan) ?? (await seedPlanOf(execution, await restoreNow(execution, restore.name, restore.uid)));
  execution.reconcile.signal.throwIfAborted();
  return { as: "restored", restore: seedRestoreOf(execution, plan, member, tls) };
}
