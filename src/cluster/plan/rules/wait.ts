// Nothing to do now: either all is well, or something is on its way. Says which, and when to reconcile again.
import { problemOf, stuckAt } from "../../assess/pods.ts";
import { isHealthy, type Instance } from "../../assess/instances.ts";
import type { MemberPod } from "../../observe/world.ts";
import type { ClusterDecision } from "../actions.ts";
import { listed, paceOf, type Situation } from "../rule.ts";
import { delays } from "../../../controllers/delays.ts";

export function wait(situation: Situation): ClusterDecision {
  const { desired, ours, instances } = situation;
  const unwell = instances.filter((instance) => !isHealthy(instance));
  if (unwell.length > 0)
    return {
      actions: [],
      because: `waits for ${listed(unwell.map((instance) => `${instance.name} (${stateIn(instance)})`))}`,
      requeueAfter: Math.min(...unwell.map((instance) => requeueFor(instance, situation))),
    };
  if (ours.length < desired.withSurge)
    return {
      actions: [],
      because: `${ours.length} of ${desired.withSurge} members are there, and none can be added now`,
      requeueAfter: delays.untilAccepted,
    };
  return { actions: [], because: `all ${desired.size} members are healthy voters`, requeueAfter: delays.atRest };
}

function stateIn({ state, pod }: Instance): string {
  const problem = pod === undefined ? undefined : problemOf(pod);
  return problem === undefined ? state.t : `${state.t}: ${problem}`;
}

function requeueFor({ state, pod }: Instance, { now, world }: Situation): number {
  const deadlines: number[] = [delays.atRest];
  const known = state.t === "away" || state.t === "unstarted";
  if (known && state.lostAt !== undefined) deadlines.push(state.lostAt - now);
  if (pod !== undefined && mayAnswerAnyMoment(state, pod)) deadlines.push(paceOf(pod, now));
  if (state.t === "unstarted" && pod !== undefined && !pod.terminating && problemOf(pod) !== undefined)
    deadlines.push(stuckAt(pod, world) - now);
  return Math.max(delays.atOnce, Math.min(...deadlines));
}

/**
 * Kubelets report a process up to a second after they started it. By then a new member may long have told the others
 * its name, which is all that the next one waits for.
 */
function mayAnswerAnyMoment(state: Instance["state"], pod: MemberPod): boolean {
  return pod.state.t === "running" || (state.t === "unstarted" && pod.state.t === "starting" && !problemOf(pod));
}
