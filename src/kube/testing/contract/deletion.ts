// The contract of deletion: preconditions, finalizers, and what becomes of the objects that the deleted one owned.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigMap } from "../../objects/kinds.ts";
import type { OwnerReference } from "../../objects/objects.ts";
import { Widget, gone, refused, type Corner, uidOf, versionOf, waitFor } from "./ground.ts";

const finalizer = "contract.test.invalid/hold";

export function deletionContract(corner: () => Corner): void {
  test("a deletion can be made to depend on uid and version", async () => {
    const { api, meta, key } = corner();
    const made = await api.create(ConfigMap, { metadata: meta("a") });
    const other = "11111111-1111-1111-1111-111111111111";
    await refused(api.delete(ConfigMap, key("a"), { uid: other }), 409, "Conflict");
    const changed = await api.mergePatch(ConfigMap, key("a"), { data: { a: "1" } });
    const stale = { uid: uidOf(made), resourceVersion: versionOf(made) };
    await refused(api.delete(ConfigMap, key("a"), stale), 409, "Conflict");
    await api.delete(ConfigMap, key("a"), { uid: uidOf(changed), resourceVersion: versionOf(changed) });
    await refused(api.get(ConfigMap, key("a")), 404, "NotFound");
    await refused(api.delete(ConfigMap, key("a")), 404, "NotFound");
  });

  test("a finalizer holds an object until it is removed", async () => {
    const { api, meta, key } = corner();
    await api.create(Widget, { metadata: meta("a", { finalizers: [finalizer] }), spec: { size: 1 } });
    await api.delete(Widget, key("a"));
    const held = await api.get(Widget, key("a"));
    assert.ok(held.metadata?.deletionTimestamp !== undefined);
    assert.equal(held.metadata.generation, 2);

    await api.delete(Widget, key("a"));
    assert.equal(versionOf(await api.get(Widget, key("a"))), versionOf(held));
    await refused(api.create(Widget, { metadata: meta("a"), spec: {} }), 409, "AlreadyExists");
    const more = { metadata: { finalizers: [finalizer, "contract.test.invalid/late"] } };
    await refused(api.mergePatch(Widget, key("a"), more), 422, "Invalid");

    const changed = await api.mergePatch(Widget, key("a"), { spec: { size: 2 } });
    assert.equal(changed.metadata?.deletionTimestamp, held.metadata.deletionTimestamp);
    const released = await api.mergePatch(Widget, key("a"), { metadata: { finalizers: null } });
    assert.equal(released.metadata?.finalizers, undefined);
    await refused(api.get(Widget, key("a")), 404, "NotFound");
  });

  test("a new object under an old name is another object", async () => {
    const { api, meta, key } = corner();
    const first = await api.create(ConfigMap, { metadata: meta("a") });
    await api.delete(ConfigMap, key("a"));
    const second = await api.create(ConfigMap, { metadata: meta("a") });
    assert.notEqual(uidOf(second), uidOf(first));
    await refused(api.delete(ConfigMap, key("a"), { uid: uidOf(first) }), 409, "Conflict");
    await refused(api.replace(ConfigMap, { ...first, data: { a: "1" } }), 409, "Conflict");
  });

  test("what is owned goes with its last owner", async () => {
    const { api, meta, key } = corner();
    const one = await own(api, meta("one"));
    const two = await own(api, meta("two"));
    await api.create(ConfigMap, { metadata: meta("both", { ownerReferences: [one, two] }) });
    await api.create(ConfigMap, { metadata: meta("single", { ownerReferences: [one] }) });
    await api.delete(ConfigMap, key("one"));
    await gone(api, ConfigMap, key("single"));
    await waitFor("the lost owner being taken off the list", async () => {
      const { metadata } = await api.get(ConfigMap, key("both"));
      return metadata?.ownerReferences?.length === 1 ? true : undefined;
    });
    await api.delete(ConfigMap, key("two"));
    await gone(api, ConfigMap, key("both"));
  });

  test("what names an owner that is gone goes too, even when it comes later", async () => {
    const { api, meta, key } = corner();
    const owner = await own(api, meta("owner"));
    await api.delete(ConfigMap, key("owner"));
    await api.create(ConfigMap, { metadata: meta("late", { ownerReferences: [owner] }) });
    await gone(api, ConfigMap, key("late"));
  });
}

async function own(api: Corner["api"], metadata: ReturnType<Corner["meta"]>): Promise<OwnerReference> {
  const made = await api.create(ConfigMap, { metadata });
  return { apiVersion: "v1", kind: "ConfigMap", name: metadata.name, uid: uidOf(made) };
}
