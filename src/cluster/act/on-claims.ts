// What is done to the claims of members' volumes, and the pods that come back on them. Each write is about this very claim:
// with another uid the server refuses.
import { fieldManager } from "../../api/field-manager.ts";
import { ApiError, isAlreadyExists } from "../../kube/client/errors.ts";
import { PersistentVolumeClaim } from "../../kube/objects/kinds.ts";
import { madeOf } from "../assess/desired.ts";
import { podTlsFor } from "../assess/certificates/pod-tls.ts";
import {
  cannotGrowAnnotation,
  claimLabel,
  clusterIdAnnotation,
  imageAnnotation,
  isClaimOf,
  memberClaim,
  ownersOf,
  ownNotes,
  peerSchemeAnnotation,
} from "../objects/claims.ts";
import { firstMembersOf } from "../objects/first-members.ts";
import { labelsOf } from "../objects/labels.ts";
import { memberPod, settingsAnnotation, versionAnnotation } from "../objects/member-pod.ts";
import type { MemberName } from "../objects/names.ts";
import type { ActionOf } from "../plan/actions.ts";
import { type ClusterExecution, listedUrlOf, quotaOfNew, tlsToMake } from "./execution.ts";
import { makePod } from "./taken-away.ts";
import { delays } from "../../controllers/delays.ts";
import { NotYet, Refused } from "../../controllers/obstacle.ts";

/** Before the pod that uses it. One that is there already is the member's own: its name was used once. */
export async function makeClaim({ cluster, reconcile }: ClusterExecution, member: MemberName): Promise<void> {
  if (cluster.spec.pod.persistentVolumeClaimSpec === undefined) return;
  try {
    await reconcile.api.create(PersistentVolumeClaim, memberClaim(cluster, member), { fieldManager });
    return;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
  const there = await reconcile.api.get(PersistentVolumeClaim, { namespace: cluster.metadata.namespace, name: member });
  if (!isClaimOf(there, cluster))
    throw new Refused(`a PersistentVolumeClaim named ${member} exists and is not the cluster's: delete or rename it.`);
  if (there.metadata?.deletionTimestamp !== undefined)
    throw new NotYet(`the last claim of ${member} is still going`, delays.cacheIsBehind);
}

export async function recreatePod(execution: ClusterExecution, action: ActionOf<"recreatePod">): Promise<void> {
  const { member, release } = action;
  const cluster = madeOf(execution.cluster, release);
  // As its data has it, and while nobody can say what that is, as its claim has it.
  const claim = execution.assessment.world.claims.find(({ name }) => name === member);
  const first = firstMembersOf(execution.cluster).find(({ name }) => name === member);
  const url = listedUrlOf(execution, member) ?? first?.peerUrl ?? `${claim?.peers ?? "http"}:`;
  const tls = podTlsFor(tlsToMake(execution), url);
  // What its database has grown to is not known where no status says what it was allowed.
  const quota = cluster.status.dbQuota === undefined ? undefined : quotaOfNew(execution);
  await makePod(execution, memberPod(cluster, member, { as: "returning" }, tls, quota));
}

export async function noteOnClaim(execution: ClusterExecution, action: ActionOf<"noteOnClaim">): Promise<void> {
  const { member, uid, clusterId, release, madeFrom, peers } = action;
  const { cluster } = execution;
  const annotations = {
    ...ownNotes(cluster),
    [clusterIdAnnotation]: clusterId,
    [versionAnnotation]: release.version,
    [imageAnnotation]: release.image,
    [settingsAnnotation]: madeFrom ?? null,
    [peerSchemeAnnotation]: peers === "https" ? peers : null,
  };
  const labels = { ...labelsOf(cluster), etcd_node: member, [claimLabel]: "current" };
  await patch(execution, member, { metadata: { uid, annotations, labels } });
}

export async function noteSettings(execution: ClusterExecution, action: ActionOf<"noteSettings">): Promise<void> {
  const { member, uid, settings } = action;
  await patch(execution, member, { metadata: { uid, annotations: { [settingsAnnotation]: settings } } });
}

export async function ownClaim(execution: ClusterExecution, { member, uid }: ActionOf<"ownClaim">): Promise<void> {
  await patch(execution, member, { metadata: { uid, ownerReferences: ownersOf(execution.assessment.world.cluster) } });
}

/**
 * A storage class that cannot grow volumes is written down, so that it is not asked again and again; the members are
 * replaced by ones with larger volumes then.
 */
export async function growClaim(
  execution: ClusterExecution,
  { member, uid, to }: ActionOf<"growClaim">,
): Promise<void> {
  try {
    await patch(execution, member, { metadata: { uid }, spec: { resources: { requests: { storage: to } } } });
  } catch (error) {
    if (!(error instanceof ApiError) || !saysThatItCannotGrow(error)) throw error;
    await patch(execution, member, { metadata: { uid, annotations: { [cannotGrowAnnotation]: to } } });
  }
}

/** In the words of the API server; it refuses for other reasons, as a quota, too. */
const saysThatItCannotGrow = ({ reason, message }: ApiError): boolean =>
  reason === "Forbidden" && message.includes("can be resized");

export async function retireClaim(
  execution: ClusterExecution,
  { member, uid }: ActionOf<"retireClaim">,
): Promise<void> {
  await patch(execution, member, { metadata: { uid, labels: { [claimLabel]: "retired" } } });
}

export async function deleteClaim(
  execution: ClusterExecution,
  { member, uid }: ActionOf<"deleteClaim">,
): Promise<void> {
  const key = { namespace: execution.cluster.metadata.namespace, name: member };
  await execution.reconcile.api.delete(PersistentVolumeClaim, key, { uid });
}

export async function adoptClaim(execution: ClusterExecution, { member, uid }: ActionOf<"adoptClaim">): Promise<void> {
  const { cluster } = execution.assessment.world;
  await patch(execution, member, {
    metadata: { uid, annotations: ownNotes(cluster), ownerReferences: ownersOf(cluster) },
  });
}

async function patch({ cluster, reconcile }: ClusterExecution, name: MemberName, body: object): Promise<void> {
  const key = { namespace: cluster.metadata.namespace, name };
  await reconcile.api.mergePatch(PersistentVolumeClaim, key, body, { fieldManager });
}
