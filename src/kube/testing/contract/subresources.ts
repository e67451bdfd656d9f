// The contract of the status subresource: two halves of an object that cannot be written through each other.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigMap, Pod } from "../../objects/kinds.ts";
import { Widget, refused, type Corner, versionOf } from "./ground.ts";

const status = { subresource: "status" } as const;

export function subresourceContract(corner: () => Corner): void {
  test("spec and status are written apart, and what lies in the other half is dropped", async () => {
    const { api, meta, key } = corner();
    const made = await api.create(Widget, { metadata: meta("a"), spec: { size: 1 }, status: { size: 9 } });
    assert.equal(made.status, undefined);

    const reported = await api.replace(Widget, { ...made, spec: { size: 7 }, status: { size: 1 } }, status);
    assert.deepEqual([reported.spec, reported.status], [{ size: 1 }, { size: 1 }]);
    assert.equal(reported.metadata?.generation, 1);

    const grown = await api.replace(Widget, { ...reported, spec: { size: 2 }, status: { size: 9 } });
    assert.deepEqual([grown.spec, grown.status], [{ size: 2 }, { size: 1 }]);
    assert.equal(grown.metadata?.generation, 2);

    const patch = { metadata: { labels: { not: "taken" } }, spec: { size: 8 }, status: { size: 2 } };
    const patched = await api.mergePatch(Widget, key("a"), patch, status);
    assert.deepEqual([patched.spec, patched.status], [{ size: 2 }, { size: 2 }]);
    assert.equal(patched.metadata?.labels?.["not"], undefined);

    const dropped = await api.mergePatch(Widget, key("a"), { status: { size: 9 } });
    assert.deepEqual(dropped.status, { size: 2 });
    assert.equal(versionOf(dropped), versionOf(patched));
  });

  test("a status is locked by the version of the whole object", async () => {
    const { api, meta, key } = corner();
    const made = await api.create(Widget, { metadata: meta("a"), spec: { size: 1 } });
    await api.mergePatch(Widget, key("a"), { spec: { size: 2 } });
    await refused(api.replace(Widget, { ...made, status: { size: 1 } }, status), 409, "Conflict");
    const stale = { metadata: { resourceVersion: versionOf(made) }, status: { size: 1 } };
    await refused(api.mergePatch(Widget, key("a"), stale, status), 409, "Conflict");
  });

  test("a status is applied in a manager's name, condition by condition", async () => {
    const { api, meta, key } = corner();
    await api.create(Widget, { metadata: meta("a"), spec: { size: 1 } });
    // The spec is left empty: one that differs would be dropped, but the real server then takes the apply for a
    // change and may write it, if only to note the time.
    const report = async (fieldManager: string, type: string, spec: Widget["spec"] = {}): Promise<Widget> =>
      await api.apply(
        Widget,
        { metadata: meta("a"), spec, status: { conditions: [{ type, status: "True" }] } },
        { ...status, fieldManager },
      );
    await report("one", "Ready");
    const both = await report("two", "Backed");
    assert.deepEqual(both.status?.conditions?.map((condition) => condition.type).sort(), ["Backed", "Ready"]);
    assert.equal(versionOf(await report("one", "Ready")), versionOf(both));
    const left = await report("two", "Ready", { size: 9 });
    assert.deepEqual(left.status?.conditions, [{ type: "Ready", status: "True" }]);
    assert.deepEqual(left.spec, { size: 1 });
    assert.deepEqual((await api.get(Widget, key("a"))).status, left.status);
  });

  test("the log of a pod that is not there is not found, and that of one that is on no node is empty", async () => {
    const { api, meta, key } = corner();
    const options = { container: "main", limitBytes: 1024 };
    await refused(api.log(key("a"), options), 404, "NotFound");
    const spec = { schedulerName: "nobody", containers: [{ name: "main", image: "nothing.invalid/at-all" }] };
    await api.create(Pod, { metadata: meta("a"), spec });
    assert.equal(await api.log(key("a"), options), "");
    await api.delete(Pod, key("a"), { gracePeriodSeconds: 0 });
  });

  test("a status is not applied to an object that is not there, nor a kind that has none", async () => {
    const { api, meta } = corner();
    const options = { ...status, fieldManager: "contract" };
    await refused(api.apply(Widget, { metadata: meta("a"), spec: {}, status: { size: 1 } }, options), 404, "NotFound");
    await api.create(ConfigMap, { metadata: meta("a") });
    await refused(api.replace(ConfigMap, { metadata: meta("a") }, status), 404, "NotFound");
  });
}
