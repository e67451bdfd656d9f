// Waiting until the caches show what a pass wrote. A pass that read a cache without its own last writes would make
// the same thing twice, or undo what it has just done.
import type { KubeApi } from "../client/api.ts";
import type { Cache } from "../cache/cache.ts";
import { pause } from "../clock.ts";
import type { Clock } from "../clock.ts";
import { isNotFound } from "../client/errors.ts";
import { readLabelSelector } from "../objects/label-selector.ts";
import type { KubeObject } from "../objects/objects.ts";
import { wroteObject } from "./recording-api.ts";
import type { OwnWrite } from "./recording-api.ts";

export interface World {
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
  world: World,
  signal: AbortSignal,
): Promise<OwnWrite[]> {
  // Writes first: an object that was made and deleted since is absent from a cache that knows of neither.
  const unseenWrites = await waitForEach(
    writes.filter((write) => write.did === "write"),
    world,
    signal,
  );
  const unseenRest = await waitForEach(
    writes.filter((write) => write.did !== "write"),
    world,
    signal,
  );
  return [...unseenWrites, ...unseenRest];
}

async function waitForEach(writes: readonly OwnWrite[], world: World, signal: AbortSignal): Promise<OwnWrite[]> {
  const waits = writes.map(async (write) => {
    try {
      await waitForOne(write, world, signal);
      return [];
    } catch {
      // The signal is the only way out of the wait other than success.
      return [write];
    }
  });
  return (await Promise.all(waits)).flat();
}

async function waitForOne(write: OwnWrite, world: World, signal: AbortSignal): Promise<void> {
  const caches = cachesFor(write, world.caches);
  if (caches.length === 0) return;
  switch (write.did) {
    case "write":
      await all(caches, (cache) => cache.waitForVersion(write.key, write.resourceVersion, signal));
      return;
    case "delete":
      await all(caches, (cache) => cache.waitForDeletion(write.key, write.uid, signal));
      return;
    case "unknown": {
      const live = await askServer(write, world, signal);
      if (live !== undefined) return waitForOne(wroteObject(write.kind, live), world, signal);
      await all(caches, async (cache) => {
        const uid = cache.held(write.key)?.metadata?.uid;
        if (uid !== undefined) await cache.waitForDeletion(write.key, uid, signal);
      });
    }
  }
}

async function askServer(write: OwnWrite, { api, clock }: World, signal: AbortSignal): Promise<KubeObject | undefined> {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await api.get(write.kind, write.key, { signal });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      await pause(clock, askAgainMs, signal);
    }
  }
}

/** The caches that can be expected to show this object. Waiting for another one would be waiting in vain. */
function cachesFor(write: OwnWrite, caches: readonly Cache[]): Cache[] {
  return caches.filter((cache) => {
    if (cache.kind.kind !== write.kind.kind || cache.kind.group !== write.kind.group) return false;
    const { namespace, labelSelector, fieldSelector } = cache.selection;
    if (namespace !== undefined && namespace !== write.key.namespace) return false;
    // What the cache holds it will be told about, even if that is that the object has left its selection.
    if (cache.held(write.key) !== undefined) return true;
    if (write.did !== "write") return true;
    if (fieldSelector !== undefined) return false;
    return labelSelector === undefined || readLabelSelector(labelSelector)?.(write.labels) === true;
  });
}

async function all(caches: readonly Cache[], wait: (cache: Cache) => Promise<void>): Promise<void> {
  await Promise.all(caches.map(wait));
}
