// The contract of create, replace and merge patch: who wins, what is refused, what counts as a change.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigMap, Lease, Secret } from "../../objects/kinds.ts";
import { Widget, refused, type Corner, uidOf, versionOf } from "./ground.ts";

export function writeContract(corner: () => Corner): void {
  test("a name can be taken once, and AlreadyExists is no Conflict", async () => {
    const { api, meta } = corner();
    await api.create(ConfigMap, { metadata: meta("a") });
    await refused(api.create(ConfigMap, { metadata: meta("a") }), 409, "AlreadyExists");
  });

  test("the server makes up a name that begins as asked", async () => {
    const { api, namespace, label } = corner();
    const metadata = { namespace, generateName: `${label}-made-` };
    const [one, two] = await Promise.all([api.create(ConfigMap, { metadata }), api.create(ConfigMap, { metadata })]);
    for (const made of [one, two]) assert.match(made.metadata?.name ?? "", new RegExp(`^${label}-made-[a-z0-9]{5}$`));
    assert.notEqual(one.metadata?.name, two.metadata?.name);
  });

  test("identity and times are the server's to give", async () => {
    const { api, meta } = corner();
    const asked = { uid: "11111111-1111-1111-1111-111111111111", creationTimestamp: "2001-01-01T00:00:00Z" };
    const made = await api.create(ConfigMap, {
      metadata: meta("a", { ...asked, generation: 7, deletionTimestamp: asked.creationTimestamp }),
    });
    assert.notEqual(made.metadata?.uid, asked.uid);
    assert.notEqual(made.metadata?.creationTimestamp, asked.creationTimestamp);
    assert.equal(made.metadata?.deletionTimestamp, undefined);
    const replaced = await api.replace(ConfigMap, {
      ...made,
      metadata: { ...made.metadata, creationTimestamp: asked.creationTimestamp },
      data: { a: "1" },
    });
    assert.equal(replaced.metadata?.creationTimestamp, made.metadata?.creationTimestamp);
  });

  test("an object that has a version already is not created", async () => {
    const { api, meta } = corner();
    const metadata = meta("a", { resourceVersion: "5" });
    await refused(api.create(ConfigMap, { metadata }), 500, "InternalError");
  });

  test("names and labels that Kubernetes does not know are Invalid", async () => {
    const { api, meta, namespace } = corner();
    await refused(api.create(ConfigMap, { metadata: { namespace, name: "Not_A_Name" } }), 422, "Invalid");
    await refused(api.create(ConfigMap, { metadata: meta("a", { labels: { a: "not a label" } }) }), 422, "Invalid");
    await refused(api.create(ConfigMap, { metadata: meta("a", { labels: { a: "x".repeat(64) } }) }), 422, "Invalid");
  });

  test("an object of the schema's forbidding is Invalid", async () => {
    const { api, meta, key } = corner();
    await refused(api.create(Widget, { metadata: meta("a"), spec: { size: -1 } }), 422, "Invalid");
    await api.create(Widget, { metadata: meta("a"), spec: { size: 1 } });
    await refused(api.mergePatch(Widget, key("a"), { spec: { size: -1 } }), 422, "Invalid");
    const negative = { metadata: meta("a"), spec: { size: -1 } };
    await refused(api.apply(Widget, negative, { fieldManager: "contract", force: true }), 422, "Invalid");
  });

  test("of two who replace the same version the second gets a Conflict", async () => {
    const { api, meta } = corner();
    const read = await api.create(ConfigMap, { metadata: meta("a"), data: { by: "nobody" } });
    const first = await api.replace(ConfigMap, { ...read, data: { by: "first" } });
    assert.notEqual(versionOf(first), versionOf(read));
    await refused(api.replace(ConfigMap, { ...read, data: { by: "second" } }), 409, "Conflict");
  });

  test("a replace that names another uid is a Conflict", async () => {
    const { api, meta } = corner();
    await api.create(ConfigMap, { metadata: meta("a") });
    const metadata = meta("a", { uid: "11111111-1111-1111-1111-111111111111" });
    await refused(api.replace(ConfigMap, { metadata, data: { a: "1" } }), 409, "Conflict");
  });

  test("a replace of what is not there is NotFound, but makes a Lease", async () => {
    const { api, meta } = corner();
    await refused(api.replace(ConfigMap, { metadata: meta("a") }), 404, "NotFound");
    await refused(api.replace(Widget, { metadata: meta("a"), spec: {} }), 404, "NotFound");
    const lease = await api.replace(Lease, { metadata: meta("a"), spec: { holderIdentity: "me" } });
    assert.equal(lease.spec?.holderIdentity, "me");
  });

  test("a replace without a version overwrites a ConfigMap, and is Invalid for a Lease and a custom object", async () => {
    const { api, meta } = corner();
    await api.create(ConfigMap, { metadata: meta("a"), data: { a: "1" } });
    const replaced = await api.replace(ConfigMap, { metadata: meta("a"), data: { b: "2" } });
    assert.deepEqual(replaced.data, { b: "2" });
    await api.create(Widget, { metadata: meta("a"), spec: {} });
    await refused(api.replace(Widget, { metadata: meta("a"), spec: { size: 1 } }), 422, "Invalid");
    await api.create(Lease, { metadata: meta("a"), spec: {} });
    await refused(api.replace(Lease, { metadata: meta("a"), spec: { holderIdentity: "me" } }), 422, "Invalid");
  });

  test("a version does not keep a gone object from being recreated by apply or the PUT of a Lease, a uid does", async () => {
    const { api, meta } = corner();
    const uid = "11111111-1111-1111-1111-111111111111";
    const manager = { fieldManager: "contract" };
    await refused(api.apply(ConfigMap, { metadata: meta("a", { uid }) }, manager), 409, "Conflict");
    const applied = await api.apply(ConfigMap, { metadata: meta("a", { resourceVersion: "5" }) }, manager);
    assert.notEqual(versionOf(applied), "5");
    await refused(api.apply(ConfigMap, { metadata: meta("a", { uid }) }, manager), 422, "Invalid");
    await refused(api.replace(Lease, { metadata: meta("a", { uid }), spec: {} }), 409, "Conflict");
    const put = await api.replace(Lease, { metadata: meta("a", { resourceVersion: "5" }), spec: {} });
    assert.notEqual(versionOf(put), "5");
  });

  test("the strings of a secret come back as data", async () => {
    const { api, meta, key } = corner();
    await api.create(Secret, { metadata: meta("a"), stringData: { a: "x" } });
    const { data, stringData, type } = await api.get(Secret, key("a"));
    assert.deepEqual({ data, stringData, type }, { data: { a: "eA==" }, stringData: undefined, type: "Opaque" });
  });

  test("a write that changes nothing leaves the version alone", async () => {
    const { api, meta, key } = corner();
    const made = await api.create(ConfigMap, { metadata: meta("a"), data: { a: "1" } });
    assert.equal(versionOf(await api.replace(ConfigMap, made)), versionOf(made));
    assert.equal(versionOf(await api.mergePatch(ConfigMap, key("a"), { data: { a: "1" } })), versionOf(made));
  });

  test("a merge patch merges objects, removes with null and replaces lists", async () => {
    const { api, meta, key } = corner();
    const spec = { note: "old", size: 1, tags: { keep: "1", drop: "2" }, steps: ["one", "two"] };
    await api.create(Widget, { metadata: meta("a", { annotations: { drop: "1" } }), spec });
    const patched = await api.mergePatch(Widget, key("a"), {
      metadata: { annotations: null },
      spec: { note: null, size: 2, tags: { drop: null, add: "3" }, steps: ["three"] },
    });
    assert.deepEqual(patched.spec, { size: 2, tags: { keep: "1", add: "3" }, steps: ["three"] });
    assert.equal(patched.metadata?.annotations, undefined);
    assert.deepEqual((await api.get(Widget, key("a"))).spec, patched.spec);
  });

  test("a merge patch with a version is a lock, with another's uid Invalid", async () => {
    const { api, meta, key } = corner();
    const made = await api.create(ConfigMap, { metadata: meta("a"), data: { a: "1" } });
    const locked = { metadata: { uid: uidOf(made), resourceVersion: versionOf(made) }, data: { a: "2" } };
    assert.deepEqual((await api.mergePatch(ConfigMap, key("a"), locked)).data, { a: "2" });
    await refused(api.mergePatch(ConfigMap, key("a"), { ...locked, data: { a: "3" } }), 409, "Conflict");
    const unlocked = { metadata: { resourceVersion: "0" }, data: { a: "2" } };
    assert.deepEqual((await api.mergePatch(ConfigMap, key("a"), unlocked)).data, { a: "2" });
    const renamed = { metadata: { name: key("b").name } };
    await refused(api.mergePatch(ConfigMap, key("a"), renamed), 400, "BadRequest");
    const other = { metadata: { uid: "11111111-1111-1111-1111-111111111111" }, data: { a: "4" } };
    await refused(api.mergePatch(ConfigMap, key("a"), other), 422, "Invalid");
    assert.deepEqual((await api.get(ConfigMap, key("a"))).data, { a: "2" });
  });

  test("the generation counts changes of the spec, not of labels or annotations", async () => {
    const { api, meta, key } = corner();
    const made = await api.create(Widget, { metadata: meta("a"), spec: { size: 1 } });
    assert.equal(made.metadata?.generation, 1);
    const labelled = await api.mergePatch(Widget, key("a"), { metadata: { annotations: { a: "1" } } });
    assert.equal(labelled.metadata?.generation, 1);
    const grown = await api.mergePatch(Widget, key("a"), { spec: { size: 2 } });
    assert.equal(grown.metadata?.generation, 2);
    // Kinds that nobody needs to follow up have none.
    await api.create(ConfigMap, { metadata: meta("a") });
    const patched = await api.mergePatch(ConfigMap, key("a"), { data: { a: "1" } });
    assert.equal(patched.metadata?.generation, undefined);
  });

  test("a dry run answers as if, and writes nothing", async () => {
    const { api, meta, key } = corner();
    const dryRun = true;
    const made = await api.create(ConfigMap, { metadata: meta("a"), data: { a: "1" } }, { dryRun });
    assert.deepEqual(made.data, { a: "1" });
    await refused(api.get(ConfigMap, key("a")), 404, "NotFound");

    const real = await api.create(ConfigMap, { metadata: meta("a"), data: { a: "1" } });
    const patched = await api.mergePatch(ConfigMap, key("a"), { data: { a: "2" } }, { dryRun });
    assert.deepEqual(patched.data, { a: "2" });
    const replaced = await api.replace(ConfigMap, { ...real, data: { a: "3" } }, { dryRun });
    assert.deepEqual(replaced.data, { a: "3" });
    const apply = { metadata: meta("a"), data: { b: "4" } };
    const applied = await api.apply(ConfigMap, apply, { fieldManager: "contract", dryRun });
    assert.deepEqual(applied.data, { a: "1", b: "4" });
    await api.delete(ConfigMap, key("a"), { dryRun });
    const now = await api.get(ConfigMap, key("a"));
    assert.deepEqual(now.data, { a: "1" });
    assert.equal(versionOf(now), versionOf(real));
    await refused(api.create(ConfigMap, { metadata: meta("a") }, { dryRun }), 409, "AlreadyExists");
  });

  test("a MicroTime has exactly six digits after the second", async () => {
    const { api, meta } = corner();
    const lease = (renewTime: string): Lease => ({ metadata: meta("a"), spec: { renewTime } });
    await refused(api.create(Lease, lease("2026-01-02T03:04:05.123Z")), 400, "BadRequest");
    await refused(api.create(Lease, lease("2026-01-02T03:04:05Z")), 400, "BadRequest");
    const made = await api.create(Lease, lease("2026-01-02T03:04:05.123456Z"));
    assert.equal(made.spec?.renewTime, "2026-01-02T03:04:05.123456Z");
  });
}
