// The contract of deletion: preconditions, finalizers, and what becomes of the objects that the deleted one owned.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigMap, Namespace } from "../../objects/kinds.ts";
import type { OwnerReference } from "../../objects/objects.ts";
import type { Corner } from "./ground.ts";
import { gone, refused, uidOf, versionOf, waitFor, Widget } from "./ground.ts";

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

  test("nothing is created in a namespace that is being deleted, and all that is in it goes", async () => {
    const { api } = corner();
    const made = await api.create(Namespace, { metadata: { generateName: "contract-going-" } });
    const name = made.metadata?.name ?? "";
    assert.equal(made.metadata?.labels?.["kubernetes.io/metadata.name"], name);
    await api.create(ConfigMap, { metadata: { namespace: name, name: "held", finalizers: [finalizer] } });
    await api.create(ConfigMap, { metadata: { namespace: name, name: "free" } });
    await api.delete(Namespace, { namespace: "", name });
    const error = await refused(
      api.create(ConfigMap, { metadata: { namespace: name, name: "late" } }),
      403,
      "Forbidden",
    );
    assert.ok(error.causes.some((cause) => cause.reason === "NamespaceTerminating"));
    await gone(api, ConfigMap, { namespace: name, name: "free" });
    assert.equal((await api.get(Namespace, { namespace: "", name })).status?.phase, "Terminating");
    await api.mergePatch(ConfigMap, { namespace: name, name: "held" }, { metadata: { finalizers: null } });
    await gone(api, ConfigMap, { namespace: name, name: "held" });
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
    await api.delete(ConfigMap, key("one"), { propagation: "Background" });
    await gone(api, ConfigMap, key("single"));
    await waitFor("the lost owner being taken off the list", async () => {
      const { metadata } = await api.get(ConfigMap, key("both"));
      return metadata?.ownerReferences?.length === 1 ? true : undefined;
    });
    await api.delete(ConfigMap, key("two"), { propagation: "Background" });
    await gone(api, ConfigMap, key("both"));
  });

  test("what names an owner that is gone goes too, even when it comes later", async () => {
    const { api, meta, key } = corner();
    const owner = await own(api, meta("owner"));
    await api.delete(ConfigMap, key("owner"));
    await api.create(ConfigMap, { metadata: meta("late", { ownerReferences: [owner] }) });
    await gone(api, ConfigMap, key("late"));
  });

  test("a deletion in the foreground waits for what blocks it", async () => {
    const { api, meta, key } = corner();
    const owner = await own(api, meta("owner"));
    const ownerReferences = [{ ...owner, blockOwnerDeletion: true }];
    await api.create(ConfigMap, { metadata: meta("held", { ownerReferences, finalizers: [finalizer] }) });
    await api.delete(ConfigMap, key("owner"), { propagation: "Foreground" });
    await waitFor("the dependent being deleted", async () => {
      const { metadata } = await api.get(ConfigMap, key("held"));
      return metadata?.deletionTimestamp === undefined ? undefined : true;
    });
    const waiting = await api.get(ConfigMap, key("owner"));
    assert.deepEqual(waiting.metadata?.finalizers, ["foregroundDeletion"]);
    await api.mergePatch(ConfigMap, key("held"), { metadata: { finalizers: null } });
    await gone(api, ConfigMap, key("owner"));
  });

  test("orphans stay, without their owner", async () => {
    const { api, meta, key } = corner();
    const owner = await own(api, meta("owner"));
    await api.create(ConfigMap, { metadata: meta("orphan", { ownerReferences: [owner] }) });
    await api.delete(ConfigMap, key("owner"), { propagation: "Orphan" });
    await gone(api, ConfigMap, key("owner"));
    const orphan = await api.get(ConfigMap, key("orphan"));
    assert.equal(orphan.metadata?.ownerReferences, undefined);
    assert.equal(orphan.metadata?.deletionTimestamp, undefined);
  });
}

async function own(api: Corner["api"], metadata: ReturnType<Corner["meta"]>): Promise<OwnerReference> {
  const made = await api.create(ConfigMap, { metadata });
  return { apiVersion: "v1", kind: "ConfigMap", name: metadata.name, uid: uidOf(made) };
}
