// Upkeep of the claims of members' volumes: what is written on them, who owns them, how large they are, and those whose
// members are gone.
import type { Assessment } from "../../../assess/assess.ts";
import { isBeginning } from "../../../assess/beginning.ts";
import { hasStarted } from "../../../assess/instances.ts";
import { requestOf, requestTextOf } from "../../../objects/claims.ts";
import { holdsValues, parseSettings, settingsOf } from "../../../objects/settings.ts";
import { schemeOf } from "../../../objects/tls.ts";
import type { Claim } from "../../../observe/world.ts";
import type { ActionOf, ClusterAction } from "../../actions.ts";
import { retireOrphan } from "../../safety.ts";

/**
 * Once a member has started, its volume must never be empty again. That has to be known when its pod is gone, so it is
 * written down before anything is built on it; and so is what it runs, for the pod that comes next.
 */
export function notesOnClaims({ instances, world }: Assessment): readonly ActionOf<"noteOnClaim">[] {
  const { etcd } = world;
  if (!("clusterId" in etcd) || (etcd.t === "noQuorum" && isBeginning(world))) return [];
  return instances.flatMap((instance): ActionOf<"noteOnClaim">[] => {
    const { answer, claim, name, pod } = instance;
    if (claim === undefined || pod === undefined || claim.terminating || !hasStarted(instance)) return [];
    // What it was changed to counts when it has served.
    if (claim.release !== undefined && (pod.changedFrom !== undefined || answer === undefined)) return [];
    const version = answer?.status.version ?? pod.version;
    const release = { version, image: pod.image };
    const isNoted = claim.clusterId === etcd.clusterId && claim.clusterUid !== undefined && claim.hasHome;
    const isSame = claim.release?.version === version && claim.release.image === pod.image;
    const peers = schemeOf(pod.tls.peer === "tls");
    if (isNoted && isSame && claim.madeFrom === pod.madeFrom && claim.peers === peers) return [];
    const { uid } = claim;
    const { clusterId } = etcd;
    return [{ do: "noteOnClaim", member: name, uid, clusterId, release, madeFrom: pod.madeFrom, peers }];
  });
}

/** Written by a release that kept values of `etcdEnv` there: they may be secret. */
export function settingsOnClaims({ world: { claims } }: Assessment): readonly ClusterAction[] {
  return claims.flatMap(({ madeFrom, name, terminating, uid }): ClusterAction[] => {
    const settings = madeFrom === undefined ? undefined : parseSettings(madeFrom);
    if (terminating || settings === undefined || !holdsValues(settings)) return [];
    return [{ do: "noteSettings", member: name, uid, settings: settingsOf(settings) }];
  });
}

export function ownersOfClaims({ world: { claims, cluster } }: Assessment): readonly ClusterAction[] {
  const owned = cluster.spec.volumeRetention.whenClusterDeleted === "Delete";
  return claims
    .filter((claim) => !claim.terminating && claim.owned !== owned)
    .map(({ name, uid }) => ({ do: "ownClaim", member: name, uid }));
}

/** A larger request grows a volume while it is in use, where its class allows it. */
export function growth({ desired: { cluster }, world: { claims, problems } }: Assessment): readonly ClusterAction[] {
  const { persistentVolumeClaimSpec: spec } = cluster.spec.pod;
  const [wanted, to] = [requestOf(spec) ?? 0, requestTextOf(spec)];
  const canGrow = ({ cannotGrow, phase, requested, role, terminating }: Claim): boolean =>
    role === "current" && phase === "Bound" && !terminating && requested < wanted && cannotGrow !== to;
  if (problems.length > 0) return [];
  return claims.filter(canGrow).map(({ name, uid }) => ({ do: "growClaim", member: name, uid, to }));
}

export function retirements(assessment: Assessment): readonly ClusterAction[] {
  return assessment.world.claims.flatMap((claim) => retireOrphan(assessment, claim));
}
