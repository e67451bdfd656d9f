// Reads an object back and compares it with what was written: a store that says "stored" may be wrong.
import type { ObjectStore } from "../../store/store.ts";
import { failureOf, WorkerFailure } from "../program/failure.ts";
import { Hashed } from "../program/hashed.ts";
import type { BackupFacts } from "../job.ts";
import { metadataKey } from "./kept/object-key.ts";
import type { Watch } from "../program/watch.ts";

type Written = Pick<BackupFacts, "key" | "bytes" | "sha256">;

export async function readBack(store: ObjectStore, { key, bytes, sha256 }: Written, watch: Watch): Promise<void> {
  const stored = await store.get(key, { signal: watch.signal });
  if (stored === undefined)
    throw new WorkerFailure("store", `${store.name} said that ${key} was stored, and does not have it.`);
  const hashed = new Hashed();
  for await (const chunk of hashed.of(stored.body)) watch.moved(chunk.length);
  const read = hashed.finish();
  if (read.bytes !== bytes || read.sha256 !== sha256)
    throw new WorkerFailure(
      "store",
      `${key} in ${store.name} is not what was written: ${read.bytes} of ${bytes} bytes came back${read.bytes === bytes ? ", and others" : ""}.`,
    );
}

/** Takes back an object that could not be proved. `left`: what stays. Gives back the failure, which says it. */
export async function withdrawn(store: ObjectStore, key: string, left: string, error: unknown): Promise<WorkerFailure> {
  const { code, message } = failureOf(error);
  const failed = (what: string): WorkerFailure =>
    new WorkerFailure(code, `The backup could not be proved. ${message} ${what}`, { cause: error });
  try {
    await store.delete(key);
    await store.delete(metadataKey(key));
    return failed(`It was deleted again. ${left}`.trim());
  } catch (stays) {
    return failed(`It could not be deleted either: ${failureOf(stays).message} ${left}`.trim());
  }
}
