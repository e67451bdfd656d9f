// The contract of get and list: what is found, by which selectors, and pages that show one moment.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "../../client/api.ts";
import { ConfigMap, Pod } from "../../objects/kinds.ts";
import { Unknown, Widget, refused, type Corner, versionOf } from "./ground.ts";

export function listContract(corner: () => Corner): void {
  test("what is read says what it is, and has what the server gave it", async () => {
    const { api, meta, key } = corner();
    await api.create(ConfigMap, { metadata: meta("a"), data: { one: "1" } });
    const read = await api.get(ConfigMap, key("a"));
    assert.equal(read.apiVersion, "v1");
    assert.equal(read.kind, "ConfigMap");
    assert.deepEqual(read.data, { one: "1" });
    assert.match(read.metadata?.uid ?? "", /^[0-9a-f-]{36}$/);
    assert.match(read.metadata?.resourceVersion ?? "", /^[1-9]\d*$/);
    assert.match(read.metadata?.creationTimestamp ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  });

  test("an object that is not there is NotFound", async () => {
    const { api, key } = corner();
    await refused(api.get(ConfigMap, key("none")), 404, "NotFound");
    await refused(api.delete(ConfigMap, key("none")), 404, "NotFound");
    await refused(api.mergePatch(ConfigMap, key("none"), { data: { a: "1" } }), 404, "NotFound");
  });

  test("a kind that is not served is NotFound, whatever is asked of it", async () => {
    const { api, meta, key, namespace } = corner();
    await refused(api.get(Unknown, key("a")), 404, "NotFound");
    await refused(api.list(Unknown, { namespace }), 404, "NotFound");
    await refused(api.create(Unknown, { metadata: meta("a") }), 404, "NotFound");
    await refused(api.apply(Unknown, { metadata: meta("a") }, { fieldManager: "contract" }), 404, "NotFound");
    const { signal } = new AbortController();
    const watching = api.watch(Unknown, { namespace, resourceVersion: "0", signal }, () => undefined);
    await refused(watching, 404, "NotFound");
  });

  test("label selectors choose by equality, set and presence", async () => {
    const { api, meta, namespace, label } = corner();
    for (const [name, labels] of Object.entries({
      red: { colour: "red", hot: "" },
      blue: { colour: "blue" },
      plain: {},
    })) {
      await api.create(ConfigMap, { metadata: meta(name, { labels }) });
    }
    const chosen: Record<string, string[]> = {
      "colour=red": ["red"],
      "colour==blue": ["blue"],
      "colour!=red": ["blue", "plain"],
      "colour in (red, blue)": ["blue", "red"],
      "colour notin (red)": ["blue", "plain"],
      colour: ["blue", "red"],
      "!colour": ["plain"],
      "colour,hot": ["red"],
      "colour in (red,blue),!hot": ["blue"],
      "hot=": ["red"],
    };
    for (const [selector, names] of Object.entries(chosen)) {
      const { items } = await api.list(ConfigMap, { namespace, labelSelector: `corner=${label},${selector}` });
      assert.deepEqual(namesOf(items), names.map((name) => `${label}-${name}`).sort(), selector);
    }
  });

  test("a selector that cannot be read is a bad request", async () => {
    const { api, namespace } = corner();
    await refused(api.list(ConfigMap, { namespace, labelSelector: "a in (b" }), 400, "BadRequest");
    await refused(api.list(ConfigMap, { namespace, fieldSelector: "data.a=b" }), 400, "BadRequest");
  });

  test("field selectors choose by name, and pods by node and phase", async () => {
    const { api, meta, key, selection } = corner();
    await api.create(ConfigMap, { metadata: meta("a") });
    await api.create(ConfigMap, { metadata: meta("b") });
    const byName = await api.list(ConfigMap, { ...selection(), fieldSelector: `metadata.name=${key("a").name}` });
    assert.deepEqual(namesOf(byName.items), [key("a").name]);
    const others = await api.list(ConfigMap, { ...selection(), fieldSelector: `metadata.name!=${key("a").name}` });
    assert.deepEqual(namesOf(others.items), [key("b").name]);

    // No scheduler of that name: the pod stays pending, without a node.
    const spec = { schedulerName: "nobody", containers: [{ name: "c", image: "none.invalid/none:1" }] };
    await api.create(Pod, { metadata: meta("p"), spec });
    const count = async (fieldSelector: string): Promise<number> =>
      (await api.list(Pod, { ...selection(), fieldSelector })).items.length;
    assert.equal(await count("status.phase=Pending,spec.nodeName="), 1);
    assert.equal(await count("status.phase=Running"), 0);
    assert.equal(await count("spec.nodeName!="), 0);
    await api.delete(Pod, key("p"), { gracePeriodSeconds: 0 });
  });

  test("a list without a namespace holds what all namespaces have", async () => {
    const { api, meta, label } = corner();
    await api.create(ConfigMap, { metadata: meta("a") });
    const { items } = await api.list(ConfigMap, { labelSelector: `corner=${label}` });
    assert.deepEqual(namesOf(items), [`${label}-a`]);
  });

  test("items of a list say what they are in custom kinds only", async () => {
    const { api, meta, selection } = corner();
    await api.create(ConfigMap, { metadata: meta("a") });
    await api.create(Widget, { metadata: meta("a"), spec: {} });
    const [builtIn] = (await api.list(ConfigMap, selection())).items;
    assert.deepEqual([builtIn?.apiVersion, builtIn?.kind], [undefined, undefined]);
    const [custom] = (await api.list(Widget, selection())).items;
    assert.deepEqual([custom?.apiVersion, custom?.kind], ["contract.test.invalid/v1", "Widget"]);
  });

  test("all pages of a list show one moment, whatever is written between them", async () => {
    const { api, meta, key, selection } = corner();
    const names = ["a", "b", "c", "d", "e"];
    for (const name of names) await api.create(ConfigMap, { metadata: meta(name), data: { is: "old" } });
    const first = await api.list(ConfigMap, { ...selection(), limit: 2 });
    assert.equal(first.items.length, 2);
    assert.ok(first.continue !== undefined);

    await api.delete(ConfigMap, key("c"));
    await api.mergePatch(ConfigMap, key("d"), { data: { is: "new" } });
    await api.create(ConfigMap, { metadata: meta("f") });

    const pages = [first];
    let next: string | undefined = first.continue;
    while (next !== undefined && pages.length < 10) {
      const page: Page<ConfigMap> = await api.list(ConfigMap, { ...selection(), limit: 2, continue: next });
      pages.push(page);
      next = page.continue;
    }
    const items = pages.flatMap((page) => page.items);
    assert.deepEqual(
      namesOf(items),
      names.map((name) => key(name).name),
    );
    assert.ok(items.every((item) => item.data?.["is"] === "old"));
    assert.equal(new Set(pages.map((page) => page.resourceVersion)).size, 1);
    assert.equal(pages.at(-1)?.continue, undefined);
  });

  test("a page token that no server gave out is a bad request", async () => {
    const { api, namespace } = corner();
    await refused(api.list(ConfigMap, { namespace, limit: 1, continue: "nonsense" }), 400, "BadRequest");
  });

  test("a list never shows a version older than asked for", async () => {
    const { api, meta, key, selection } = corner();
    await api.create(ConfigMap, { metadata: meta("a"), data: { is: "old" } });
    const changed = await api.mergePatch(ConfigMap, key("a"), { data: { is: "new" } });
    const present = await api.list(ConfigMap, {
      ...selection(),
      resourceVersion: versionOf(changed),
      resourceVersionMatch: "NotOlderThan",
    });
    assert.equal(present.items[0]?.data?.["is"], "new");
  });

  test("a page or version that cannot be is refused", async () => {
    const { api, namespace } = corner();
    await refused(api.list(ConfigMap, { namespace, resourceVersion: "abc" }), 400, "BadRequest");
    await refused(api.list(ConfigMap, { namespace, resourceVersionMatch: "NotOlderThan" }), 422, "Invalid");
  });

  test("a list of a version that the server does not have yet is refused", async () => {
    const { api, selection } = corner();
    const { resourceVersion } = await api.list(ConfigMap, selection());
    const future = String(Number(resourceVersion) + 1_000_000);
    // The server waits three seconds for that version; the deadline leaves no time for asking again.
    const asked = { ...selection(), resourceVersion: future, deadline: 3800 };
    const error = await refused(api.list(ConfigMap, asked), 504, "Timeout");
    assert.ok(error.causes.some((cause) => cause.reason === "ResourceVersionTooLarge"));
  });
}

function namesOf(items: readonly { metadata?: { name?: string } }[]): string[] {
  return items.map((item) => item.metadata?.name ?? "").sort();
}
