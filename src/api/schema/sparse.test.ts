// What is left of an object without its defaults: the same for objects that mean the same, and enough to complete it.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { specSchema } from "../etcd-cluster/spec.ts";
import { statusSchema } from "../etcd-cluster/status.ts";
import { oldManifests } from "../etcd-cluster/testing/old-manifests.ts";
import { complete } from "./complete.ts";
import { array, boolean, defaulted, filled, integer, map, object, required, string, type Schema } from "./schema.ts";
import { sparse } from "./sparse.ts";

const text = JSON.stringify;
const plain = { noNullPrototype: true };

/** Has what no kind of ours has yet: lists of objects with defaults, maps of numbers with defaults, nested options. */
const everyShape = object("All shapes.", {
  list: array("Objects.", object("One.", { n: defaulted(1, integer("A number.")), s: string("A text.") })),
  words: defaulted([], array("Texts.", string("A text."))),
  numbers: map("Numbers.", defaulted(7, integer("A number."))),
  need: required(0, integer("Needed.")),
  inner: object("May be absent, and has a default inside.", { on: defaulted(true, boolean("A switch.")) }),
  full: filled(object("Is always there.", { size: defaulted(3, integer("A number.")), note: string("A text.") })),
});

/** JSON that often has the names, and now and then the types, of the schema's fields. */
function valuesFor(schema: Schema): fc.Arbitrary<unknown> {
  const { shape } = schema;
  const odd = fc.constantFrom<unknown>(null, undefined, "", 0, 1, true, "x", [], {});
  const right = ((): fc.Arbitrary<unknown> => {
    switch (shape.t) {
      case "string":
        return fc.constantFrom(...(shape.oneOf ?? ["a", "b"]), "");
      case "integer":
        return fc.integer({ min: 0, max: 9 });
      case "boolean":
        return fc.boolean();
      case "array":
        return fc.array(valuesFor(shape.items), { maxLength: 3 });
      case "map":
        return fc.dictionary(fc.constantFrom("a", "b"), valuesFor(shape.values), plain);
      case "object": {
        const fields = Object.entries(shape.fields).map(([name, inner]) => [name, valuesFor(inner)] as const);
        return fc.record(Object.fromEntries(fields), { requiredKeys: [], ...plain });
      }
      case "embedded":
        return shape.type === "object"
          ? fc.dictionary(fc.constantFrom("a", "b"), fc.constantFrom<unknown>(null, {}, 1, { d: 1, c: 2 }), plain)
          : fc.array(fc.constantFrom<unknown>({}, { b: 1, a: 2 }, "x"), { maxLength: 2 });
      case "ignored":
        break;
    }
    return odd;
  })();
  const fallback = schema.default === undefined ? [] : [{ arbitrary: fc.constant<unknown>(schema.default), weight: 2 }];
  return fc.oneof({ arbitrary: right, weight: 8 }, { arbitrary: odd, weight: 1 }, ...fallback);
}

const schemas = { specSchema, statusSchema, everyShape };

for (const [name, schema] of Object.entries<Schema<unknown, object>>(schemas))
  describe(`an object of ${name} without its defaults`, () => {
    it("completes to the same object", () => {
      fc.assert(
        fc.property(valuesFor(schema), (value) => {
          assert.deepEqual(complete(schema, sparse(schema, value)), complete(schema, value));
        }),
        { numRuns: 500 },
      );
    });

    it("is the same whether the defaults were written or not, down to the order of keys", () => {
      fc.assert(
        fc.property(valuesFor(schema), (value) => {
          assert.equal(text(sparse(schema, complete(schema, value))), text(sparse(schema, value)));
          assert.equal(text(sparse(schema, sparse(schema, value))), text(sparse(schema, value)));
        }),
        { numRuns: 500 },
      );
    });
  });

it("keeps nothing of a spec that only spells out defaults, empties and nulls", () => {
  const spec = {
    repository: "quay.io/coreos/etcd",
    paused: false,
    pod: { labels: {}, tolerations: [], resources: {}, antiAffinity: false, terminationGracePeriodSeconds: 5 },
    etcd: { extraArgs: [] },
    TLS: { static: { member: {} } },
    failover: { unreachableAfterSeconds: 60 },
  };
  assert.deepEqual(sparse(specSchema, spec), {});
});

it("sorts the keys of Kubernetes' own types", () => {
  const pod = { affinity: { podAffinity: { y: 1, x: [{ d: 1, c: 2 }] }, nodeAffinity: {} } };
  assert.equal(
    text(sparse(specSchema, { pod })),
    '{"pod":{"affinity":{"nodeAffinity":{},"podAffinity":{"x":[{"c":2,"d":1}],"y":1}}}}',
  );
});

it("is what it was when a release adds a field with a default", () => {
  const before = object("As it was.", {
    a: string("A."),
    pod: filled(object("Pod.", { b: defaulted(1, integer("B.")) })),
  });
  const after = object("As it is.", {
    zone: defaulted("any", string("New.")),
    a: string("A."),
    pod: filled(object("Pod.", { c: defaulted(false, boolean("New.")), b: defaulted(1, integer("B.")) })),
    new: filled(object("New.", { d: defaulted(4, integer("New.")) })),
  });
  for (const stored of [{}, { a: "x" }, { pod: { b: 2 } }, { a: "x", pod: { b: 1 } }])
    assert.equal(text(sparse(after, complete(after, stored))), text(sparse(before, complete(before, stored))));
});

it("tells every two manifests of etcd-operator 0.9 apart that are not the same", () => {
  const different = oldManifests.filter(({ what }) => /^(the smallest|with TLS|with every setting)/.test(what));
  const seen = new Set(different.map(({ object: manifest }) => text(sparse(specSchema, manifest["spec"]))));
  assert.equal(seen.size, different.length);
});
