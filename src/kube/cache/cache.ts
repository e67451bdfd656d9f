// What a controller needs to know of the caches that its passes read, whatever they hold: whether they are filled,
// and whether they show a certain write.
import type { Selection } from "../client/api.ts";
import type { Key, Kind, KubeObject } from "../objects/objects.ts";

export interface Cache {
  readonly kind: Kind<KubeObject>;
  readonly selection: Selection;
  whenSynced(signal: AbortSignal): Promise<void>;
  /** The object as the cache shows it. */
  held(key: Key): KubeObject | undefined;
  /** True when the cache holds the effect of the write that gave the object this version, or of a later one. */
  hasSeen(key: Key, resourceVersion: string): boolean;
  /** True when the cache knows that the object with this uid is gone or going. */
  hasSeenDeletion(key: Key, uid: string): boolean;
  /** Resolves when `hasSeen`. Rejects with the signal's reason if the signal aborts first. */
  waitForVersion(key: Key, resourceVersion: string, signal: AbortSignal): Promise<void>;
  waitForDeletion(key: Key, uid: string, signal: AbortSignal): Promise<void>;
}
