// What is done when the data of a cluster is replaced by that of a backup.
import { fieldManager } from "../../api/field-manager.ts";
import { Pod } from "../../kube/objects/kinds.ts";
import type { CompleteEtcdRestore } from "../../api/etcd-restore/etcd-restore.ts";
import { NotYet } from "../../controllers/obstacle.ts";
import { podTlsFor } from "../assess/certificates/pod-tls.ts";
import { type Beginning, firstMembersGate, namedBeginning } from "../objects/first-members.ts";
import type { FirstStart } from "../objects/first-start.ts";
import { memberPod } from "../objects/member-pod.ts";
import type { MemberName } from "../objects/names.ts";
import { type PodTls, schemeOf } from "../objects/tls.ts";
import type { ActionOf } from "../plan/actions.ts";
import { type ClusterExecution, tlsToMake, writeStatus } from "./execution.ts";
import { makeClaim } from "./on-claims.ts";
import { makePod } from "./taken-away.ts";
import { podNow, restoreNow } from "./preconditions.ts";
import { confirmFirstMembers } from "./seed-admission.ts";
import { formatPlan, parsePlan, type SeedPlan, seedPlanOf, seedRestoreOf } from "./seed-plan.ts";
import { specDigest } from "../../restore/objects/seed.ts";
import { highestRevisionIn, revisionIn } from "../assess/restoring.ts";

/** Nothing is stopped before the pods of the first members are known to be admitted, and all that it needs is written down. */
export async function beginRestore(
  execution: ClusterExecution,
  { name, uid }: ActionOf<"beginRestore">,
): Promise<void> {
  const found = await restoreNow(execution, name, uid);
  const seedPlan = await seedPlanOf(execution, found);
  const plan = { ...seedPlan, together: await confirmFirstMembers(execution, seedPlan, uid) };
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

/** Their names are used once: those of an attempt that was given up are no part of this one. */
export async function nameFirstMembers(
  execution: ClusterExecution,
  { count }: ActionOf<"nameFirstMembers">,
): Promise<void> {
  const { restore } = execution.cluster.status;
  const plan = parsePlan(restore?.plan);
  if (restore === undefined || plan === undefined) throw new NotYet("the plan of the restore is gone");
  const attempt = plan.beginning === undefined ? 0 : plan.beginning.attempt + 1;
  const scheme = schemeOf(tlsToMake(execution).peer === "tls");
  const beginning = namedBeginning(execution.cluster, restore.uid, { attempt, count, scheme });
  await writeStatus(execution, { restore: { plan: formatPlan({ ...plan, beginning }) } });
}

/** Each is held back. So one that is gone before all of them are there has never run, and is made again. */
export async function createFirstMembers(
  execution: ClusterExecution,
  { members }: ActionOf<"createFirstMembers">,
): Promise<void> {
  const { assessment } = execution;
  const plan = begunPlan(execution);
  const tried = await Promise.allSettled(members.map((name) => createHeldBack(execution, plan, name)));
  const made = tried.map((one) => {
    if (one.status === "rejected") throw one.reason;
    return one.value;
  });
  const there = assessment.world.pods.map(({ name, uid }) => ({ name, uid }));
  await letStart(execution, plan, [...there, ...made]);
}

export async function startFirstMembers(
  execution: ClusterExecution,
  { pods }: ActionOf<"startFirstMembers">,
): Promise<void> {
  await letStart(execution, begunPlan(execution), pods);
}

type BegunPlan = SeedPlan & { readonly beginning: Beginning };

function begunPlan({ cluster }: ClusterExecution): BegunPlan {
  const plan = parsePlan(cluster.status.restore?.plan);
  if (plan?.beginning === undefined) throw new NotYet("the plan of the restore has changed");
  return { ...plan, beginning: plan.beginning };
}

interface FirstPod {
  readonly name: MemberName;
  readonly uid: string;
}

async function createHeldBack(execution: ClusterExecution, plan: BegunPlan, name: MemberName): Promise<FirstPod> {
  const peerUrl = plan.beginning.members.find((one) => one.name === name)?.peerUrl ?? "";
  const tls = podTlsFor(tlsToMake(execution), peerUrl);
  const restore = seedRestoreOf(execution, plan, name, tls);
  await makeClaim(execution, name);
  const { metadata } = await makePod(execution, memberPod(execution.cluster, name, { as: "restored", restore }, tls));
  return { name, uid: metadata?.uid ?? "" };
}

/** Not before the status says which pods they are: from then on none of them is made again. */
async function letStart(execution: ClusterExecution, plan: BegunPlan, pods: readonly FirstPod[]): Promise<void> {
  const { attempt, members } = plan.beginning;
  if (members.some(({ pod }) => pod === undefined)) {
    const listed = members.map(({ name, peerUrl }) => {
      const pod = pods.find((one) => one.name === name);
      if (pod === undefined) throw new NotYet(`the pod ${name} has yet to be made`);
      return { name, peerUrl, pod: pod.uid };
    });
    const beginning = { attempt, members: listed };
    await writeStatus(execution, { restore: { plan: formatPlan({ ...plan, beginning }) } });
  }
  await Promise.all(pods.map((pod) => openGate(execution, pod)));
}

/** Only the operator's own: others, as a queue, hold pods back for their own reasons. */
async function openGate(execution: ClusterExecution, { name, uid }: FirstPod): Promise<void> {
  const { metadata, spec } = await podNow(execution, name, uid);
  const left = (spec?.schedulingGates ?? []).filter((gate) => gate.name !== firstMembersGate);
  // None can be added: without others there is nothing that a concurrent write could change.
  const patch =
    left.length === 0
      ? { metadata: { uid }, spec: { schedulingGates: null } }
      : { metadata: { uid, resourceVersion: metadata?.resourceVersion }, spec: { schedulingGates: left } };
  const key = { namespace: execution.cluster.metadata.namespace, name };
  await execution.reconcile.api.mergePatch(Pod, key, patch, { fieldManager });
}

/** How the first member comes to its data where an older operator has begun, which makes one alone. */
export async function seedStart(execution: ClusterExecution, member: MemberName, tls: PodTls): Promise<FirstStart> {
  const { restore } = execution.cluster.status;
  if (restore?.phase !== "Seeding") return { as: "seed" };
  const plan =
    parsePlan(restore.plan) ?? (await seedPlanOf(execution, await restoreNow(execution, restore.name, restore.uid)));
  execution.reconcile.signal.throwIfAborted();
  return { as: "restored", restore: seedRestoreOf(execution, plan, member, tls) };
}
