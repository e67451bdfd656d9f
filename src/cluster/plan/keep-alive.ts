// What is done in any case, however a cluster is held up (a pause, a spec that cannot be followed, a restore, pods that nothing
// is built on): it keeps alive what is there, and touches no member. All else is a change, and waits.
import type { Assessment } from "../assess/assess.ts";
import { restoringOf } from "../assess/restoring.ts";
import type { ClusterAction, ClusterPlan } from "./actions.ts";
import { certificates, podNotes, servingGates } from "./rules/certificates.ts";
import { notesOnClaims } from "./rules/volumes/claims.ts";
import { guardStarted } from "./rules/guard.ts";
import { leaveAlone } from "./rules/leave-alone.ts";
import { labels } from "./rules/upkeep.ts";

/**
 * For each action, whether it keeps alive what is there or changes something. Whoever adds an action decides it here.
 * A restart, another image, other resources, a volume that grows: all of them are for the person who paused the cluster.
 * So are the client Service and the budget, which people take away to keep clients off, or to drain nodes.
 */
export const kindOfAction: Readonly<Record<ClusterAction["do"], "keepsAlive" | "changes">> = {
  // A member that comes back without its data has forgotten what it voted for.
  guardPod: "keepsAlive",
  noteOnClaim: "keepsAlive",
  // Without labels and the peer Service members do not find each other any more.
  labelPod: "keepsAlive",
  applyService: "keepsAlive",
  // An expired certificate keeps all of them apart.
  makeCertificates: "keepsAlive",
  writeCertificate: "keepsAlive",
  noteTrust: "keepsAlive",
  renewFiles: "keepsAlive",
  // A pod that serves again is not Ready before.
  markServing: "keepsAlive",
  applyBudget: "changes",
  relabelPod: "changes",
  createImageCheck: "changes",
  readImageCheck: "changes",
  deleteImageCheck: "changes",
  changeImage: "changes",
  startAgain: "changes",
  confirmChange: "changes",
  enableDowngrade: "changes",
  cancelDowngrade: "changes",
  disarmNoSpace: "changes",
  recordLogVersion: "changes",
  resizePod: "changes",
  createSeed: "changes",
  beginRestore: "changes",
  beginSeed: "changes",
  recordClusterId: "changes",
  addMember: "changes",
  createPod: "changes",
  recreatePod: "changes",
  noteSettings: "changes",
  ownClaim: "changes",
  growClaim: "changes",
  retireClaim: "changes",
  deleteClaim: "changes",
  adoptClaim: "changes",
  promote: "changes",
  updatePeerUrl: "changes",
  moveLeader: "changes",
  removeMember: "changes",
  deletePod: "changes",
};

/** Certificates in any case; the rest only where the members are the cluster's own and are to stay. */
export function keepAlive(assessment: Assessment): Pick<ClusterPlan, "guards" | "upkeep"> {
  const { cluster, peerService, pods } = assessment.world;
  if (cluster.metadata.deletionTimestamp !== undefined || pods.length === 0) return { guards: [], upkeep: [] };
  // Members that may not be started again go on with the files that they have.
  const { setsApart } = assessment.certificates;
  const isHarmful = (action: ClusterAction): boolean => action.do === "writeCertificate" && setsApart.has(action.use);
  const ofCertificates = [...certificates(assessment).filter((one) => !isHarmful(one)), ...podNotes(assessment)];
  if (restoringOf(assessment.world).t === "stopping" || leaveAlone(assessment) !== undefined)
    return { guards: [], upkeep: ofCertificates };
  // One that differs may have been edited by hand; without one, nobody finds a member that has started again.
  const isLost = peerService === undefined;
  return {
    guards: [...guardStarted(assessment), ...notesOnClaims(assessment)],
    upkeep: [
      ...labels(assessment),
      ...(isLost ? [{ do: "applyService", service: "peer" } as const] : []),
      ...ofCertificates,
      ...servingGates(assessment),
    ],
  };
}
