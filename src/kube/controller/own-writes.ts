// Read your own writes: the API of a reconcile notes what is written through it, and the next reconcile of the key waits
// until the caches show it. On a cache without its last writes it would make the same thing twice, or undo it.
import type { Cache } from "../cache/informer.ts";
import { pause, type Clock } from "../clock.ts";
import { ApiError } from "../client/errors.ts";
import { getOrUndefined } from "../client/get-or-undefined.ts";
import { readLabelSelector } from "../objects/label-selector.ts";
import { keyOf, type Key, type Kind, type KubeObject } from "../objects/objects.ts";
import type { KubeApi, RequestOptions } from "../client/api.ts";
import { TransportError } from "../../transport/errors.ts";

export type OwnWrite =
  | {
      readonly did: "write";
      readonly kind: Kind<KubeObject>;
      readonly key: Key;
      readonly resourceVersion: string;
      readonly labels: Readonly<Record<string, string>>;
    }
  | { readonly did: "delete"; readonly kind: Kind<KubeObject>; readonly key: Key; readonly uid: string }
  /** The outcome is unknown; only the server can tell. */
  | { readonly did: "unknown"; readonly kind: Kind<KubeObject>; readonly key: Key };

export function wroteObject(kind: Kind<KubeObject>, object: KubeObject): OwnWrite {
  const { resourceVersion = "", labels = {} } = object.metadata ?? {};
  return { did: "write", kind, key: keyOf(object), resourceVersion, labels };
}

interface Recording {
  signal: AbortSignal;
  note: (write: OwnWrite) => void;
}

export function recordingApi(api: KubeApi, { signal, note }: Recording): KubeApi {
  async function write<T extends KubeObject>(
    kind: Kind<T>,
    key: Key,
    dryRun: boolean,
    send: () => Promise<T>,
  ): Promise<T> {
    const object = await noteUnknown(kind, key, dryRun, send);
    if (!dryRun) note(wroteObject(kind, object));
    return object;
  }

  async function noteUnknown<R>(kind: Kind<KubeObject>, key: Key, dryRun: boolean, send: () => Promise<R>): Promise<R> {
    try {
      return await send();
    } catch (error) {
      // A name that the server was to make up cannot be asked for.
      if (!dryRun && key.name !== "" && mayHaveHappened(error)) note({ did: "unknown", kind, key });
      throw error;
    }
  }

  function bound<O extends RequestOptions>(options: O | undefined): O & { signal: AbortSignal };
  function bound(options: RequestOptions = {}): RequestOptions & { signal: AbortSignal } {
    const own = options.signal;
    return { ...options, signal: own === undefined || own === signal ? signal : AbortSignal.any([own, signal]) };
  }

  return {
    get: (kind, key, options) => api.get(kind, key, bound(options)),
    list: (kind, options) => api.list(kind, bound(options)),
    watch: (kind, options, onEvent) => api.watch(kind, bound(options), onEvent),
    log: (pod, options) => api.log(pod, bound(options)),
    create: (kind, object, options) =>
      write(kind, keyOf(object), options?.dryRun === true, () => api.create(kind, object, bound(options))),
    replace: (kind, object, options) =>
      write(kind, keyOf(object), options?.dryRun === true, () => api.replace(kind, object, bound(options))),
    apply: (kind, object, options) =>
      write(kind, keyOf(object), options.dryRun === true, () => api.apply(kind, object, bound(options))),
    mergePatch: (kind, key, patch, options) =>
      write(kind, key, options?.dryRun === true, () => api.mergePatch(kind, key, patch, bound(options))),
    async delete(kind, key, options) {
      const dryRun = options?.dryRun === true;
      await noteUnknown(kind, key, dryRun, () => api.delete(kind, key, bound(options)));
      if (dryRun) return;
      // Without a uid it is not known which of several bearers of the name was deleted.
      note(options?.uid === undefined ? { did: "unknown", kind, key } : { did: "delete", kind, key, uid: options.uid });
    },
  };
}

/** After a plain no from the server nothing was written. After silence, or a server in trouble, it may have been. */
function mayHaveHappened(error: unknown): boolean {
  if (error instanceof ApiError) return error.code >= 500;
  return !(error instanceof TransportError && error.neverSent);
}

interface CatchUp {
  api: KubeApi;
  caches: readonly Cache[];
  clock: Clock;
}

const askAgainMs = 1_000;

/** True when every cache that will ever show the write shows it. What is unknown has to be asked for first. */
export function isSeen(write: OwnWrite, caches: readonly Cache[]): boolean {
  if (write.did === "unknown") return cachesFor(write, caches).length === 0;
  return cachesFor(write, caches).every((cache) =>
    write.did === "write"
      ? cache.hasSeen(write.key, write.resourceVersion)
      : cache.hasSeenDeletion(write.key, write.uid),
  );
}

/** Resolves when the caches show all of them, or the signal aborts, with those that they do not show. */
export async function waitUntilSeen(
  writes: readonly OwnWrite[],
  catchUp: CatchUp,
  signal: AbortSignal,
): Promise<OwnWrite[]> {
  // Writes first: an object that was made and deleted since is absent from a cache that knows of neither.
  const unseenWrites = await waitForEach(
    writes.filter((write) => write.did === "write"),
    catchUp,
    signal,
  );
  const unseenRest = await waitForEach(
    writes.filter((write) => write.did !== "write"),
    catchUp,
    signal,
  );
  return [...unseenWrites, ...unseenRest];
}

async function waitForEach(writes: readonly OwnWrite[], catchUp: CatchUp, signal: AbortSignal): Promise<OwnWrite[]> {
  const waits = writes.map(async (write) => {
    try {
      await waitForOne(write, catchUp, signal);
      return [];
    } catch {
      // The signal is the only way out of the wait other than success.
      return [write];
    }
  });
  return (await Promise.all(waits)).flat();
}

async function waitForOne(write: OwnWrite, catchUp: CatchUp, signal: AbortSignal): Promise<void> {
  const caches = cachesFor(write, catchUp.caches);
  if (caches.length === 0) return;
  switch (write.did) {
    case "write":
      await all(caches, (cache) => cache.waitForVersion(write.key, write.resourceVersion, signal));
      return;
    case "delete":
      await all(caches, (cache) => cache.waitForDeletion(write.key, write.uid, signal));
      return;
    case "unknown": {
      const live = await askServer(write, catchUp, signal);
      if (live !== undefined) return waitForOne(wroteObject(write.kind, live), catchUp, signal);
      await all(caches, async (cache) => {
        const uid = cache.held(write.key)?.metadata?.uid;
        if (uid !== undefined) await cache.waitForDeletion(write.key, uid, signal);
      });
    }
  }
}

async function askServer(
  write: OwnWrite,
  { api, clock }: CatchUp,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await getOrUndefined(api, write.kind, write.key, { signal });
    } catch {
      await pause(clock, askAgainMs, signal);
    }
  }
}

/** The caches that can be expected to show this object. Waiting for another one would be waiting in vain. */
function cachesFor(write: OwnWrite, caches: readonly Cache[]): Cache[] {
  return caches.filter((cache) => {
    if (cache.kind.kind !== write.kind.kind || cache.kind.group !== write.kind.group) return false;
    if (!cache.readable) return false;
    const { namespace, labelSelector, fieldSelector } = cache.selection;
    if (namespace !== undefined && namespace !== write.key.namespace) return false;
    // The watch reports what the cache holds, even when the object leaves the selection.
    if (cache.held(write.key) !== undefined) return true;
    if (write.did !== "write") return true;
    if (fieldSelector !== undefined) return false;
    return labelSelector === undefined || readLabelSelector(labelSelector)?.(write.labels) === true;
  });
}

async function all(caches: readonly Cache[], wait: (cache: Cache) => Promise<void>): Promise<void> {
  await Promise.all(caches.map(wait));
}
