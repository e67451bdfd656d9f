// What is done when the data of a cluster is replaced by that of a backup.
import { ApiError } from "../../kube/client/errors.ts";
import type { Pod } from "../../kube/objects/kinds.ts";
import { keyOf, keyText } from "../../kube/objects/objects.ts";
import type { CompleteEtcdRestore } from "../../api/etcd-restore/etcd-restore.ts";
import { specDigest } from "../../restore/spec-digest.ts";
import { podTlsFor } from "../assess/certificates/pod-tls.ts";
import { highestRevisionIn, revisionIn } from "../assess/revisions.ts";
import { type Beginning, namedBeginning } from "../objects/first-members.ts";
import type { FirstStart } from "../objects/first-start.ts";
import { memberPod } from "../objects/member-pod.ts";
import { type PodTls, schemeOf } from "../objects/tls.ts";
import type { ActionOf } from "../plan/actions.ts";
import { type Execution, tlsToMake } from "./execution.ts";
import { confirmAdmitted } from "./joining-pod.ts";
import { makeClaim } from "./on-claims.ts";
import { NotYet } from "./outcome.ts";
import { isRefusal } from "./refusals.ts";
import { makePod } from "./taken-away.ts";
import { restoreNow } from "./preconditions.ts";
import { confirmFirstMembers } from "./seed-admission.ts";
import { formatPlan, parsePlan, type SeedPlan, seedPlanOf, seedRestoreOf } from "./seed-plan.ts";
import { writeStatus } from "./write-status.ts";

/** Nothing is stopped before the pod of the first member is known to be admitted, and all that it needs is written down. */
export async function beginRestore(execution: Execution, { name, uid }: ActionOf<"beginRestore">): Promise<void> {
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
function keptOf({ cluster }: Execution, { status }: CompleteEtcdRestore) {
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
export async function beginSeed(execution: Execution): Promise<void> {
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
export async function nameFirstMembers(execution: Execution, { count }: ActionOf<"nameFirstMembers">): Promise<void> {
  const { restore } = execution.cluster.status;
  const plan = parsePlan(restore?.plan);
  if (restore === undefined || plan === undefined) throw new NotYet("the plan of the restore is gone");
  const attempt = plan.beginning === undefined ? 0 : plan.beginning.attempt + 1;
  const scheme = schemeOf(tlsToMake(execution).peer === "tls");
  const beginning = namedBeginning(execution.cluster, restore.uid, { attempt, count, scheme });
  await writeStatus(execution, { restore: { plan: formatPlan({ ...plan, beginning }) } });
}

/**
 * That a pod may have been made is written down before it is made, and taken back only where the API server has refused it:
 * whatever becomes of the operator or of the pod, no member is made twice. What a dry run refuses is not even tried.
 */
export async function createFirstMembers(
  execution: Execution,
  { members }: ActionOf<"createFirstMembers">,
): Promise<void> {
  const { cluster, context, reconcile } = execution;
  const plan = parsePlan(cluster.status.restore?.plan);
  if (plan?.beginning === undefined) throw new NotYet("the plan of the restore has changed");
  context.takenAway.mayAsk(keyText(keyOf(cluster)), context.now());
  const pods = firstPods(execution, plan, plan.beginning, members);
  const refusals = await Promise.all(pods.map((pod) => refusalOf(() => confirmAdmitted(execution, pod))));
  const admitted = pods.filter((_, index) => refusals[index] === undefined);
  reconcile.signal.throwIfAborted();
  const failures = admitted.length === 0 ? [] : await makeThem(execution, plan, plan.beginning, admitted);
  const [problem] = [...refusals, ...failures].filter((one) => one !== undefined);
  if (problem !== undefined) throw problem.error;
}

function firstPods(
  execution: Execution,
  plan: SeedPlan,
  { members: listed }: Beginning,
  names: readonly string[],
): readonly Pod[] {
  return listed
    .filter(({ name, made }) => names.includes(name) && made !== true)
    .map(({ name, peerUrl }) => {
      const tls = podTlsFor(tlsToMake(execution), peerUrl);
      const restore = seedRestoreOf(execution, plan, name, tls);
      return memberPod(execution.cluster, name, { as: "restored", restore }, tls);
    });
}

async function makeThem(
  execution: Execution,
  plan: SeedPlan,
  { attempt, members }: Beginning,
  pods: readonly Pod[],
): Promise<readonly (Failure | undefined)[]> {
  const names = pods.map(({ metadata }) => metadata?.name ?? "");
  const mark = (marked: readonly string[]): Promise<void> => {
    const made = new Set([...members.flatMap((one) => (one.made === true ? [one.name] : [])), ...marked]);
    const beginning = {
      attempt,
      members: members.map(({ name, peerUrl }) => ({ name, peerUrl, ...(made.has(name) && { made: true as const }) })),
    };
    return writeStatus(execution, { restore: { plan: formatPlan({ ...plan, beginning }) } });
  };
  await mark(names);
  const failures = await Promise.all(pods.map((pod, index) => firstPod(execution, names[index] ?? "", pod)));
  const kept = names.filter((_, index) => failures[index]?.made !== false);
  if (kept.length < names.length) await mark(kept);
  return failures;
}

interface Failure {
  readonly error: unknown;
  /** Its pod may have been made all the same. */
  readonly made: boolean;
}

async function firstPod(execution: Execution, member: string, pod: Pod): Promise<Failure | undefined> {
  const withoutClaim = await refusalOf(() => makeClaim(execution, member));
  if (withoutClaim !== undefined) return { ...withoutClaim, made: false };
  return refusalOf(() => makePod(execution, pod));
}

/** Undefined: it was done. */
async function refusalOf(does: () => Promise<void>): Promise<Failure | undefined> {
  try {
    await does();
    return undefined;
  } catch (error) {
    return { error, made: !(error instanceof ApiError && isRefusal(error)) };
  }
}

/** How the first member comes to its data where an older operator has begun, which makes one alone. */
export async function seedStart(execution: Execution, member: string, tls: PodTls): Promise<FirstStart> {
  const { restore } = execution.cluster.status;
  if (restore?.phase !== "Seeding") return { as: "seed" };
  const plan =
    parsePlan(restore.plan) ?? (await seedPlanOf(execution, await restoreNow(execution, restore.name, restore.uid)));
  execution.reconcile.signal.throwIfAborted();
  return { as: "restored", restore: seedRestoreOf(execution, plan, member, tls) };
}
