// Certificates are kept beside the members: what is to be signed, what the Secrets are to hold, what pods have to be told.
// None of it waits for a quorum. Only a pod that would mount a Secret waits until that is there.
import type { Assessment } from "../../assess/assess.ts";
import { isVoter } from "../../assess/instances.ts";
import type { ActionOf, ClusterAction, ClusterDecision } from "../actions.ts";
import { delays } from "../../../controllers/delays.ts";

export function certificates({
  certificates: { toMake, writes },
}: Assessment): readonly ActionOf<"makeCertificates" | "writeCertificate">[] {
  return [
    ...toMake.map((made) => ({ do: "makeCertificates", ...made }) as const),
    ...[...writes].map(([use, { because }]) => ({ do: "writeCertificate", use, because }) as const),
  ];
}

/** Pods of another operator, and those whose kubelets have yet to bring them a certificate that was renewed. */
export function podNotes({
  certificates: { unknown, stale },
}: Assessment): readonly ActionOf<"noteTrust" | "renewFiles">[] {
  return [
    ...unknown.map(({ pod, tls }) => ({ do: "noteTrust", member: pod.name, uid: pod.uid, tls }) as const),
    ...stale.map(({ pod, leaves }) => ({ do: "renewFiles", member: pod.name, uid: pod.uid, leaves }) as const),
  ];
}

/** A voter that reads through the quorum serves clients. */
export function servingGates({ instances }: Assessment): readonly ActionOf<"markServing">[] {
  return instances.flatMap((instance): ActionOf<"markServing">[] => {
    const { alive, name, pod } = instance;
    if (!alive || !isVoter(instance) || pod?.servingGate !== "closed" || pod.terminating) return [];
    return [{ do: "markServing", member: name, uid: pod.uid }];
  });
}

const makesMember: ReadonlySet<ClusterAction["do"]> = new Set([
  "createSeed",
  "nameFirstMembers",
  "createFirstMembers",
  "addMember",
  "createPod",
  "recreatePod",
]);

/** Members are made when what they would mount is there; until then nobody is added that could not start. */
export function afterCertificates(
  { certificates: { pods, blocked } }: Assessment,
  decision: ClusterDecision,
): ClusterDecision {
  if (pods !== undefined || !decision.actions.some(({ do: what }) => makesMember.has(what))) return decision;
  return { actions: [], because: `no member can be created: ${blocked}`, requeueAfter: delays.later };
}
