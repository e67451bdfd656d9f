import assert from "node:assert/strict";
import { test } from "node:test";
import { isConflict } from "../client/errors.ts";
import { addFinalizer, finalizerToAdd, finalizerToRemove, removeFinalizer } from "./finalizers.ts";
import { ConfigMap } from "./kinds.ts";
import { isNotFound } from "../client/errors.ts";
import { FakeApi } from "../testing/fake-api/fake-api.ts";

const key = { namespace: "n", name: "a" };
const ours = "test.invalid/cleanup";

async function withObject(finalizers: string[] = []): Promise<{ api: FakeApi; object: ConfigMap }> {
  const api = new FakeApi({ kinds: [{ kind: ConfigMap }] });
  const object = await api.create(ConfigMap, { metadata: { ...key, finalizers } });
  api.forgetRequests();
  return { api, object };
}

test("a finalizer is added beside those of others, and only once", async () => {
  const { api, object } = await withObject(["other.invalid/x"]);
  const added = await addFinalizer(api, ConfigMap, object, ours);
  assert.deepEqual(added.metadata?.finalizers, ["other.invalid/x", ours]);
  assert.equal(await addFinalizer(api, ConfigMap, added, ours), added);
  assert.equal(api.writes.length, 1);
});

test("a finalizer that somebody else put there in between is not lost", async () => {
  const { api, object } = await withObject();
  await api.mergePatch(ConfigMap, key, { metadata: { finalizers: ["other.invalid/x"] } });
  await assert.rejects(addFinalizer(api, ConfigMap, object, ours), isConflict);
  assert.deepEqual((await api.get(ConfigMap, key)).metadata?.finalizers, ["other.invalid/x"]);
});

test("an object that is being deleted gets no new finalizer", async () => {
  const { api } = await withObject(["other.invalid/x"]);
  await api.delete(ConfigMap, key);
  const going = await api.get(ConfigMap, key);
  assert.equal(finalizerToAdd(going, ours), undefined);
});

test("removing the last finalizer lets the object go, and that it is gone already is no error", async () => {
  const { api, object } = await withObject([ours]);
  await api.delete(ConfigMap, key);
  const going = await api.get(ConfigMap, key);
  await removeFinalizer(api, ConfigMap, going, ours);
  await assert.rejects(api.get(ConfigMap, key), isNotFound);
  await removeFinalizer(api, ConfigMap, going, ours);
  assert.equal(finalizerToRemove({ ...object, metadata: { ...key, finalizers: [] } }, ours), undefined);
});

test("an object made anew under the same name is not touched", async () => {
  const { api, object } = await withObject([ours]);
  await api.delete(ConfigMap, key);
  await removeFinalizer(api, ConfigMap, await api.get(ConfigMap, key), ours);
  await api.create(ConfigMap, { metadata: { ...key, finalizers: [ours] } });
  await assert.rejects(removeFinalizer(api, ConfigMap, object, ours), isConflict);
  assert.deepEqual((await api.get(ConfigMap, key)).metadata?.finalizers, [ours]);
});

test("an object that was never read from the server is refused", () => {
  assert.throws(() => finalizerToAdd({ metadata: { ...key } }, ours), TypeError);
});
