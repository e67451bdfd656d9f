// Carries out a plan: one action after another, each logged and told, until all are done or one says no.
import type { Action } from "../plan/actions.ts";
import { addMember, moveLeader, promote, removeMember, updatePeerUrl } from "./on-etcd.ts";
import { applyBudget, applyServices, createPod, createSeed, deletePod, labelPod, latchClusterId } from "./on-kube.ts";
import { tell } from "../report/events.ts";
import { endedBy, type Outcome } from "./outcome.ts";
import type { Turn } from "./turn.ts";

export async function act(actions: readonly Action[], turn: Turn): Promise<Outcome> {
  const did: Action[] = [];
  for (const action of actions) {
    try {
      await carryOut(action, turn);
    } catch (error) {
      const outcome = endedBy(error, action, did);
      const { t } = outcome;
      if (t === "refused") logged(turn).warn("refused", { action, because: outcome.message });
      if (t === "notYet") logged(turn).debug("not yet", { action, because: outcome.because });
      return outcome;
    }
    did.push(action);
    logged(turn).info("did", { action });
    tell(action, turn);
  }
  return { t: "done", did };
}

function carryOut(action: Action, turn: Turn): Promise<void> {
  switch (action.do) {
    case "applyServices":
      return applyServices(turn);
    case "applyBudget":
      return applyBudget(turn, action);
    case "labelPod":
      return labelPod(turn, action);
    case "createSeed":
      return createSeed(turn, action);
    case "latchClusterId":
      return latchClusterId(turn, action);
    case "addMember":
      return addMember(turn, action);
    case "createPod":
      return createPod(turn, action);
    case "promote":
      return promote(turn, action);
    case "updatePeerUrl":
      return updatePeerUrl(turn, action);
    case "moveLeader":
      return moveLeader(turn, action);
    case "removeMember":
      return removeMember(turn, action);
    case "deletePod":
      break;
  }
  return deletePod(turn, action);
}

function logged({ context, cluster, pass }: Turn) {
  const { namespace, name } = cluster.metadata;
  return context.log.with({ cluster: `${namespace}/${name}`, pass: pass.id });
}
