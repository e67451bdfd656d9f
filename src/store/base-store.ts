// What every store does in the same way. A store of a kind adds its requests.
import { StoreAttempt, type Refusals } from "./attempt.ts";
import { checkKey } from "./key.ts";
import type { Verb } from "./sentences.ts";
import type { LeftoversCall, ObjectInfo, StoreCall } from "./store.ts";

export abstract class BaseStore {
  readonly name: string;
  readonly #refusals: Refusals;

  constructor(name: string, refusals: Refusals) {
    this.name = name;
    this.#refusals = refusals;
  }

  /** Throws where no store can have this key. `call`: whose signal ends it. */
  protected attempt(to: Verb, key: string, { signal }: StoreCall): StoreAttempt {
    const isPrefix = to === "list" || to === "clean up";
    return new StoreAttempt({ store: this.name, to, key: isPrefix ? key : checkKey(key) }, this.#refusals, signal);
  }
}

/** Metadata that tells an object of ours from another's, where an answer was lost and the request sent again. */
export const mark = "put";

/** A signal as the libraries of Amazon and Azure take it. */
export const abortedBy = ({ signal }: StoreCall): { abortSignal?: AbortSignal } =>
  signal ? { abortSignal: signal } : {};

/** An object as the libraries of Amazon and Azure describe it: any part of it may be missing. */
export const infoOf = (key: string, bytes: number | undefined, modified: Date | undefined): ObjectInfo => ({
  key,
  bytes: bytes ?? 0,
  modified: modified?.getTime() ?? 0,
});

/** For `catch`: undefined in place of an error that says only that nothing is there. */
export const undefinedIf =
  (isMissing: (error: unknown) => boolean) =>
  (error: unknown): undefined => {
    if (isMissing(error)) return undefined;
    throw error;
  };

/** Whether an upload under this key is one of those to end. */
export const isMeant = (key: string, prefix: string, { exactly }: LeftoversCall): boolean =>
  exactly === true ? key === prefix : key.startsWith(prefix);
