// Whether the namespace would take the first members of a restored cluster: asked by dry runs, before the members that serve
// are stopped. A quota counts those, too, and they will be gone: what they use of it is set against what is asked for. A dry
// run that a quota lets pass tells nothing of the next one; what is refused after all is tried again.
import type { ResourceRequirements } from "kubernetes-types/core/v1.js";
import { amountOf } from "../../api/etcd-cluster/resource-problems.ts";
import { fieldManager } from "../../api/field-manager.ts";
import { ApiError, isAlreadyExists } from "../../kube/client/errors.ts";
import { PersistentVolumeClaim, Pod } from "../../kube/objects/kinds.ts";
import { memberClaim } from "../objects/claims.ts";
import { namedBeginning } from "../objects/first-members.ts";
import { memberPod } from "../objects/member-pod.ts";
import type { MemberName } from "../objects/names.ts";
import { type PodTls, schemeOf } from "../objects/tls.ts";
import type { MemberPod } from "../observe/world.ts";
import { type ClusterExecution, tlsToMake } from "./execution.ts";
import { mostTogether, type SeedPlan, seedRestoreOf } from "./seed-plan.ts";
import { isRefusal, Refused } from "../../controllers/obstacle.ts";

const advice =
  "Nothing was touched. Change what forbids it (a ResourceQuota, a LimitRange, the Pod Security level, a policy), or spec.pod of the EtcdCluster or spec.worker of the EtcdRestore. It is tried again every 10 s.";

/**
 * With how many members the restored cluster can begin at once: with all, or with one where there is no room for all of them.
 * Throws Refused where not even one pod, or the claim of its volume, would be admitted.
 */
export async function confirmFirstMembers(
  execution: ClusterExecution,
  plan: SeedPlan,
  restoreUid: string,
): Promise<number> {
  const { assessment, cluster } = execution;
  const wanted = mostTogether(plan, assessment.desired.size);
  const tls = tlsToMake(execution);
  const scheme = schemeOf(tls.peer === "tls");
  // As they will be named when the old members are gone.
  const beginning = namedBeginning(cluster, restoreUid, { attempt: 0, count: wanted, scheme });
  const together = { ...plan, beginning };
  const asked = beginning.members.map(({ name }, before) =>
    confirmOne(execution, { name, pod: firstPodOf(execution, together, name, tls), before }),
  );
  const answers = await Promise.allSettled(asked);
  const refusals = answers.flatMap((one, index) => (one.status === "rejected" ? [{ index, reason: one.reason }] : []));
  for (const { index, reason } of refusals) if (index === 0 || !(reason instanceof Refused)) throw reason;
  return refusals.length === 0 ? wanted : 1;
}

function firstPodOf(execution: ClusterExecution, plan: SeedPlan, member: MemberName, tls: PodTls): Pod {
  const restore = seedRestoreOf(execution, plan, member, tls);
  return memberPod(execution.cluster, member, { as: "restored", restore }, tls);
}

/** `before`: how many like it are made with it, and are not counted by a dry run. */
interface Asked {
  readonly name: MemberName;
  readonly pod: Pod;
  readonly before: number;
}

async function confirmOne(execution: ClusterExecution, { name, pod, before }: Asked): Promise<void> {
  const { assessment, cluster, reconcile } = execution;
  const dryRun = { dryRun: true, fieldManager };
  await admitted(reconcile.api.create(Pod, pod, dryRun), "pod", { before, freed: assessment.world.pods });
  if (cluster.spec.pod.persistentVolumeClaimSpec === undefined) return;
  // The claims that are there are kept.
  await admitted(reconcile.api.create(PersistentVolumeClaim, memberClaim(cluster, name), dryRun), "claim", {
    before,
    freed: [],
  });
}

interface Room {
  readonly before: number;
  readonly freed: readonly MemberPod[];
}

async function admitted(asked: Promise<unknown>, what: string, { before, freed }: Room): Promise<void> {
  try {
    await asked;
  } catch (error) {
    if (isAlreadyExists(error)) return;
    if (!(error instanceof ApiError) || !isRefusal(error)) throw error;
    if (fitsAfter(error.message, freed, before + 1)) return;
    const words = error.message.trim().replace(/\.+$/, "");
    throw new Refused(
      `the data cannot be replaced, because the ${what} of the first member is refused: ${words}. ${advice}`,
    );
  }
}

const exceeded = /exceeded quota: [^,]+, requested: (\S+), used: (\S+), limited: (\S+)/;

/** Whether the quota that refuses has room for `count` of them once these pods are gone. Any other refusal does not tell: false. */
export function fitsAfter(message: string, freed: readonly Pick<MemberPod, "resources">[], count = 1): boolean {
  const [, requested, used, limited] = exceeded.exec(message) ?? [];
  if (requested === undefined || used === undefined || limited === undefined) return false;
  const [taken, most] = [amountsIn(used), amountsIn(limited)];
  return [...amountsIn(requested)].every(([name, amount]) => {
    const room = (most.get(name) ?? Number.NaN) - (taken.get(name) ?? Number.NaN);
    const free = freed.reduce((sum, { resources }) => sum + usedBy(resources, name), 0);
    return amount * count <= room + free;
  });
}

/** What one pod uses, under the name that a quota gives it. */
function usedBy({ limits = {}, requests = {} }: ResourceRequirements = {}, name: string): number {
  if (name === "pods" || name === "count/pods") return 1;
  const [kind, resource] = name.includes(".")
    ? [name.slice(0, name.indexOf(".")), name.slice(name.indexOf(".") + 1)]
    : ["requests", name];
  const amounts = kind === "limits" ? limits : { ...limits, ...requests };
  return kind === "limits" || kind === "requests" ? (amountOf(amounts[resource]) ?? 0) : 0;
}

/** As in `limits.cpu=1,pods=1`. */
function amountsIn(list: string): Map<string, number> {
  return new Map(
    list.split(",").map((pair) => {
      const [name = "", value] = pair.split("=");
      return [name, amountOf(value) ?? Number.NaN] as const;
    }),
  );
}
