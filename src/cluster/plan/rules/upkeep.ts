// The objects around the members: the two Services, the disruption budget, the labels that both select pods by, and the
// resources of running pods. Only what we set is compared, so that defaults of the API server and additions of others
// are no difference. None of it may hold up the members.
import type { Assessment } from "../../assess/assess.ts";
import { hasChanged } from "../../assess/pods.ts";
import { checkFor } from "../../assess/image-proof.ts";
import { needlessAlarms } from "../../assess/space.ts";
import { settingsAnnotation } from "../../objects/member-pod.ts";
import { metadataChange, settingsWith } from "../../objects/pod-metadata.ts";
import { hasAll, resized } from "../../objects/resources.ts";
import { clientService, disruptionBudget, peerService } from "../../objects/services.ts";
import { parseSettings } from "../../objects/settings.ts";
import type { ActionOf, ClusterAction } from "../actions.ts";
import { minAvailable } from "../safety.ts";

/** Members find each other by the peer Service: where a pod is to be made it must be there first. */
export function peerServiceForPods({ world }: Assessment, actions: readonly ClusterAction[]): readonly ClusterAction[] {
  const makesPod = actions.some(({ do: what }) => makingPods.has(what));
  return makesPod && world.peerService === undefined ? [{ do: "applyService", service: "peer" }] : [];
}

const makingPods: ReadonlySet<ClusterAction["do"]> = new Set([
  "createSeed",
  "createFirstMembers",
  "createPod",
  "recreatePod",
]);

export function services({ desired: { cluster }, world }: Assessment): readonly ClusterAction[] {
  const wrong = [
    ["peer", covers(world.peerService?.spec, peerService(cluster).spec)],
    ["client", covers(world.clientService?.spec, clientService(cluster).spec)],
  ] as const;
  return wrong.flatMap(([service, isAsWanted]) => (isAsWanted ? [] : [{ do: "applyService", service }]));
}

/** Without them a member's name resolves to nothing, and to its peers it is gone. */
export function labels({ world: { pods } }: Assessment): readonly ActionOf<"labelPod">[] {
  return pods
    .filter(({ labelled, terminating }) => !labelled && !terminating)
    .map(({ name, uid }) => ({ do: "labelPod", member: name, uid }));
}

export function budget({ desired, voters, world }: Assessment): readonly ClusterAction[] {
  // Without the quorum nobody knows how many voters there are, so what there is stays.
  if (world.etcd.t !== "quorum" && world.budget !== undefined) return [];
  const wanted = minAvailable(voters.length, desired.size);
  return covers(world.budget?.spec, disruptionBudget(desired.cluster, wanted).spec)
    ? []
    : [{ do: "applyBudget", minAvailable: wanted }];
}

/**
 * More memory cures a member that is killed because it lacks it, and costs nobody a restart. What was asked for before is not
 * asked for again: admission may have made something else of it.
 */
export function resources({ desired: { cluster }, world }: Assessment): readonly ClusterAction[] {
  const { resources: wanted = {} } = cluster.spec.pod;
  return world.pods
    .filter(({ terminating, state }) => !terminating && state.t !== "ended")
    .flatMap((pod): ClusterAction[] => {
      const { name, uid, madeFrom } = pod;
      const asked = madeFrom === undefined ? undefined : parseSettings(madeFrom);
      if (asked !== undefined && hasAll(asked.pod?.resources, wanted)) return [];
      // One that is killed again and again is not helped in place, and must go on to differ.
      const settings = pod.state.t === "running" ? settingsWith(madeFrom, wanted) : undefined;
      if (resized(pod.resources, wanted) !== undefined)
        return [{ do: "resizePod", member: name, uid, ...(settings !== undefined && { settings }) }];
      if (settings === undefined || !hasAll(pod.resources, wanted)) return [];
      return [
        {
          do: "relabelPod",
          member: name,
          uid,
          change: { labels: {}, annotations: { [settingsAnnotation]: settings } },
        },
      ];
    });
}

/** Labels and annotations of `spec.pod`, in pods that run. */
export function metadata({ desired: { cluster }, world }: Assessment): readonly ClusterAction[] {
  return world.pods
    .filter(({ terminating, state }) => !terminating && state.t !== "ended")
    .flatMap(({ name, uid, madeFrom }): ClusterAction[] => {
      const change = metadataChange(madeFrom, cluster.spec);
      return change === undefined ? [] : [{ do: "relabelPod", member: name, uid, change }];
    });
}

/** A member whose image was changed serves in the version that it was changed to. */
export function confirmations({ ours }: Assessment): readonly ClusterAction[] {
  return ours.flatMap(({ name, pod, answer, alive }): ClusterAction[] => {
    if (!alive || pod?.changedFrom === undefined || pod.terminating || !hasChanged(pod)) return [];
    if (answer?.status.version !== pod.version) return [];
    const to = { version: pod.version, image: pod.image };
    return [{ do: "confirmChange", member: name, uid: pod.uid, from: pod.changedFrom, to }];
  });
}

/** etcd keeps the alarm for a full database until it is told that there is room. Through the quorum, like a write. */
export function alarms({ instances, world }: Assessment): readonly ClusterAction[] {
  if (world.etcd.t !== "quorum") return [];
  return needlessAlarms(world, instances).map(({ member }) => ({ do: "disarmNoSpace", id: member }));
}

/** What the small pods printed is read once. They are deleted when no member waits for them any more. */
export function imageChecks({ now, roll, world }: Assessment): readonly ClusterAction[] {
  // Who the members are, and so what they wait for, is not known.
  if (world.etcd.t === "accessDenied") return [];
  const inPlace = roll.changes.filter(({ how }) => how === "inPlace");
  const needed = new Set(inPlace.map(({ pod }) => checkFor(pod, roll.release, world.imageChecks)));
  return world.imageChecks.flatMap((check): ClusterAction[] => {
    const { name, uid, state, createdAt, terminating } = check;
    if (terminating) return [];
    // What was corrected meanwhile is tried by a new pod at once, and by an old one up to five minutes later.
    const patience = state.t === "rejected" ? retryRejectedAfterMs : retryChecksAfterMs;
    const isStuck = state.t !== "found" && now - createdAt > patience;
    if (!needed.has(check) || isStuck) return [{ do: "deleteImageCheck", name, uid }];
    return state.t === "ended" ? [{ do: "readImageCheck", name, uid }] : [];
  });
}

const retryChecksAfterMs = 120_000;
/** It never ran, and costs nobody an image: a node has room again at any time. */
const retryRejectedAfterMs = 30_000;

/** Whether everything that is wanted is there. In a list, in any order and among others. */
function covers(there: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted))
    return Array.isArray(there) && wanted.every((item) => there.some((candidate) => covers(candidate, item)));
  if (typeof wanted !== "object" || wanted === null) return there === wanted;
  if (typeof there !== "object" || there === null) return false;
  const present = new Map<string, unknown>(Object.entries(there));
  return Object.entries(wanted).every(([key, value]) => covers(present.get(key), value));
}
