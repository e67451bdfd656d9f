// What is done in any case, however a cluster is held up (a pause, a spec that cannot be followed, a restore, pods that nothing
// is built on): it keeps alive what is there, and touches no member. All else is a change, and waits.
import type { Assessment } from "../assess/assess.ts";
import { restoringOf } from "../assess/restoring.ts";
import type { ActionOf, ClusterPlan } from "./actions.ts";
import { certificates, podNotes, servingGates } from "./rules/certificates.ts";
import { notesOnClaims } from "./rules/volumes/claims.ts";
import { guardStarted } from "./rules/guard.ts";
import { leaveAlone } from "./rules/leave-alone.ts";
import { labels } from "./rules/upkeep.ts";

/**
 * Without a guard a member could come back without its data, and has forgotten what it voted for; without labels and the peer
 * Service members do not find each other any more; an expired certificate keeps all of them apart; a pod that serves again is
 * not Ready before it is marked. A restart, another image, other resources, a volume that grows: all of them are for the
 * person who paused the cluster. So are the client Service and the budget, which people take away to keep clients off, or to
 * drain nodes.
 */
export type KeepsAlive = ActionOf<
  | "guardPod"
  | "noteOnClaim"
  | "labelPod"
  | "applyService"
  | "makeCertificates"
  | "writeCertificate"
  | "noteTrust"
  | "renewFiles"
  | "markServing"
>;

/** Certificates in any case; the rest only where the members are the cluster's own and are to stay. */
export function keepAlive(
  assessment: Assessment,
): Readonly<Record<keyof Omit<ClusterPlan, "decisions">, readonly KeepsAlive[]>> {
  const { cluster, peerService, pods } = assessment.world;
  if (cluster.metadata.deletionTimestamp !== undefined || pods.length === 0) return { guards: [], upkeep: [] };
  // Members that may not be started again go on with the files that they have.
  const { setsApart } = assessment.certificates;
  const isHarmful = (action: KeepsAlive): boolean => action.do === "writeCertificate" && setsApart.has(action.use);
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
