// Lets a proved backup take the place of an object. Stores cannot rename, so it was written and proved under a key of its
// own, and is copied from there: wherever a worker dies, the key holds the older object or the newer one, whole.
import type { ObjectStore, StoreCall } from "../../../store/store.ts";
import { failureOf, WorkerFailure } from "../../program/failure.ts";
import { Hashed } from "../../program/hashed.ts";
import { counted, type Watch } from "../../program/watch.ts";
import { type Metadata, putMetadata } from "./metadata.ts";
import { metadataKey } from "./object-key.ts";
import { readBack } from "../read-back.ts";

/** `staged` was read back before. Its metadata goes last, so that it is known whose it is. */
export async function replace(metadata: Metadata, staged: string, store: ObjectStore, watch: Watch): Promise<void> {
  const { signal } = watch;
  try {
    // An object without metadata is proved by its own digest; with that of another it would pass for damaged.
    await store.delete(metadataKey(metadata.key), { signal });
    await store.put(metadata.key, copied(metadata, staged, store, watch), { signal, expectedBytes: metadata.bytes });
    await readBack(store, metadata, watch);
    await putMetadata(store, metadata, { signal });
  } catch (error) {
    const { code, message } = failureOf(error);
    throw new WorkerFailure(
      code,
      `The backup is complete and could not take the place of ${metadata.key}. ${message} It stays at ${staged} until the next one: copy it from there if you need it before.`,
      { cause: error },
    );
  }
  await dropStaged(staged, store, { signal });
}

async function dropStaged(staged: string, store: ObjectStore, call: StoreCall): Promise<void> {
  await store.delete(staged, call);
  await store.delete(metadataKey(staged), call);
}

/** Throws at its end, before the store shows it, if it is not what was proved. */
async function* copied(
  { bytes, sha256 }: Metadata,
  staged: string,
  store: ObjectStore,
  watch: Watch,
): AsyncGenerator<Uint8Array> {
  const found = await store.get(staged, { signal: watch.signal });
  const hashed = new Hashed();
  if (found !== undefined) yield* hashed.of(counted(found.body, watch));
  const read = hashed.finish();
  if (read.bytes !== bytes || read.sha256 !== sha256)
    throw new WorkerFailure("store", `${staged} in ${store.name} was changed after it had been proved.`);
}
