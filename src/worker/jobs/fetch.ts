// Brings a backup into a file: decrypted, and proved to be what was written. By its metadata where there is some; by the
// digest at the end of every snapshot in any case.
import { type FileHandle, open, rm } from "node:fs/promises";
import * as path from "node:path";
import { TrailingDigest } from "../../etcd/trailing-digest.ts";
import { bytesInWords } from "../../kube/objects/size.ts";
import { firstBytes, isSealed } from "../../seal/format.ts";
import { keysIn } from "../../seal/key.ts";
import type { SealedOf } from "../../seal/sealed-of.ts";
import { unseal } from "../../seal/unseal.ts";
import type { ObjectStore } from "../../store/store.ts";
import { diskFull, hasCode, WorkerFailure } from "../program/failure.ts";
import { Hashed } from "../program/hashed.ts";
import type { Encryption } from "../job.ts";
import { refuseOther, refuseOtherMetadata } from "./bound.ts";
import { getMetadata, type Metadata } from "./kept/metadata.ts";
import { resumed } from "../program/pulled.ts";
import { counted, type Watch, watched } from "../program/watch.ts";
import type { JobContext } from "../program/job-context.ts";

export interface Fetched {
  readonly file: string;
  /** Size of the object as it is stored. */
  readonly bytes: number;
  readonly sha256: string;
  readonly snapshotBytes: number;
  readonly keyId?: string;
  /** What it is a copy of, authenticated. Absent: it is not encrypted, or in format 1. */
  readonly of?: SealedOf;
  /** When the store got it; milliseconds since 1970. */
  readonly modified: number;
  readonly metadata?: Metadata;
}

interface Wanted {
  readonly key: string;
  readonly encryption?: Encryption;
  readonly stalledAfterSeconds: number;
}

/** Gives the file to `use`, and removes it afterwards. */
export async function withFetched<T>(
  wanted: Wanted,
  store: ObjectStore,
  worker: JobContext,
  use: (fetched: Fetched) => Promise<T>,
): Promise<T> {
  const file = path.join(worker.scratch, "snapshot.db");
  try {
    return await use(await fetched(wanted, file, store, worker));
  } finally {
    for (const made of [file, `${file}.lock`]) await rm(made, { force: true });
  }
}

async function fetched(wanted: Wanted, file: string, store: ObjectStore, worker: JobContext): Promise<Fetched> {
  const { key } = wanted;
  const metadata = await getMetadata(store, key, worker);
  if (metadata === undefined) worker.log.info("the backup has no metadata: its own digest decides", { key });
  const download = await watched({ ...worker, ...wanted, what: "download" }, (watch) =>
    downloaded(wanted, file, worker.scratchBytes, store, watch),
  );
  if (metadata && (metadata.bytes !== download.bytes || metadata.sha256 !== download.sha256))
    throw damaged(
      `${key} is not what was written: it has ${download.bytes} bytes, and ${metadata.bytes} were written${metadata.bytes === download.bytes ? ", others" : ""}.`,
    );
  if (download.of && metadata) refuseOtherMetadata(download.of, metadata);
  if (download.keyId !== undefined && download.of === undefined)
    worker.log.info("the backup is encrypted in format 1: it is not known under which key it was stored", { key });
  return { file, ...download, ...(metadata && { metadata }) };
}

async function downloaded(
  { key, encryption }: Wanted,
  file: string,
  mostBytes: number,
  store: ObjectStore,
  watch: Watch,
): Promise<Omit<Fetched, "file" | "metadata">> {
  const stored = await store.get(key, { signal: watch.signal });
  if (stored === undefined)
    throw new WorkerFailure("notFound", `There is no ${key} in ${store.name}. Check the path of the backup.`);
  const { plain, sealed } = await opened(counted(stored.body, watch), key, encryption);
  const digest = new TrailingDigest();
  await written(file, withinScratch(plain, key, mostBytes), digest);
  const whole = { bytes: digest.bytes, sha256: check(key, digest) };
  const { modified } = stored;
  return {
    ...(sealed?.hashed.finish() ?? whole),
    snapshotBytes: digest.bytes,
    modified,
    ...(sealed && { keyId: sealed.keyId }),
    ...(sealed?.of && { of: sealed.of }),
  };
}

interface Opened {
  readonly plain: AsyncIterable<Uint8Array>;
  /** What was encrypted has a hash of its own. */
  readonly sealed?: { readonly keyId: string; readonly of: SealedOf | undefined; readonly hashed: Hashed };
}

/** Objects say themselves whether they are encrypted; where keys are given, one that is not could be anybody's. */
async function opened(
  stored: AsyncGenerator<Uint8Array>,
  key: string,
  encryption: Encryption | undefined,
): Promise<Opened> {
  const first = await atLeast(firstBytes, stored);
  const all = resumed({ value: first }, stored);
  if (!isSealed(first)) {
    if (encryption === undefined || encryption.allowUnencrypted === true) return { plain: all };
    await stored.return(undefined);
    throw notEncrypted(key);
  }
  const found = encryption ? keysIn(encryption.folder) : (id: string) => notNamed(key, id);
  const hashed = new Hashed();
  let of: SealedOf | undefined;
  const { plain, keyId } = await unseal(hashed.of(all), found, (said) => {
    of = said;
    if (said && encryption) refuseOther(said, key, encryption);
  });
  return { plain, sealed: { keyId, of, hashed } };
}

/** Fewer if there are no more. */
async function atLeast(count: number, stream: AsyncIterator<Uint8Array>): Promise<Uint8Array> {
  const read: Uint8Array[] = [];
  for (let bytes = 0; bytes < count; ) {
    const next = await stream.next();
    if (next.done === true) break;
    read.push(next.value);
    bytes += next.value.length;
  }
  return Buffer.concat(read);
}

const notEncrypted = (key: string): WorkerFailure =>
  new WorkerFailure(
    "tampered",
    `${key} is not encrypted, and spec.encryption asks for a backup that is: anyone who can write to the store could have put it there. If it is from before encryption was turned on, set spec.encryption.allowUnencrypted of the EtcdRestore to true.`,
  );

function notNamed(key: string, id: string): Promise<never> {
  return Promise.reject(
    new WorkerFailure(
      "keyMissing",
      `${key} is encrypted with the key ${id}. Name the Secret that has it under encryption.`,
    ),
  );
}

/** A kubelet would evict the pod, after a while and in words of its own: for a member with all that is in it. */
async function* withinScratch(
  plain: AsyncIterable<Uint8Array>,
  key: string,
  mostBytes: number,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of plain) {
    bytes += chunk.length;
    if (bytes > mostBytes)
      throw new WorkerFailure(
        "misconfigured",
        `${key} is larger than the scratch volume of the worker may become, which is ${bytesInWords(mostBytes)}: raise spec.worker.scratchSize.`,
      );
    yield chunk;
  }
}

async function written(file: string, plain: AsyncIterable<Uint8Array>, digest: TrailingDigest): Promise<void> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(file, "w", 0o600);
    for await (const chunk of plain) {
      // Another thread writes it meanwhile.
      const writing = writeAll(handle, chunk);
      digest.add(chunk);
      await writing;
    }
  } catch (error) {
    throw hasCode(error, "ENOSPC", "EDQUOT") ? diskFull(path.dirname(file), error) : error;
  } finally {
    await handle?.close();
  }
}

async function writeAll(handle: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let at = 0; at < chunk.length; ) at += (await handle.write(chunk, at)).bytesWritten;
}

/** The SHA-256 of the whole. */
function check(key: string, digest: TrailingDigest): string {
  if (!digest.hasDigest)
    throw damaged(
      `${key} is not a whole snapshot: it has ${digest.bytes} bytes, which is not pages and a digest behind them. It was cut off, or it is a copy of etcd's file and not a snapshot.`,
    );
  const { computed, appended, whole } = digest.finish();
  if (computed !== appended) throw damaged(`${key} does not match the digest at its end: bytes of it were changed.`);
  return whole;
}

const damaged = (sentence: string): WorkerFailure =>
  new WorkerFailure("damaged", `${sentence} It is damaged; use another backup.`);
