// Whether the namespace would take the first member of a restored cluster: asked by a dry run, before the members that serve
// are stopped. A quota counts those, too, and they will be gone: what they use of it is set against what is asked for.
import type { ResourceRequirements } from "kubernetes-types/core/v1.js";
import { amountOf } from "../../api/etcd-cluster/resource-problems.ts";
import { fieldManager } from "../../api/field-manager.ts";
import { ApiError, isAlreadyExists } from "../../kube/client/errors.ts";
import { PersistentVolumeClaim, Pod } from "../../kube/objects/kinds.ts";
import { memberClaim } from "../objects/claims.ts";
import { memberPod } from "../objects/member-pod.ts";
import { seedName } from "../objects/names.ts";
import type { MemberPod } from "../observe/world.ts";
import { type ClusterExecution, tlsToMake } from "./execution.ts";
import { type SeedPlan, seedRestoreOf } from "./seed-plan.ts";
import { isRefusal, Refused } from "../../controllers/obstacle.ts";

const advice =
  "Nothing was touched. Change what forbids it (a ResourceQuota, a LimitRange, the Pod Security level, a policy), or spec.pod of the EtcdCluster or spec.worker of the EtcdRestore. It is tried again every 10 s.";

/** Throws Refused where the pod, or the claim of its volume, would not be admitted. */
export async function confirmSeed(
  execution: ClusterExecution,
  plan: SeedPlan,
  by: { readonly name: string; readonly uid: string },
): Promise<void> {
  const { assessment, cluster, reconcile } = execution;
  // As it will be named when the members are gone.
  const after = {
    ...cluster,
    status: { ...cluster.status, restore: { ...by, phase: "Seeding" } },
  } as const;
  const member = seedName(after);
  const tls = tlsToMake(execution);
  const pod = memberPod(cluster, member, { as: "restored", restore: seedRestoreOf(execution, plan, member, tls) }, tls);
  const dryRun = { dryRun: true, fieldManager };
  await admitted(reconcile.api.create(Pod, pod, dryRun), "pod", assessment.world.pods);
  if (cluster.spec.pod.persistentVolumeClaimSpec === undefined) return;
  // The claims that are there are kept.
  await admitted(reconcile.api.create(PersistentVolumeClaim, memberClaim(cluster, member), dryRun), "claim", []);
}

async function admitted(asked: Promise<unknown>, what: string, freed: readonly MemberPod[]): Promise<void> {
  try {
    await asked;
  } catch (error) {
    if (isAlreadyExists(error) || !(error instanceof ApiError) || !isRefusal(error)) {
      if (isAlreadyExists(error)) return;
      throw error;
    }
    if (fitsAfter(error.message, freed)) return;
    const words = error.message.trim().replace(/\.+$/, "");
    throw new Refused(
      `the data cannot be replaced, because the ${what} of the first member is refused: ${words}. ${advice}`,
    );
  }
}

const exceeded = /exceeded quota: [^,]+, requested: (\S+), used: (\S+), limited: (\S+)/;

/** Whether the quota that refuses has room once these pods are gone. Of any other refusal it is not known: no. */
export function fitsAfter(message: string, freed: readonly Pick<MemberPod, "resources">[]): boolean {
  const [, requested, used, limited] = exceeded.exec(message) ?? [];
  if (requested === undefined || used === undefined || limited === undefined) return false;
  const [taken, most] = [amountsIn(used), amountsIn(limited)];
  return [...amountsIn(requested)].every(([name, amount]) => {
    const room = (most.get(name) ?? Number.NaN) - (taken.get(name) ?? Number.NaN);
    const free = freed.reduce((sum, { resources }) => sum + usedBy(resources, name), 0);
    return amount <= room + free;
  });
}

/** Of one pod, under the name that a quota gives it. */
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
