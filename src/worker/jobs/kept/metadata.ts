// What is stored beside a backup, as `<key>.json`: what is known of it, and whose it is. Backups of etcd-operator 0.9 have
// none, and metadata that cannot be read counts as none.
import { printableValue } from "../../../kube/objects/printable.ts";
import type { ObjectStore, StoreCall } from "../../../store/store.ts";
import type { BackupFacts, BackupJob, Owner } from "../../job.ts";
import type { Traced } from "./lineage.ts";
import { metadataKey } from "./object-key.ts";

export interface Metadata extends BackupFacts {
  readonly formatVersion: 1;
  /** ID of the run that wrote it. */
  readonly run?: string;
  readonly cluster?: BackupJob["cluster"];
}

/** Stands in its place while the object is written: what a worker leaves that dies meanwhile is known by it. */
export interface Claim {
  readonly formatVersion: 1;
  readonly key: string;
  readonly unfinished: true;
  readonly owner: Owner;
}

/** When etcd took the snapshot, as well as it is known. Milliseconds since 1970. */
export const momentOf = ({ snapshotAt, takenAt }: Pick<BackupFacts, "snapshotAt" | "takenAt">): number =>
  Date.parse(snapshotAt ?? takenAt);

export const tracedOf = ({ key, revision, clusterId, cluster, ...times }: Metadata): Traced => ({
  key,
  takenAt: momentOf(times),
  revision,
  clusterId,
  ...(cluster && { cluster }),
});

/** Longer is not ours. */
const longest = 64 << 10;

export async function putMetadata(store: ObjectStore, metadata: Metadata | Claim, call: StoreCall): Promise<void> {
  const text = Buffer.from(`${JSON.stringify(metadata, undefined, 2)}\n`);
  async function* body(): AsyncGenerator<Uint8Array> {
    yield text;
  }
  const options = { ...call, expectedBytes: text.length, contentType: "application/json" };
  await store.put(metadataKey(metadata.key), body(), options);
}

export async function getMetadata(store: ObjectStore, key: string, call: StoreCall): Promise<Metadata | undefined> {
  const found = await getDescription(store, key, call);
  return found === undefined || isClaim(found) ? undefined : found;
}

export const isSameOwner = (a: Owner, b: Owner): boolean => a.namespace === b.namespace && a.name === b.name;

export const isClaim = (described: Metadata | Claim): described is Claim => "unfinished" in described;

export async function getDescription(
  store: ObjectStore,
  key: string,
  call: StoreCall,
): Promise<Metadata | Claim | undefined> {
  const found = await store.get(metadataKey(key), call);
  if (found === undefined) return undefined;
  const read: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of found.body) {
    read.push(chunk);
    bytes += chunk.length;
    if (bytes > longest) return undefined;
  }
  const parsed = parseJson(Buffer.concat(read).toString("utf8"));
  // Objects may have been copied elsewhere.
  if (isMetadata(parsed) || isClaimed(parsed)) return { ...parsed, key };
  return undefined;
}

/** How each field must look; `?` may be absent. */
const form = {
  formatVersion: "number",
  key: "string",
  bytes: "number",
  sha256: "string",
  snapshotBytes: "number",
  takenAt: "string",
  snapshotAt: "string?",
  current: "boolean?",
  revision: "number",
  exactRevision: "boolean",
  etcdVersion: "string",
  clusterId: "string",
  members: "number",
  storageVersion: "string?",
  auth: "boolean?",
  keyId: "string?",
  keys: "number?",
  run: "string?",
  hash: { value: "number", revision: "number", compactRevision: "number" },
  owner: { namespace: "string", name: "string" },
  cluster: { namespace: "string", name: "string", uid: "string" },
} as const;

const claimForm = {
  formatVersion: "number",
  key: "string",
  unfinished: "boolean",
  owner: { namespace: "string", name: "string" },
} as const;

export function parseMetadata(text: string): Metadata | undefined {
  const parsed = parseJson(text);
  return isMetadata(parsed) ? parsed : undefined;
}

function parseJson(text: string): unknown {
  try {
    // Whoever may write to the store wrote it, and its texts get into a status and into messages.
    return printableValue<unknown>(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function isMetadata(value: unknown): value is Metadata {
  return hasForm(value, form) && "formatVersion" in value && value.formatVersion === 1;
}

function isClaimed(value: unknown): value is Claim {
  return hasForm(value, claimForm) && "formatVersion" in value && value.formatVersion === 1 && "owner" in value;
}

function hasForm(value: unknown, form: Readonly<Record<string, unknown>>): value is object {
  if (typeof value !== "object" || value === null) return false;
  const fields = new Map<string, unknown>(Object.entries(value));
  return Object.entries(form).every(([name, wanted]) => {
    const found = fields.get(name);
    if (typeof wanted === "object" && wanted !== null)
      return found === undefined || hasForm(found, Object.fromEntries(Object.entries(wanted)));
    const [type, isOptional] = String(wanted).split("?");
    return (found === undefined && isOptional !== undefined) || typeof found === type;
  });
}
