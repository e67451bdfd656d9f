// What k9s is given fits the CRDs: kinds that exist, and a key of its own for each plugin of a kind.
import assert from "node:assert/strict";
import { test } from "node:test";
import { kinds } from "../../src/api/kinds.ts";
import { plugins } from "./k9s.ts";

const plurals = new Set(kinds.map(({ kind }) => kind.plural));
/** The variables of k9s; every other name in an argument is refused when the key is pressed. */
const variables = new Set(["NAMESPACE", "CONTEXT", "NAME", "RESOURCE_NAME", "RESOURCE_GROUP"]);

test("plugins are for kinds that exist, and no two of a kind have the same key", () => {
  const keys = Object.values(plugins).flatMap(({ scopes, shortCut }) => scopes.map((scope) => `${scope} ${shortCut}`));
  assert.equal(new Set(keys).size, keys.length);
  for (const { scopes } of Object.values(plugins))
    assert.deepEqual(
      scopes.filter((scope) => !plurals.has(scope)),
      [],
    );
});

test("arguments use variables that k9s has", () => {
  const used = Object.values(plugins).flatMap(({ args }) =>
    args.flatMap((arg) => [...arg.matchAll(/\$([\w|-]+)/g)].map(([, name = ""]) => name)),
  );
  assert.deepEqual(
    used.filter((name) => !variables.has(name)),
    [],
  );
});

test("whatever changes something is asked for first", () => {
  const changing = Object.entries(plugins).filter(([, { args }]) => /\b(annotate|patch|delete)\b/.test(args.join(" ")));
  assert.ok(changing.length > 0);
  for (const [name, { confirm }] of changing) assert.equal(confirm, true, name);
});
