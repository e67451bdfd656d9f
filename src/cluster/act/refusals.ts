// Turns a refusal of the API server, or of etcd, into a sentence for the author of the EtcdCluster: the server's words, the
// field of the spec that they are about, and what to do.
import type { EtcdError } from "../../etcd/errors.ts";
import type { ApiError } from "../../kube/client/errors.ts";
import type { ClusterAction } from "../plan/actions.ts";
import { forbidders, triedAgain } from "../../controllers/obstacle.ts";

/** On a refusal by the API server, whose words come first. */
export const adviceOnRefusal = (refusal: ApiError, at: ClusterAction): string =>
  makesPod(at) ? adviceOnPod(refusal) : adviceOnOther;

/** The next reconcile tells more: it begins with who the operator is. */
export function accessRefusalOf({ message }: EtcdError): string {
  return `etcd does not let the operator do this (${message}). It needs to be a user with the role root: name a Secret with the keys username and password of one in spec.auth.operatorSecret, or use a client certificate with its name.`;
}

/** A voter is added only when its pod would be taken. */
const makesPod = ({ do: what }: ClusterAction): boolean =>
  what === "createSeed" || what === "createFirstMembers" || what === "createPod" || what === "addMember";

const adviceOnOther =
  "Check that the operator has the permissions in example/rbac, and that no quota or policy of the namespace forbids it.";

function adviceOnPod({ reason, causes }: ApiError): string {
  if (reason === "Forbidden")
    return `Change spec.pod so that the namespace takes the pod, or change what forbids it: ${forbidders}; or create what is missing. ${triedAgain}`;
  const fields = [...new Set(causes.flatMap(({ field }) => (field === undefined ? [] : [fieldOfSpec(field)])))];
  return `Correct ${fields.length === 0 ? "what it names, in spec.pod" : fields.join(", ")}.`;
}

/** From the field of a pod to the field of the EtcdCluster that it was made from; the longest that fits comes first. */
const origins: readonly (readonly [prefix: string, field: string])[] = [
  ["metadata.labels", "spec.pod.labels"],
  ["metadata.annotations", "spec.pod.annotations"],
  ["spec.containers[0].env", "spec.pod.etcdEnv"],
  ["spec.containers[0].resources", "spec.pod.resources"],
  ["spec.containers[0].image", "spec.image"],
  ["spec.containers[0].command", "spec.etcd"],
  ["spec.containers", "spec.pod"],
  ["spec", "spec.pod"],
];

export function fieldOfSpec(fieldOfPod: string): string {
  for (const [prefix, field] of origins) {
    const rest = fieldOfPod.slice(prefix.length);
    if (fieldOfPod.startsWith(prefix) && /^($|[.[])/.test(rest)) return `${field}${rest}`;
  }
  return "spec.pod";
}
