// Plans what the lab's storage has to do, from the claims and volumes as they are. Pure and level-triggered, so a restart
// or a missed event costs nothing.
import type { PersistentVolume, PersistentVolumeClaim } from "kubernetes-types/core/v1.js";

export const storageClass = "standard";
export const provisioner = "lab.local/volumes";
const provisionedBy = "pv.kubernetes.io/provisioned-by";
/** Kubernetes writes on a claim who is to make its volume, as its class says. */
const provisionBy = "volume.kubernetes.io/storage-provisioner";
const selectedNode = "volume.kubernetes.io/selected-node";

interface ClaimRef {
  namespace: string;
  name: string;
  uid: string;
}

export type StorageAction =
  | { do: "provision"; claim: ClaimRef; className: string; volume: string; node: string; bytes: number }
  | { do: "grow"; claim: ClaimRef; volume: string; bytes: number; storage: string }
  | { do: "reclaim"; volume: string };

export function planStorage(
  claims: readonly PersistentVolumeClaim[],
  volumes: readonly PersistentVolume[],
): StorageAction[] {
  const byName = new Map(volumes.map((volume) => [volume.metadata?.name ?? "", volume]));
  return [
    ...claims.flatMap((claim) => provision(claim, byName) ?? grow(claim, byName) ?? []),
    ...volumes.flatMap((volume) => reclaim(volume) ?? []),
  ];
}

/** A claim gets its volume once the scheduler has chosen the node of its pod. */
function provision(claim: PersistentVolumeClaim, volumes: Map<string, PersistentVolume>): StorageAction | undefined {
  const { [selectedNode]: node, [provisionBy]: by } = claim.metadata?.annotations ?? {};
  const ref = refOf(claim);
  const { storageClassName: className, volumeName: bound } = claim.spec ?? {};
  if (by !== provisioner || className === undefined || bound !== undefined) return undefined;
  if (node === undefined || claim.metadata?.deletionTimestamp !== undefined) return undefined;
  if (volumes.has(volumeName(ref.uid))) return undefined;
  return { do: "provision", claim: ref, className, volume: volumeName(ref.uid), node, bytes: requested(claim) };
}

function grow(claim: PersistentVolumeClaim, volumes: Map<string, PersistentVolume>): StorageAction | undefined {
  const volume = volumes.get(claim.spec?.volumeName ?? "");
  if (volume === undefined || !isOurs(volume) || claim.metadata?.deletionTimestamp !== undefined) return undefined;
  const storage = claim.spec?.resources?.requests?.["storage"];
  if (storage === undefined || requested(claim) <= parseQuantity(volume.spec?.capacity?.["storage"])) return undefined;
  return { do: "grow", claim: refOf(claim), volume: volume.metadata?.name ?? "", bytes: requested(claim), storage };
}

/** The claim is gone and nobody uses the volume: delete it with its data. */
function reclaim(volume: PersistentVolume): StorageAction | undefined {
  if (!isOurs(volume) || volume.spec?.persistentVolumeReclaimPolicy !== "Delete") return undefined;
  if (volume.status?.phase !== "Released" && volume.metadata?.deletionTimestamp === undefined) return undefined;
  return { do: "reclaim", volume: volume.metadata?.name ?? "" };
}

const volumeName = (uid: string): string => `pvc-${uid}`;
const requested = (claim: PersistentVolumeClaim): number => parseQuantity(claim.spec?.resources?.requests?.["storage"]);
const isOurs = (volume: PersistentVolume): boolean => volume.metadata?.annotations?.[provisionedBy] === provisioner;

function refOf(claim: PersistentVolumeClaim): ClaimRef {
  const { namespace = "", name = "", uid = "" } = claim.metadata ?? {};
  return { namespace, name, uid };
}

const units: Record<string, number> = {
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

/** Bytes of a Kubernetes quantity; 0 if it is missing or invalid, which the API server refuses anyway. */
export function parseQuantity(text: string | undefined): number {
  const match = /^(\d+(?:\.\d+)?)(|k|M|G|T|Ki|Mi|Gi|Ti)$/.exec(text ?? "");
  return match === null ? 0 : Math.ceil(Number(match[1]) * (units[match[2] ?? ""] ?? 1));
}

/** The PersistentVolume: a disk of one node for one claim. */
export function volumeObject(
  action: Extract<StorageAction, { do: "provision" }>,
  device: string,
  bytes: number,
): PersistentVolume {
  return {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name: action.volume, annotations: { [provisionedBy]: provisioner } },
    spec: {
      accessModes: ["ReadWriteOnce"],
      capacity: { storage: String(bytes) },
      persistentVolumeReclaimPolicy: "Delete",
      storageClassName: action.className,
      volumeMode: "Filesystem",
      claimRef: { apiVersion: "v1", kind: "PersistentVolumeClaim", ...action.claim },
      local: { path: device, fsType: "xfs" },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: [action.node] }] },
          ],
        },
      },
    },
  };
}
