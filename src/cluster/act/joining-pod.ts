// The pod of a member that joins, and whether the namespace would take it. Where etcd has no learners a member votes from the
// moment at which it is added: the pod that it needs must be known to be possible before that.
import { fieldManager } from "../../api/field-manager.ts";
import { isAlreadyExists } from "../../kube/client/errors.ts";
import { PersistentVolumeClaim, Pod } from "../../kube/objects/kinds.ts";
import { podTlsFor } from "../assess/certificates/pod-tls.ts";
import { memberClaim } from "../objects/claims.ts";
import type { ListedMember } from "../objects/first-start.ts";
import { memberPod } from "../objects/member-pod.ts";
import type { MemberName } from "../objects/names.ts";
import { type ClusterExecution, quotaOfNew, tlsToMake } from "./execution.ts";

/** `peerUrl`: of the member itself, as etcd lists it or is about to. */
export function joiningPod(
  execution: ClusterExecution,
  member: MemberName,
  members: readonly ListedMember[],
  peerUrl: string,
): Pod {
  const tls = podTlsFor(tlsToMake(execution), peerUrl);
  const worker = execution.context.workerImage();
  return memberPod(execution.cluster, member, { as: "joining", members, worker }, tls, quotaOfNew(execution));
}

/** By a dry run, so that quotas, policies and webhooks say what they will say. Throws what the API server answers. */
export async function confirmAdmission(
  execution: ClusterExecution,
  member: MemberName,
  peerUrl: string,
): Promise<void> {
  const { cluster, reconcile } = execution;
  const listed = { name: member, peerUrls: [peerUrl] };
  const dryRun = { dryRun: true, fieldManager };
  await reconcile.api.create(Pod, joiningPod(execution, member, [listed], peerUrl), dryRun);
  if (cluster.spec.pod.persistentVolumeClaimSpec === undefined) return;
  await reconcile.api.create(PersistentVolumeClaim, memberClaim(cluster, member), dryRun).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
}
