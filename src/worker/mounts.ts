// From the API to the job of a worker: the Secrets and claims that a spec names become mounted folders, and a Job names
// the folders. So only the worker ever reads them.
import type { Volume, VolumeMount } from "kubernetes-types/core/v1.js";
import type { ReadPolicy } from "../api/backups/encryption.ts";
import type { StorageType, Stores } from "../api/backups/stores.ts";
import type { StoreTarget } from "../store/store.ts";
import type { Encryption } from "./job.ts";

/** Something that is mounted at `folder`. */
export type Mount = { readonly folder: string } & (
  | { readonly secret: string }
  | { readonly claim: string; readonly readOnly?: boolean }
);

const root = "/etc/etcd-worker";
export const folders = {
  store: `${root}/store`,
  ca: `${root}/ca`,
  encryption: `${root}/encryption`,
  tls: `${root}/tls`,
  login: `${root}/login`,
  claim: "/backups",
} as const;

export interface StorePlace {
  readonly target: StoreTarget;
  /** The key, or what the keys of a series begin with. */
  readonly path: string;
  readonly mounts: readonly Mount[];
}

/** Throws a RangeError for a spec that `problemsOf` complains about. */
export function placeOf(type: StorageType, { s3, abs, gcs, oss, pvc }: Stores): StorePlace {
  if (type === "S3" && s3 !== undefined)
    return inBucket(s3.path, s3.awsSecret, s3.caSecret, (bucket, mounted) => ({
      type,
      bucket,
      forcePathStyle: s3.forcePathStyle,
      ...text("endpoint", s3.endpoint),
      ...text("region", s3.region),
      ...mounted,
    }));
  if (type === "ABS" && abs !== undefined)
    return inBucket(abs.path, abs.absSecret, abs.caSecret, (container, mounted) => ({
      type,
      container,
      ...text("endpoint", abs.endpoint),
      ...text("account", abs.account),
      ...mounted,
    }));
  if (type === "GCS" && gcs !== undefined)
    return inBucket(gcs.path, gcs.gcpSecret, gcs.caSecret, (bucket, mounted) => ({
      type,
      bucket,
      ...text("endpoint", gcs.endpoint),
      ...mounted,
    }));
  if (type === "OSS" && oss !== undefined)
    return inBucket(oss.path, oss.ossSecret, oss.caSecret, (bucket, mounted) => ({
      type,
      bucket,
      endpoint: oss.endpoint,
      ...mounted,
      secretFolder: folders.store,
    }));
  if (type === "PVC" && pvc !== undefined)
    return {
      target: { type, folder: folders.claim },
      path: pvc.path,
      mounts: [{ folder: folders.claim, claim: pvc.claimName }],
    };
  throw new RangeError(`the store of type ${type} is not described`);
}

type Mounted = Readonly<Partial<Record<"secretFolder" | "caFolder", string>>>;

function inBucket(
  path: string,
  secret: string | undefined,
  caSecret: string | undefined,
  targetIn: (bucket: string, mounted: Mounted) => StoreTarget,
): StorePlace {
  const slash = path.indexOf("/");
  const [secrets, cas] = [secretAt(folders.store, secret), secretAt(folders.ca, caSecret)];
  const mounted = { ...folder("secretFolder", secrets), ...folder("caFolder", cas) };
  return { target: targetIn(path.slice(0, slash), mounted), path: path.slice(slash + 1), mounts: [...secrets, ...cas] };
}

/** As `path` of an EtcdRestore takes it. */
export function pathOf({ target }: StorePlace, key: string): string {
  if (target.type === "PVC") return key;
  return `${target.type === "ABS" ? target.container : target.bucket}/${key}`;
}

export interface Sealed {
  readonly encryption?: Encryption;
  readonly mounts: readonly Mount[];
}

/** What a policy for reading says beyond the keys is about the objects at `place`. */
export function encryptionOf(policy: ReadPolicy | undefined, place: Pick<StorePlace, "path">): Sealed {
  if (policy === undefined) return { mounts: [] };
  const { keyId, allowUnencrypted = false, originalKey = "" } = policy;
  return {
    encryption: {
      folder: folders.encryption,
      ...text("keyId", keyId),
      ...(allowUnencrypted && { allowUnencrypted }),
      ...(originalKey !== "" && { copied: { path: place.path, originalKey } }),
    },
    mounts: [{ folder: folders.encryption, secret: policy.secret }],
  };
}

export function volumesOf(mounts: readonly Mount[]): Volume[] {
  return mounts.map((mount) => ({
    name: volumeName(mount),
    ...("secret" in mount
      ? { secret: { secretName: mount.secret, defaultMode: 0o440 } }
      : { persistentVolumeClaim: { claimName: mount.claim } }),
  }));
}

export function volumeMountsOf(mounts: readonly Mount[]): VolumeMount[] {
  return mounts.map((mount) => ({
    name: volumeName(mount),
    mountPath: mount.folder,
    readOnly: "secret" in mount || mount.readOnly === true,
  }));
}

const nameAt = (folder: string): string => `worker-${folder.slice(folder.lastIndexOf("/") + 1)}`;
const volumeName = ({ folder }: Mount): string => nameAt(folder);

/** For the volume that backups are kept in, in a pod that reads or writes them there. */
export const backupsVolume: string = nameAt(folders.claim);

const secretAt = (folder: string, secret: string | undefined): Mount[] =>
  secret === undefined || secret === "" ? [] : [{ folder, secret }];

function text<K extends string>(name: K, value: string | undefined): { [name in K]?: string } {
  // One property, and its name is K.
  return value === undefined || value === "" ? {} : ({ [name]: value } as { [name in K]: string });
}

function folder<K extends string>(name: K, mounts: readonly Mount[]): { [name in K]?: string } {
  return text(name, mounts[0]?.folder);
}
