// Reduces the claim of a member's volume to what the planner needs.
import { parseClusterId } from "../../etcd/ids.ts";
import type { StoreView } from "../../kube/cache/store.ts";
import type { Node, PersistentVolumeClaim } from "../../kube/objects/kinds.ts";
import { amountOf } from "../../api/etcd-cluster/resource-problems.ts";
import {
  cannotGrowAnnotation,
  claimLabel,
  clusterIdAnnotation,
  clusterUidAnnotation,
  imageAnnotation,
  peerSchemeAnnotation,
  requestOf,
} from "../objects/claims.ts";
import { settingsAnnotation, versionAnnotation } from "../objects/member-pod.ts";
import { schemeOf } from "../objects/tls.ts";
import { observedNode } from "./pods.ts";
import type { Claim, Release } from "./world.ts";

/** The scheduler writes it where a volume is made for the pod that uses it first. */
const selectedNode = "volume.kubernetes.io/selected-node";

export function observedClaim(claim: PersistentVolumeClaim, nodes: StoreView<Node> | undefined): Claim {
  const { name = "", uid = "", labels = {}, annotations = {}, deletionTimestamp } = claim.metadata ?? {};
  const { [clusterUidAnnotation]: clusterUid, [cannotGrowAnnotation]: cannotGrow } = annotations;
  const { [settingsAnnotation]: madeFrom } = annotations;
  const clusterId = parseClusterId(annotations[clusterIdAnnotation] ?? "");
  const release = releaseIn(annotations);
  const requested = requestOf(claim.spec) ?? 0;
  return {
    name,
    uid,
    role: labels[claimLabel] === "retired" ? "retired" : "current",
    terminating: deletionTimestamp !== undefined,
    phase: phaseOf(claim),
    ...(clusterUid !== undefined && { clusterUid }),
    ...(clusterId !== undefined && { clusterId }),
    ...(release !== undefined && { release }),
    ...(madeFrom !== undefined && { madeFrom }),
    peers: schemeOf(annotations[peerSchemeAnnotation] === "https"),
    owned: (claim.metadata?.ownerReferences ?? []).length > 0,
    requested,
    capacity: amountOf(claim.status?.capacity?.["storage"]) ?? 0,
    node: observedNode(annotations[selectedNode], nodes),
    ...(cannotGrow !== undefined && { cannotGrow }),
  };
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
  const { resources } = spec ?? {};
  const { phase, capacity } = status ?? {};
  return {
    metadata: kept,
    spec: { ...(resources && { resources }) },
    status: { ...(phase && { phase }), ...(capacity && { capacity }) },
  };
}
