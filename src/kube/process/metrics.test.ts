import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { Registry, type Labels } from "./metrics.ts";

interface Sample {
  name: string;
  labels: Labels;
  value: number;
}

/** Reads the text format as its specification has it, and fails on anything that is not. */
function parse(text: string): { samples: Sample[]; types: Map<string, string> } {
  assert.ok(text === "" || text.endsWith("\n"), "the last line must end with a line feed");
  const types = new Map<string, string>();
  const samples: Sample[] = [];
  for (const line of text.split("\n").slice(0, -1)) {
    const type = /^# TYPE (\S+) (counter|gauge|histogram)$/.exec(line);
    if (type) types.set(type[1]!, type[2]!);
    if (line.startsWith("#")) {
      assert.match(line, /^# (HELP|TYPE) [a-zA-Z_:][\w:]* /);
      continue;
    }
    const sample = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
    assert.ok(sample, `not a sample: ${line}`);
    const labels: Record<string, string> = {};
    let rest = sample[2] ?? "";
    while (rest !== "") {
      const label = /^([a-zA-Z_]\w*)="((?:[^"\\]|\\["\\n])*)"(?:,|$)/.exec(rest);
      assert.ok(label, `not labels: ${rest}`);
      const unescaped = label[2]!.replace(/\\(.)/g, (_, c: string) => (c === "n" ? "\n" : c));
      labels[label[1]!] = unescaped;
      rest = rest.slice(label[0].length);
    }
    const value = sample[3] === "+Inf" ? Infinity : Number(sample[3]);
    assert.ok(!Number.isNaN(value), `not a number: ${line}`);
    samples.push({ name: sample[1]!, labels, value });
  }
  return { samples, types };
}

test("counters and gauges show one sample for each combination of labels, in whatever order these are given", () => {
  const registry = new Registry();
  const requests = registry.counter({ name: "requests_total", help: "Requests,\nby verb \\ code." });
  requests.add({ verb: "get", code: "200" });
  requests.add({ code: "200", verb: "get" }, 2);
  requests.add({ verb: "get", code: "404" });
  const depth = registry.gauge({ name: "depth", help: "Depth." });
  depth.set({}, 5);
  depth.set({}, 4);
  assert.equal(
    registry.text(),
    [
      "# HELP requests_total Requests,\\nby verb \\\\ code.",
      "# TYPE requests_total counter",
      'requests_total{code="200",verb="get"} 3',
      'requests_total{code="404",verb="get"} 1',
      "# HELP depth Depth.",
      "# TYPE depth gauge",
      "depth 4",
      "",
    ].join("\n"),
  );
});

test("names that are taken or malformed, and counters that go down, are refused", () => {
  const registry = new Registry();
  const a = registry.counter({ name: "a", help: "" });
  assert.throws(() => registry.gauge({ name: "a", help: "" }), RangeError);
  assert.throws(() => registry.gauge({ name: "a-b", help: "" }), RangeError);
  assert.throws(() => a.add({}, -1), RangeError);
  assert.throws(() => a.add({}, Number.NaN), RangeError);
});

test("values that are looked up come at the moment of the scrape", () => {
  const registry = new Registry();
  const gauge = registry.gauge({ name: "now", help: "" });
  let now = 0;
  registry.onScrape(() => gauge.set({}, (now += 1)));
  registry.text();
  assert.deepEqual(parse(registry.text()).samples, [{ name: "now", labels: {}, value: 2 }]);
});

test("any label value survives the way through the text format", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary" }).filter((s) => !/[\r\u2028\u2029]/.test(s)),
      (value) => {
        const registry = new Registry();
        registry.counter({ name: "c", help: value }).add({ path: value });
        assert.deepEqual(parse(registry.text()).samples, [{ name: "c", labels: { path: value }, value: 1 }]);
      },
    ),
  );
});

test("a histogram's buckets are cumulative, end in +Inf and agree with its sum and count", () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 20, noNaN: true })), (values) => {
      const registry = new Registry();
      const h = registry.histogram({ name: "h", help: "", buckets: [10, 0.1, 1] });
      for (const value of values) h.observe({ a: "b" }, value);
      const { samples, types } = parse(registry.text());
      assert.equal(types.get("h"), "histogram");
      const expected =
        values.length === 0
          ? []
          : [
              ...[0.1, 1, 10, Infinity].map((le) => ({
                name: "h_bucket",
                labels: { a: "b", le: le === Infinity ? "+Inf" : String(le) },
                value: values.filter((value) => value <= le).length,
              })),
              { name: "h_sum", labels: { a: "b" }, value: values.reduce((a, b) => a + b, 0) },
              { name: "h_count", labels: { a: "b" }, value: values.length },
            ];
      assert.deepEqual(samples, expected);
    }),
  );
});
