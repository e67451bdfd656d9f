// The contract of watch: every change once and in order from a version on, and how a watch ends.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../../../transport/testing/eventually.ts";
import type { KubeApi, WatchEvent, WatchOptions } from "../../client/api.ts";
import { ConfigMap, Lease } from "../../objects/kinds.ts";
import { isAtLeast, isOlder, type Kind, type KubeObject } from "../../objects/objects.ts";
import { Widget, refused, type Corner, versionOf } from "./ground.ts";

export function watchContract(corner: () => Corner): void {
  test("a watch tells every change after its version, in order", async () => {
    const { api, meta, key, selection } = corner();
    await api.create(ConfigMap, { metadata: meta("before") });
    const { resourceVersion } = await api.list(ConfigMap, selection());
    const made = await api.create(ConfigMap, { metadata: meta("a") });
    await using watch = open(api, ConfigMap, { ...selection(), resourceVersion });
    const changed = await api.mergePatch(ConfigMap, key("a"), { data: { a: "1" } });
    await api.delete(ConfigMap, key("a"));
    const received = await watch.received(3);
    assert.deepEqual(received.map(({ type, version }) => [type, version]).slice(0, 2), [
      ["ADDED", versionOf(made)],
      ["MODIFIED", versionOf(changed)],
    ]);
    const [, , deleted] = received;
    assert.equal(deleted?.type, "DELETED");
    assert.equal(deleted.object.kind, "ConfigMap");
    assert.deepEqual(deleted.object.data, { a: "1" });
    assert.ok(isOlder(versionOf(changed), deleted.version), "a deletion has a version of its own");
  });

  test("a watch resumes after any event that was seen", async () => {
    const { api, meta, selection } = corner();
    const { resourceVersion } = await api.list(ConfigMap, selection());
    const names = ["a", "b", "c", "d"];
    for (const name of names) await api.create(ConfigMap, { metadata: meta(name) });
    await using first = open(api, ConfigMap, { ...selection(), resourceVersion });
    const [, second] = await first.received(4);
    await first.stop();
    await using resumed = open(api, ConfigMap, { ...selection(), resourceVersion: second?.version ?? "" });
    const rest = await resumed.received(2);
    assert.deepEqual(
      rest.map(({ object }) => object.metadata?.name),
      [meta("c").name, meta("d").name],
    );
  });

  test("of many watches that begin at once none misses what it gets first", async () => {
    const { api, meta, selection } = corner();
    const { resourceVersion } = await api.list(ConfigMap, selection());
    const made: string[] = [];
    for (const name of ["a", "b", "c"]) made.push(versionOf(await api.create(ConfigMap, { metadata: meta(name) })));
    for (let round = 0; round < 5; round += 1)
      await Promise.all(
        Array.from({ length: 60 }, async () => {
          await using watch = open(api, ConfigMap, { ...selection(), resourceVersion });
          const received = await watch.received(made.length);
          assert.deepEqual(
            received.map(({ version }) => version),
            made,
          );
        }),
      );
  });

  test("between a list and its watch nothing is lost and nothing received twice", async () => {
    const { api, meta, selection } = corner();
    const count = 20;
    const writing = (async (): Promise<void> => {
      for (let n = 0; n < count; n += 1) await api.create(ConfigMap, { metadata: meta(`n${n}`) });
    })();
    const { items, resourceVersion } = await api.list(ConfigMap, selection());
    await using watch = open(api, ConfigMap, { ...selection(), resourceVersion });
    await writing;
    const received = await watch.received(count - items.length);
    const names = [...items, ...received.map(({ object }) => object)].map(({ metadata }) => metadata?.name);
    assert.equal(names.length, count);
    assert.equal(new Set(names).size, count);
  });

  test("an object that comes into a selection is reported as new, one that leaves it as deleted", async () => {
    const { api, meta, key, selection, namespace, label } = corner();
    await api.create(ConfigMap, { metadata: meta("a") });
    const { resourceVersion } = await api.list(ConfigMap, selection());
    const labelSelector = `corner=${label},wanted`;
    await using watch = open(api, ConfigMap, { namespace, labelSelector, resourceVersion });
    const label1 = { metadata: { labels: { wanted: "1" } } };
    const entered = await api.mergePatch(ConfigMap, key("a"), label1);
    await api.mergePatch(ConfigMap, key("a"), { data: { a: "1" } });
    const left = await api.mergePatch(ConfigMap, key("a"), { metadata: { labels: { wanted: null } } });
    await api.mergePatch(ConfigMap, key("a"), { data: { a: "2" } });
    await api.mergePatch(ConfigMap, key("a"), label1);
    const received = await watch.received(4);
    assert.deepEqual(
      received.map(({ type }) => type),
      ["ADDED", "MODIFIED", "DELETED", "ADDED"],
    );
    assert.equal(received[0]?.version, versionOf(entered));
    assert.equal(received[2]?.version, versionOf(left));
    assert.equal(received[2]?.object.metadata?.labels?.["wanted"], "1");
  });

  test("removing the last finalizer of a deleted object is reported as its deletion", async () => {
    const { api, meta, key, selection } = corner();
    const { resourceVersion } = await api.list(Widget, selection());
    const finalizers = ["contract.test.invalid/hold"];
    await api.create(Widget, { metadata: meta("a", { finalizers }), spec: {} });
    await using watch = open(api, Widget, { ...selection(), resourceVersion });
    await api.delete(Widget, key("a"));
    await api.mergePatch(Widget, key("a"), { metadata: { finalizers: null } });
    const received = await watch.received(3);
    assert.deepEqual(
      received.map(({ type, object }) => [type, object.metadata?.deletionTimestamp !== undefined]),
      [
        ["ADDED", false],
        ["MODIFIED", true],
        ["DELETED", true],
      ],
    );
  });

  test("a watch from version 0 begins with what is there", async () => {
    const { api, meta, selection } = corner();
    await api.create(ConfigMap, { metadata: meta("a") });
    await api.create(ConfigMap, { metadata: meta("b") });
    await using watch = open(api, ConfigMap, { ...selection(), resourceVersion: "0" });
    const received = await watch.received(2);
    assert.deepEqual(received.map(({ type, object }) => `${type} ${object.metadata?.name}`).sort(), [
      `ADDED ${meta("a").name}`,
      `ADDED ${meta("b").name}`,
    ]);
  });

  test("a watch ends cleanly at its time, after a bookmark that saves the place", async () => {
    const { api, meta, selection } = corner();
    const { resourceVersion } = await api.list(Lease, selection());
    // Outside the selection, so that only a bookmark can tell how far the server has come. Before the watch is opened: the
    // bookmark comes two seconds before its end, whether a slow server has made this one by then or not.
    const elsewhere = await api.create(Lease, {
      metadata: meta("elsewhere", { labels: { corner: "another" } }),
      spec: { holderIdentity: "me" },
    });
    let bookmark: string | undefined;
    // A server that is busy in the two seconds before the end may leave it out.
    for (let tries = 0; bookmark === undefined && tries < 5; tries += 1) {
      await using watch = open(api, Lease, { ...selection(), resourceVersion, timeoutSeconds: 4 });
      assert.equal(await watch.ended, undefined);
      assert.equal(watch.events.length, 0);
      bookmark = watch.bookmarks.at(-1);
    }
    assert.ok(bookmark !== undefined, "a bookmark came before the end");
    assert.ok(isAtLeast(bookmark, versionOf(elsewhere)), `${bookmark} is not behind ${versionOf(elsewhere)}`);
  });

  test("a watch from a forgotten past is Expired", async () => {
    const { api, selection } = corner();
    await using watch = open(api, Widget, { ...selection(), resourceVersion: "1", timeoutSeconds: 10 });
    const ended = watch.ended.then((error) => Promise.reject(asError(error)));
    await refused(ended, 410, "Expired");
  });

  test("a watch from a version that is still to come is silent", async () => {
    const { api, meta, selection } = corner();
    const { resourceVersion } = await api.list(ConfigMap, selection());
    const future = String(Number(resourceVersion) + 1_000_000);
    await using watch = open(api, ConfigMap, { ...selection(), resourceVersion: future, timeoutSeconds: 2 });
    await api.create(ConfigMap, { metadata: meta("a") });
    assert.equal(await watch.ended, undefined);
    assert.deepEqual(watch.events, []);
  });

  test("an abort ends a watch with the reason of the signal", async () => {
    const { api, selection } = corner();
    const { resourceVersion } = await api.list(ConfigMap, selection());
    await using watch = open(api, ConfigMap, { ...selection(), resourceVersion });
    const reason = new Error("enough");
    assert.equal(await watch.stop(reason), reason);
    const early = AbortSignal.abort(reason);
    const options = { ...selection(), resourceVersion, signal: early };
    await assert.rejects(
      api.watch(ConfigMap, options, () => undefined),
      reason,
    );
  });

  test("what the receiver throws ends the watch", async () => {
    const { api, meta, selection } = corner();
    const { resourceVersion } = await api.list(ConfigMap, selection());
    const reason = new Error("cannot take it");
    const signal = AbortSignal.timeout(60_000);
    const watching = api.watch(ConfigMap, { ...selection(), resourceVersion, signal }, () => {
      throw reason;
    });
    const rejected = assert.rejects(watching, reason);
    await api.create(ConfigMap, { metadata: meta("a") });
    await rejected;
  });
}

interface Delivered<T> {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: T;
  readonly version: string;
}

interface OpenWatch<T> extends AsyncDisposable {
  readonly events: readonly Delivered<T>[];
  readonly bookmarks: readonly string[];
  /** What it ended with; undefined for a clean end. */
  readonly ended: Promise<unknown>;
  /** Resolves when that many events have come; fails when there are more. */
  received(count: number): Promise<readonly Delivered<T>[]>;
  /** Aborts it and gives what it ended with. */
  stop(reason?: Error): Promise<unknown>;
}

function open<T extends KubeObject>(api: KubeApi, kind: Kind<T>, options: Omit<WatchOptions, "signal">): OpenWatch<T> {
  const aborter = new AbortController();
  const events: Delivered<T>[] = [];
  const bookmarks: string[] = [];
  let outcome: unknown = "open";
  const note = (event: WatchEvent<T>): void => {
    if (event.type === "BOOKMARK") bookmarks.push(event.resourceVersion);
    else events.push({ type: event.type, object: event.object, version: versionOf(event.object) });
  };
  const ended = api.watch(kind, { ...options, signal: aborter.signal }, note).then(
    () => undefined,
    (error: unknown) => error,
  );
  void ended.then((end) => {
    outcome = end;
  });
  const seen = (): unknown => ({ types: events.map(({ type }) => type), outcome: String(outcome) });
  return {
    events,
    bookmarks,
    ended,
    async received(count) {
      await eventually(`${count} events of ${kind.kind}`, () => events.length >= count, seen, 60_000);
      assert.equal(events.length, count, JSON.stringify(seen()));
      return events;
    },
    async stop(reason = new Error("stopped")) {
      aborter.abort(reason);
      return await ended;
    },
    // However a test ends, its watch does not outlive it.
    async [Symbol.asyncDispose]() {
      aborter.abort(new Error("the test is over"));
      await ended;
    },
  };
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(`ended with ${String(error)}`));
