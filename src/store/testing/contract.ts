// The contract that every store passes: in memory, in a folder, and on real servers.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { StoreErrorCode } from "../errors.ts";
import { StoreError } from "../errors.ts";
import type { ObjectStore } from "../store.ts";
import { brokenOff, digest, made, type MadeBody } from "./made-body.ts";

interface StoreGround {
  readonly store: ObjectStore;
  /** Begins an upload of 20 MiB under this key and dies before its end, without a word. */
  crash(key: string): Promise<void>;
  /** Makes objects of one byte in a cheaper way than by `put`, where there is one. */
  fill?(keys: readonly string[]): Promise<void>;
  /** Whether `abortLeftovers` finds what a crash left; else the store itself forgets it after some days. */
  readonly leftovers: "aborted" | "forgotten";
}

const MiB = 1024 * 1024;

export async function fails(work: Promise<unknown>, code: StoreErrorCode): Promise<StoreError> {
  const error: unknown = await work.then(
    () => assert.fail(`it succeeded in place of failing with ${code}`),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof StoreError, `no StoreError but ${String(error)}`);
  assert.equal(error.code, code, error.message);
  return error;
}

export async function keysOf(store: ObjectStore, prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of store.list(prefix)) keys.push(key);
  return keys.sort();
}

async function same(store: ObjectStore, key: string, body: MadeBody): Promise<void> {
  const object = await store.get(key);
  assert.ok(object, `${key} is not there`);
  assert.equal(object.key, key);
  assert.equal(object.bytes, body.bytes);
  assert.deepEqual(await digest(object.body), await digest(made(body)));
}

/** `pages`: whether lists of more than a page are tried, which takes a slow server its time. */
export function storeContract(ground: () => StoreGround, { pages = true } = {}): void {
  const store = (): ObjectStore => ground().store;

  test("what is put can be got, looked up and listed", async () => {
    const began = Date.now();
    await store().put("basic/a", made({ bytes: 1000 }), { contentType: "application/json" });
    await same(store(), "basic/a", { bytes: 1000 });
    const info = await store().head("basic/a");
    assert.equal(info?.key, "basic/a");
    assert.equal(info.bytes, 1000);
    assert.ok(Math.abs(info.modified - began) < 60_000, `modified ${info.modified}, began ${began}`);
    const listed = [];
    for await (const one of store().list("basic/")) listed.push(one);
    assert.equal(listed.length, 1);
    assert.equal(listed[0]?.key, "basic/a");
    assert.equal(listed[0]?.bytes, 1000);
    assert.ok(Math.abs((listed[0]?.modified ?? 0) - began) < 60_000);
  });

  for (const [what, body] of Object.entries({
    "an empty object": { bytes: 0 },
    "one byte": { bytes: 1 },
    "one chunk of 32 KiB": { bytes: 32 * 1024 },
    "one part exactly": { bytes: 8 * MiB },
    "one part and a byte, in odd chunks": { bytes: 8 * MiB + 1, chunk: 77_777 },
    "chunks larger than a part": { bytes: 20 * MiB + 13, chunk: 9 * MiB },
    "64 MiB in chunks of 32 KiB": { bytes: 64 * MiB },
  }))
    test(`${what} comes back as it was, though the producer reuses its memory`, async () => {
      await store().put("sizes/a", made(body));
      await same(store(), "sizes/a", body);
      if (body.bytes > 32 * MiB) return;
      await store().put("sizes/b", made(body), { expectedBytes: body.bytes });
      await same(store(), "sizes/b", body);
    });

  test("what is there is replaced, whether the new one is larger or smaller", async () => {
    for (const body of [{ bytes: 10 }, { bytes: 9 * MiB, seed: 2 }, { bytes: 10, seed: 3 }, { bytes: 0, seed: 4 }]) {
      await store().put("replaced", made(body));
      await same(store(), "replaced", body);
    }
    assert.deepEqual(await keysOf(store(), "replaced"), ["replaced"]);
  });

  for (const bytes of [5, 9 * MiB])
    test(`an object of ${bytes} bytes that must be new does not replace another`, async () => {
      const key = `new/${bytes}`;
      await store().put(key, made({ bytes }), { mustBeNew: true });
      await same(store(), key, { bytes });
      const error = await fails(store().put(key, made({ bytes, seed: 2 }), { mustBeNew: true }), "exists");
      assert.ok(error.message.includes(store().name) && error.message.includes(key), error.message);
      await same(store(), key, { bytes });
    });

  for (const bytes of [5, 9 * MiB])
    test(`of two objects of ${bytes} bytes that must be new, at the same time, one wins`, async () => {
      const key = `race/${bytes}`;
      const ends = await Promise.allSettled(
        [1, 2].map((seed) => store().put(key, made({ bytes, seed }), { mustBeNew: true })),
      );
      const winner = ends.findIndex(({ status }) => status === "fulfilled") + 1;
      assert.equal(ends.filter(({ status }) => status === "fulfilled").length, 1);
      for (const end of ends) if (end.status === "rejected") await fails(Promise.reject(end.reason as Error), "exists");
      await same(store(), key, { bytes, seed: winner });
    });

  if (pages)
    test("more objects than a page holds are listed", async () => {
      const keys = Array.from({ length: 1003 }, (_, at) => `many/${String(at).padStart(4, "0")}`);
      await (ground().fill?.(keys) ?? eachOf(keys, (key) => store().put(key, made({ bytes: 1 }))));
      assert.deepEqual(await keysOf(store(), "many/"), keys);
    });

  test("a prefix is the beginning of a key, not a folder", async () => {
    for (const key of ["prefix/ab", "prefix/b", "prefix/a/c", "prefixed"]) await store().put(key, made({ bytes: 1 }));
    assert.deepEqual(await keysOf(store(), "prefix/a"), ["prefix/a/c", "prefix/ab"]);
    assert.deepEqual(await keysOf(store(), "prefix"), ["prefix/a/c", "prefix/ab", "prefix/b", "prefixed"]);
    assert.deepEqual(await keysOf(store(), "prefix/none"), []);
    assert.deepEqual(await keysOf(store(), "none/at/all"), []);
  });

  test("keys may have what names of backups have", async () => {
    const keys = [
      "names/etcd_v12_2026-11-17-10:00:00",
      "names/etcd_v12_2026-11-17-10:00:00.json",
      "names/with space and + & = ? # %41 '\"",
      "names/ünïcödé-鍵-🔑",
      "names/.hidden",
      "names/dots..and~tilde",
      `names/${"long".repeat(50)}`,
    ];
    for (const [seed, key] of keys.entries()) await store().put(key, made({ bytes: 10, seed }));
    assert.deepEqual(await keysOf(store(), "names/"), [...keys].sort());
    for (const [seed, key] of keys.entries()) {
      await same(store(), key, { bytes: 10, seed });
      assert.equal((await store().head(key))?.key, key);
      await store().delete(key);
    }
    assert.deepEqual(await keysOf(store(), "names/"), []);
  });

  test("what is not there is undefined, and deleting it is fine", async () => {
    assert.equal(await store().get("missing/a"), undefined);
    assert.equal(await store().head("missing/a"), undefined);
    await store().delete("missing/a");
  });

  test("what is deleted is gone", async () => {
    await store().put("gone/a", made({ bytes: 9 * MiB }));
    await store().put("gone/b", made({ bytes: 1 }));
    await store().delete("gone/a");
    assert.equal(await store().get("gone/a"), undefined);
    assert.equal(await store().head("gone/a"), undefined);
    assert.deepEqual(await keysOf(store(), "gone/"), ["gone/b"]);
  });

  for (const bytes of [100, 20 * MiB])
    test(`a body that fails after ${bytes} bytes leaves nothing, and what was there stays`, async () => {
      await store().put("failing/old", made({ bytes: 7 }));
      for (const key of ["failing/new", "failing/old"])
        await assert.rejects(
          store().put(
            key,
            brokenOff(bytes, () => Promise.reject(new Error("etcd went away"))),
          ),
          /etcd went away/,
        );
      assert.deepEqual(await keysOf(store(), "failing/"), ["failing/old"]);
      await same(store(), "failing/old", { bytes: 7 });
      assert.equal(await store().abortLeftovers("failing/"), 0);
    });

  for (const bytes of [100, 20 * MiB])
    test(`an abort after ${bytes} bytes ends the upload at once and leaves nothing`, async () => {
      const stop = new AbortController();
      const silent = brokenOff(bytes, () => {
        stop.abort(new Error("enough"));
        return new Promise(() => undefined);
      });
      await assert.rejects(store().put("aborted/a", silent, { signal: stop.signal }), /enough/);
      assert.deepEqual(await keysOf(store(), "aborted/"), []);
      assert.equal(await store().abortLeftovers("aborted/"), 0);
    });

  test("a call whose signal has ended does nothing", async () => {
    const ended = AbortSignal.abort(new Error("too late"));
    await store().put("ended/a", made({ bytes: 1 }));
    await assert.rejects(store().put("ended/b", made({ bytes: 1 }), { signal: ended }), /too late/);
    await assert.rejects(store().get("ended/a", { signal: ended }), /too late/);
    await assert.rejects(store().head("ended/a", { signal: ended }), /too late/);
    await assert.rejects(store().delete("ended/a", { signal: ended }), /too late/);
    assert.deepEqual(await keysOf(store(), "ended/"), ["ended/a"]);
  });

  test("a reader may stop early, and an abort ends a reader", async () => {
    await store().put("reading/a", made({ bytes: 20 * MiB }));
    const unread = await store().get("reading/a");
    await unread?.body[Symbol.asyncIterator]().return?.();
    const begun = await store().get("reading/a");
    for await (const chunk of begun?.body ?? []) {
      assert.ok(chunk.length > 0);
      break;
    }
    const stop = new AbortController();
    const ended = await store().get("reading/a", { signal: stop.signal });
    await assert.rejects(async () => {
      for await (const chunk of ended?.body ?? []) if (chunk.length > 0) stop.abort(new Error("enough"));
    }, /enough/);
    await same(store(), "reading/a", { bytes: 20 * MiB });
  });

  test("an upload of a process that died is never listed, and the next run ends it", async () => {
    await ground().crash("crashed/a_v1");
    await store().put("crashed/b", made({ bytes: 1 }));
    assert.deepEqual(await keysOf(store(), "crashed/"), ["crashed/b"]);
    assert.equal(await store().head("crashed/a_v1"), undefined);
    assert.equal(await store().abortLeftovers("crashed/b"), 0);
    assert.equal(await store().abortLeftovers("crashed/a", { exactly: true }), 0);
    assert.equal(await store().abortLeftovers("crashed/a_"), ground().leftovers === "aborted" ? 1 : 0);
    assert.equal(await store().abortLeftovers("crashed/"), 0);
    await store().put("crashed/a_v1", made({ bytes: 9 * MiB }), { mustBeNew: true });
    await same(store(), "crashed/a_v1", { bytes: 9 * MiB });
  });
}

/** A few at a time. */
async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const worker = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}
