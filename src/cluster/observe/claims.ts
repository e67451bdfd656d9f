// Reduces the claim of a member's volume to what the planner needs.
import { parseClusterId } from "../../etcd/ids.ts";
import type { StoreView } from "../../kube/cache/store.ts";
import type { CompleteEtcdCluster, EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { PersistentVolumeClaim } from "../../kube/objects/kinds.ts";
import { keyOf, keyText, type KubeObject } from "../../kube/objects/objects.ts";
import { amountOf } from "../../api/etcd-cluster/resource-problems.ts";
import {
  cannotGrowAnnotation,
  claimLabel,
  clusterIdAnnotation,
  clusterUidAnnotation,
  homeOf,
  imageAnnotation,
  peerSchemeAnnotation,
  requestOf,
  requestTextOf,
} from "../objects/claims.ts";
import { settingsAnnotation, versionAnnotation } from "../objects/member-pod.ts";
import { memberName } from "../objects/names.ts";
import { schemeOf } from "../objects/tls.ts";
import type { Claim, Release } from "./world.ts";
import { defined } from "../../defined.ts";

/** `node`: as `volume-nodes.ts` found it. */
export function observedClaim(claim: PersistentVolumeClaim, node: Claim["node"] = { t: "none" }): Claim {
  const { name = "", uid = "", labels = {}, annotations = {}, deletionTimestamp } = claim.metadata ?? {};
  const { [clusterUidAnnotation]: clusterUid, [cannotGrowAnnotation]: cannotGrow } = annotations;
  const { [settingsAnnotation]: madeFrom } = annotations;
  const clusterId = parseClusterId(annotations[clusterIdAnnotation] ?? "");
  const release = releaseIn(annotations);
  const requested = requestOf(claim.spec) ?? 0;
  return {
    name: memberName(name),
    uid,
    role: labels[claimLabel] === "retired" ? "retired" : "current",
    terminating: deletionTimestamp !== undefined,
    phase: phaseOf(claim),
    ...(clusterUid !== undefined && { clusterUid }),
    hasHome: homeOf(claim) !== undefined,
    ...defined({ clusterId, release, madeFrom }),
    peers: schemeOf(annotations[peerSchemeAnnotation] === "https"),
    owned: (claim.metadata?.ownerReferences ?? []).length > 0,
    requested,
    capacity: amountOf(claim.status?.capacity?.["storage"]) ?? 0,
    node,
    ...(cannotGrow !== undefined && { cannotGrow }),
  };
}

/**
 * The EtcdCluster whose data it holds, if that is another one than this: by what is written on it, and where an older operator
 * made it, by the uid of an EtcdCluster that lives elsewhere. One that was deleted, and made again, leaves no such trace.
 */
export function foreignHomeOf(
  claim: PersistentVolumeClaim,
  cluster: KubeObject,
  clusters: StoreView<EtcdCluster>,
): string | undefined {
  const own = keyText(keyOf(cluster));
  const noted = homeOf(claim);
  if (noted !== undefined) return noted === own ? undefined : noted;
  const uid = claim.metadata?.annotations?.[clusterUidAnnotation];
  if (uid === undefined || uid === cluster.metadata?.uid) return undefined;
  for (const other of clusters.values()) if (other.metadata?.uid === uid) return keyText(keyOf(other));
  return undefined;
}

function phaseOf({ status }: PersistentVolumeClaim): Claim["phase"] {
  return status?.phase === "Bound" || status?.phase === "Lost" ? status.phase : "Pending";
}

function releaseIn(annotations: Readonly<Record<string, string>>): Release | undefined {
  const { [versionAnnotation]: version, [imageAnnotation]: image } = annotations;
  return version === undefined || image === undefined ? undefined : { version, image };
}

/** Only what is read back is kept in memory. */
export function leanClaim({ metadata, spec, status }: PersistentVolumeClaim): PersistentVolumeClaim {
  const { managedFields: _, ...kept } = metadata ?? {};
  const { resources, volumeName } = spec ?? {};
  const { phase, capacity } = status ?? {};
  return {
    metadata: kept,
    spec: { ...(resources && { resources }), ...(volumeName && { volumeName }) },
    status: { ...(phase && { phase }), ...(capacity && { capacity }) },
  };
}

/** What the spec asks of volumes that are there already, and they cannot do. */
export function claimProblems({ spec }: CompleteEtcdCluster, claims: readonly Claim[]): string[] {
  const { persistentVolumeClaimSpec: claim } = spec.pod;
  const wanted = requestOf(claim);
  if (claim === undefined || wanted === undefined) return [];
  const inUse = claims.filter(
    ({ role, terminating, phase }) => role === "current" && !terminating && phase === "Bound",
  );
  const largest = Math.max(0, ...inUse.map(({ requested }) => requested));
  if (wanted >= largest) return [];
  return [
    `spec.pod.persistentVolumeClaimSpec.resources.requests.storage is ${requestTextOf(claim)}, and there are volumes of ${inGi(largest)}: volumes do not shrink. Set it to at least that. For smaller volumes, create a new cluster and copy the data.`,
  ];
}

/** As people write sizes: 5Gi, 512Mi, or in bytes. */
export function inGi(bytes: number): string {
  if (bytes % 2 ** 30 === 0) return `${bytes / 2 ** 30}Gi`;
  return bytes % 2 ** 20 === 0 ? `${bytes / 2 ** 20}Mi` : String(bytes);
}
