import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Rule } from "../install/permissions.ts";
import { currentRules, places, type Rules } from "./last-release.ts";
import { permissionsDiff, permissionsSection } from "./permissions-diff.ts";

const none: Rules = { onClusters: [], onKubernetes: [], atHome: [], view: [], edit: [] };
const on = (...onClusters: Rule[]): Rules => ({ ...none, onClusters });
const rule = (group: string, resources: string, verbs: string, ...resourceNames: string[]): Rule => ({
  apiGroups: [group],
  resources: resources.split(" "),
  verbs: verbs.split(" "),
  ...(resourceNames.length > 0 && { resourceNames }),
});

interface Case {
  readonly name: string;
  readonly before: readonly Rule[];
  readonly after: readonly Rule[];
  /** `resource +verb -verb`. */
  readonly differs: readonly string[];
}

const cases: readonly Case[] = [
  { name: "the same rules", before: [rule("", "pods", "get")], after: [rule("", "pods", "get")], differs: [] },
  {
    name: "a verb more",
    before: [rule("", "pods", "get list")],
    after: [rule("", "pods", "get list delete")],
    differs: ["pods +delete"],
  },
  {
    name: "a rule that is split without another meaning",
    before: [rule("", "pods services", "get list")],
    after: [rule("", "services", "list get"), rule("", "pods", "get"), rule("", "pods", "list")],
    differs: [],
  },
  {
    name: "a resource less, and one of another group with the same name",
    before: [rule("", "events", "create")],
    after: [rule("events.k8s.io", "events", "create")],
    differs: ["events.events.k8s.io +create", "events -create"],
  },
  {
    name: "a subresource",
    before: [],
    after: [rule("apps", "deployments/scale", "patch")],
    differs: ["deployments.apps/scale +patch"],
  },
  {
    name: "names of objects instead of all",
    before: [rule("", "secrets", "get")],
    after: [rule("", "secrets", "get", "a", "b")],
    differs: ["secrets -get"],
  },
  {
    name: "all objects instead of names",
    before: [rule("", "secrets", "get", "a")],
    after: [rule("", "secrets", "get")],
    differs: ["secrets +get"],
  },
  {
    name: "a wildcard that is replaced by what is needed grants nothing new",
    before: [rule("*", "*", "*")],
    after: [rule("", "pods", "get")],
    differs: ["*.* -*"],
  },
  {
    name: "a wildcard grants more than what it covers",
    before: [rule("", "pods", "get")],
    after: [rule("", "pods", "*")],
    differs: ["pods +*"],
  },
];

describe("what differs between the permissions of two versions", () => {
  for (const { name, before, after, differs } of cases)
    test(name, () => {
      const found = permissionsDiff(on(...before), on(...after)).map(({ resource, granted, withdrawn }) =>
        [resource, ...granted.map((verb) => `+${verb}`), ...withdrawn.map((verb) => `-${verb}`)].join(" "),
      );
      assert.deepEqual(found, differs);
    });

  test("names where each permission holds", () => {
    const pods = [rule("", "pods", "get")];
    const changes = permissionsDiff({ ...none, atHome: pods }, { ...none, onClusters: pods });
    assert.deepEqual(changes, [
      { place: "onClusters", resource: "pods", granted: ["get"], withdrawn: [] },
      { place: "atHome", resource: "pods", granted: [], withdrawn: ["get"] },
    ]);
  });

  test("is nothing between this tree and itself, and everything at the first release", () => {
    assert.deepEqual(permissionsDiff(currentRules, currentRules), []);
    const all = permissionsDiff(none, currentRules);
    assert.deepEqual(new Set(all.map(({ place }) => place)), new Set(Object.keys(places)));
    assert.ok(all.some(({ resource, granted }) => resource === "pods" && granted.includes("delete")));
    assert.deepEqual(
      all.flatMap(({ withdrawn }) => withdrawn),
      [],
    );
  });
});

describe("a release note", () => {
  const changes = permissionsDiff(on(rule("", "pods", "get")), on(rule("", "pods", "get patch")));

  test("says that permissions are the same", () => {
    assert.equal(permissionsSection([], "0.1.0"), "The operator gets the same permissions as in 0.1.0.");
  });

  test("has a row for each difference, and says what to do", () => {
    const text = permissionsSection(changes, "0.1.0");
    assert.match(text, /^Permissions that differ from those of 0\.1\.0\. Apply the manifests/);
    assert.match(text, /^\| managed namespaces \| `pods` \| patch \| – \|$/m);
  });

  test("has all of them at the first release", () => {
    assert.match(permissionsSection(changes, undefined), /^This is the first release/);
  });
});
