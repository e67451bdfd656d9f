// The objects around the members: the two Services, the disruption budget, and the labels that both select pods by. Only what we set is compared, so that
// defaults of the API server and additions of others are no difference.
import type { Action } from "../actions.ts";
import { disruptionBudget } from "../../objects/budget.ts";
import { minAvailable } from "../safety.ts";
import { clientService, peerService } from "../../objects/services.ts";
import type { World } from "../../observe/world.ts";

/** Members find each other by the peer Service, so it goes before everything else. */
export function missingServices(world: World): readonly Action[] {
  return world.peerService === undefined || world.clientService === undefined ? [{ do: "applyServices" }] : [];
}

/** Without them a member's name resolves to nothing, and to its peers it is gone. */
export function lostLabels({ pods }: World): readonly Action[] {
  return pods
    .filter(({ labelled, terminating }) => !labelled && !terminating)
    .map(({ name, uid }) => ({ do: "labelPod", member: name, uid }));
}

/** Goes after everything else: it must not keep a member from being healed. */
export function drift(world: World): readonly Action[] {
  return [...changedServices(world), ...changedBudget(world)];
}

function changedServices({ cluster, peerService: peer, clientService: client }: World): readonly Action[] {
  if (peer === undefined || client === undefined) return [];
  const same = covers(peer.spec, peerService(cluster).spec) && covers(client.spec, clientService(cluster).spec);
  return same ? [] : [{ do: "applyServices" }];
}

function changedBudget({ cluster, budget, etcd }: World): readonly Action[] {
  // Without the quorum nobody knows how many voters there are, so what there is stays.
  if (etcd.t !== "quorum" && budget !== undefined) return [];
  const voters = etcd.t === "quorum" ? etcd.members.filter(({ learner }) => !learner).length : 0;
  const wanted = minAvailable(voters, cluster.spec.size);
  return covers(budget?.spec, disruptionBudget(cluster, wanted).spec)
    ? []
    : [{ do: "applyBudget", minAvailable: wanted }];
}

/** Whether everything that is wanted is there. Of a list, in any order and among others. */
function covers(there: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted))
    return Array.isArray(there) && wanted.every((item) => there.some((candidate) => covers(candidate, item)));
  if (typeof wanted !== "object" || wanted === null) return there === wanted;
  if (typeof there !== "object" || there === null) return false;
  const present = new Map<string, unknown>(Object.entries(there));
  return Object.entries(wanted).every(([key, value]) => covers(present.get(key), value));
}
