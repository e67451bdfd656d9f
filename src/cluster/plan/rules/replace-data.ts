// The data of the cluster is replaced by that of a backup: all members go, their volumes stay, and the first members of the
// restored cluster are made when nothing of the old one is left. Each step is written down before it is taken.
import type { Assessment } from "../../assess/assess.ts";
import { hasServed } from "../../assess/health.ts";
import { restoringOf } from "../../assess/restoring.ts";
import type { ClusterDecision } from "../actions.ts";
import { listed } from "../rule.ts";
import { stopAll } from "../safety.ts";
import { delays } from "../../../controllers/delays.ts";

/** Before all others. Should the EtcdRestore be gone, a cluster that has data is managed as before. */
export function beginRestore({ world }: Assessment): ClusterDecision | undefined {
  const restoring = restoringOf(world);
  if (restoring.t !== "asked") return undefined;
  const { name, uid } = restoring;
  return {
    actions: [{ do: "beginRestore", name, uid }],
    because: `the EtcdRestore ${name} replaces the data`,
    requeueAfter: delays.atOnce,
  };
}

/** Nothing else is done meanwhile. */
export function replaceData(assessment: Assessment): ClusterDecision | undefined {
  const { claims, pods } = assessment.world;
  const restoring = restoringOf(assessment.world);
  // One that has yet to begin must not begin without its data.
  if (restoring.t === "asked" && !hasServed(assessment.world)) return beginRestore(assessment);
  if (restoring.t !== "stopping") return undefined;
  const { name, uid } = restoring;
  if (pods.length === 0 && claims.every(({ role }) => role === "retired"))
    return {
      actions: [{ do: "beginSeed", name, uid }],
      because: `nothing of the old cluster is left, and the EtcdRestore ${name} can begin`,
      requeueAfter: delays.atOnce,
    };
  return {
    actions: stopAll(assessment),
    because: `${listed(pods.map((pod) => pod.name))}: stopped, because the EtcdRestore ${name} replaces the data`,
    requeueAfter: delays.later,
  };
}
