// The contract of server-side apply: fields have owners, and an apply says all that its manager wants.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigMap, Deployment, Service } from "../../objects/kinds.ts";
import { Widget, refused, type Corner, versionOf } from "./ground.ts";

export function applyContract(corner: () => Corner): void {
  const apply = (
    { api, meta }: Corner,
    fieldManager: string,
    data: Record<string, string>,
    options: { force?: boolean } = {},
  ): Promise<ConfigMap> => api.apply(ConfigMap, { metadata: meta("a"), data }, { fieldManager, ...options });

  test("an apply creates what is not there, and the same again writes nothing", async () => {
    const at = corner();
    const made = await apply(at, "one", { a: "1" });
    assert.deepEqual(made.data, { a: "1" });
    const again = await apply(at, "one", { a: "1" });
    assert.equal(versionOf(again), versionOf(made));
    assert.deepEqual(managersOf(again), ["one Apply"]);
  });

  test("what a manager no longer applies is removed, and what others own stays", async () => {
    const at = corner();
    await apply(at, "one", { a: "1", b: "2" });
    await apply(at, "two", { b: "2", c: "3" });
    const left = await apply(at, "one", {});
    assert.deepEqual(left.data, { b: "2", c: "3" });
    const none = await apply(at, "two", {});
    assert.equal(none.data, undefined);
  });

  test("objects that are emptied by giving up their fields go too", async () => {
    const { api, meta } = corner();
    const options = { fieldManager: "one" };
    const full = { size: 1, tags: { a: "1", b: "2" }, steps: ["one"] };
    await api.apply(Widget, { metadata: meta("a", { annotations: { a: "1" } }), spec: full }, options);
    const fewer = await api.apply(Widget, { metadata: meta("a"), spec: { size: 1, tags: { a: "1" } } }, options);
    assert.deepEqual(fewer.spec, { size: 1, tags: { a: "1" } });
    assert.equal(fewer.metadata?.annotations, undefined);
    const bare = await api.apply(Widget, { metadata: meta("a"), spec: { size: 1 } }, options);
    assert.deepEqual(bare.spec, { size: 1 });
  });

  test("another manager's field is a Conflict that names field and owner, unless it is forced", async () => {
    const at = corner();
    await apply(at, "one", { a: "1", b: "1" });
    const error = await refused(apply(at, "two", { a: "2", c: "2" }), 409, "Conflict");
    assert.deepEqual(
      error.causes.map(({ reason, field }) => ({ reason, field })),
      [{ reason: "FieldManagerConflict", field: ".data.a" }],
    );
    assert.match(error.causes[0]?.message ?? "", /"one"/);
    assert.deepEqual((await at.api.get(ConfigMap, at.key("a"))).data, { a: "1", b: "1" });

    const forced = await apply(at, "two", { a: "2", c: "2" }, { force: true });
    assert.deepEqual(forced.data, { a: "2", b: "1", c: "2" });
    await refused(apply(at, "one", { a: "1", b: "1" }), 409, "Conflict");
    // The loser owns it no more: the winner alone keeps it, and takes it along.
    assert.deepEqual((await apply(at, "two", { c: "2" })).data, { b: "1", c: "2" });
  });

  test("the same value may be shared, and goes with its last owner", async () => {
    const at = corner();
    await apply(at, "one", { a: "1" });
    const shared = await apply(at, "two", { a: "1" });
    assert.deepEqual(managersOf(shared), ["one Apply", "two Apply"]);
    assert.deepEqual((await apply(at, "one", {})).data, { a: "1" });
    assert.equal((await apply(at, "two", {})).data, undefined);
  });

  test("fields of plain writes have owners too", async () => {
    const at = corner();
    const { api, meta, key } = at;
    await api.create(ConfigMap, { metadata: meta("a"), data: { a: "1" } }, { fieldManager: "maker" });
    await refused(apply(at, "one", { a: "2" }), 409, "Conflict");
    await apply(at, "one", { a: "2" }, { force: true });
    await api.mergePatch(ConfigMap, key("a"), { data: { a: "3" } }, { fieldManager: "patcher" });
    const error = await refused(apply(at, "two", { a: "2" }), 409, "Conflict");
    assert.equal(error.causes.length, 1, "whoever changes a value owns it alone");
    assert.match(error.causes[0]?.message ?? "", /"patcher"/);
    assert.deepEqual((await apply(at, "one", {})).data, { a: "3" });
  });

  test("an apply names its manager, and brings no owners of its own", async () => {
    const at = corner();
    await refused(apply(at, "", { a: "1" }), 422, "Invalid");
    const made = await apply(at, "one", { a: "1" });
    await refused(at.api.apply(ConfigMap, made, { fieldManager: "one" }), 400, "BadRequest");
  });

  test("an apply can be locked by a version", async () => {
    const at = corner();
    const { api, meta } = at;
    const made = await apply(at, "one", { a: "1" });
    const metadata = meta("a", { resourceVersion: versionOf(made) });
    await api.apply(ConfigMap, { metadata, data: { a: "2" } }, { fieldManager: "one" });
    await refused(api.apply(ConfigMap, { metadata, data: { a: "3" } }, { fieldManager: "one" }), 409, "Conflict");
  });

  test("owner references and finalizers are merged one by one", async () => {
    const at = corner();
    const { api, meta } = at;
    const owner = async (name: string): Promise<{ apiVersion: string; kind: string; name: string; uid: string }> => {
      const { metadata } = await api.create(ConfigMap, { metadata: meta(name) });
      return { apiVersion: "v1", kind: "ConfigMap", name: metadata?.name ?? "", uid: metadata?.uid ?? "" };
    };
    const [first, second] = [await owner("first"), await owner("second")];
    const own = async (fieldManager: string, reference: typeof first, finalizer: string): Promise<ConfigMap> =>
      await api.apply(
        ConfigMap,
        { metadata: meta("a", { ownerReferences: [reference], finalizers: [finalizer] }) },
        { fieldManager },
      );
    await own("one", first, "contract.test.invalid/one");
    const both = await own("two", second, "contract.test.invalid/two");
    assert.deepEqual(both.metadata?.ownerReferences, [first, second]);
    assert.deepEqual(both.metadata?.finalizers?.toSorted(), ["contract.test.invalid/one", "contract.test.invalid/two"]);
    const left = await api.apply(ConfigMap, { metadata: meta("a") }, { fieldManager: "one" });
    assert.deepEqual(left.metadata?.ownerReferences, [second]);
    assert.deepEqual(left.metadata?.finalizers, ["contract.test.invalid/two"]);
    await api.apply(ConfigMap, { metadata: meta("a") }, { fieldManager: "two" });
  });

  test("a list that no key tells apart is one value", async () => {
    const { api, meta } = corner();
    const steps = async (fieldManager: string, list: string[]): Promise<Widget> =>
      await api.apply(Widget, { metadata: meta("a"), spec: { steps: list } }, { fieldManager });
    await steps("one", ["a", "b"]);
    const error = await refused(steps("two", ["c"]), 409, "Conflict");
    assert.equal(error.causes[0]?.field, ".spec.steps");
    assert.deepEqual((await steps("one", ["b"])).spec.steps, ["b"]);
  });

  test("ports of a service and variables of a container are identified by their keys", async () => {
    const { api, meta, key } = corner();
    const serve = async (fieldManager: string, port: number): Promise<Service> =>
      await api.apply(
        Service,
        { metadata: meta("a"), spec: { clusterIP: "None", ports: [{ name: `p${port}`, port, protocol: "TCP" }] } },
        { fieldManager },
      );
    await serve("one", 2379);
    assert.deepEqual(portsOf(await serve("two", 2380)), [2379, 2380]);
    assert.deepEqual(portsOf(await serve("one", 2381)), [2380, 2381]);
    // An item goes with whoever brought it, even if another owns a field in it.
    const ports = [{ name: "p2380", port: 2380, protocol: "TCP", targetPort: 9 }];
    await api.mergePatch(Service, key("a"), { spec: { ports } }, { fieldManager: "patcher" });
    const left = await api.apply(Service, { metadata: meta("a"), spec: {} }, { fieldManager: "two" });
    assert.equal(left.spec?.ports, undefined);

    const labels = { app: meta("a").name };
    const run = async (fieldManager: string, variable: string): Promise<string[]> => {
      const container = { name: "c", image: "none.invalid/none:1", env: [{ name: variable, value: "1" }] };
      const template = { metadata: { labels }, spec: { containers: [container] } };
      const spec = { replicas: 0, selector: { matchLabels: labels }, template };
      const made = await api.apply(Deployment, { metadata: meta("a"), spec }, { fieldManager });
      return (made.spec?.template.spec?.containers[0]?.env ?? []).map(({ name }) => name).sort();
    };
    await run("one", "A");
    assert.deepEqual(await run("two", "B"), ["A", "B"]);
    assert.deepEqual(await run("one", "C"), ["B", "C"]);
  });
}

function managersOf(object: ConfigMap): string[] {
  return (object.metadata?.managedFields ?? []).map((entry) => `${entry.manager} ${entry.operation}`).sort();
}

function portsOf(service: Service): number[] {
  return (service.spec?.ports ?? []).map(({ port }) => port).sort((a, b) => a - b);
}
