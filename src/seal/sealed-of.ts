// What an encrypted object is a copy of. It stands in the header, so that it is authenticated with every chunk: an object
// that was stored under another name, or that is of another cluster, says so itself.

export interface SealedOf {
  /** The key of the object in its store, without the bucket. */
  readonly key: string;
  /** The id that etcd gives its cluster. */
  readonly clusterId?: string;
  /** The EtcdCluster. */
  readonly cluster?: { readonly namespace: string; readonly name: string; readonly uid: string };
  /** Everything up to it is in the object. */
  readonly revision?: number;
  /** When the run began. ISO, like the next. */
  readonly takenAt?: string;
  /** When etcd had taken the snapshot, at the latest. */
  readonly snapshotAt?: string;
}

/** As JSON in UTF-8. Fields are named one by one: what else the caller has is not written. */
export function writeOf({ key, clusterId, cluster, revision, takenAt, snapshotAt }: SealedOf): Buffer {
  const named = cluster && { namespace: cluster.namespace, name: cluster.name, uid: cluster.uid };
  return Buffer.from(JSON.stringify({ key, clusterId, cluster: named, revision, takenAt, snapshotAt }));
}

/** Undefined: it is not what `writeOf` writes. Later versions may add fields. */
export function readOf(bytes: Uint8Array): SealedOf | undefined {
  try {
    const read: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return isSealedOf(read) ? read : undefined;
  } catch {
    return undefined;
  }
}

const optional = {
  clusterId: (value: unknown) => typeof value === "string",
  cluster: (value: unknown) => isObject(value) && ["namespace", "name", "uid"].every((field) => isText(value, field)),
  revision: (value: unknown) => typeof value === "number",
  takenAt: (value: unknown) => typeof value === "string",
  snapshotAt: (value: unknown) => typeof value === "string",
} satisfies Record<Exclude<keyof SealedOf, "key">, (value: unknown) => boolean>;

function isSealedOf(value: unknown): value is SealedOf {
  if (!isObject(value) || !isText(value, "key")) return false;
  return Object.entries(optional).every(([field, fits]) => value[field] === undefined || fits(value[field]));
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => value instanceof Object;

const isText = (value: Readonly<Record<string, unknown>>, field: string): boolean => typeof value[field] === "string";
