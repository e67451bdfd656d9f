// What is concluded from the answers of all members together.
import assert from "node:assert/strict";
import { test } from "node:test";
import { formatVersion } from "../../etcd/versions/version.ts";
import { gone, learner, voter } from "../testing/plan-table.ts";
import { settingsOf } from "../objects/settings.ts";
import {
  type SampleMember,
  type SampleWorld,
  sampleCluster,
  sampleId,
  sampleNow,
  sampleWorld,
} from "../testing/sample-world.ts";
import { assess } from "./assess.ts";
import type { Desired } from "./desired.ts";

const assessed = (members: readonly SampleMember[], more: SampleWorld = {}) =>
  assess(sampleWorld({ members, ...more }), sampleNow);

test("the leader is whom the member of the highest term calls so, if it can be believed", () => {
  const old = voter("a", { raftTerm: 2, follows: "a" });
  const young = voter("b", { raftTerm: 3, follows: "b" });
  for (const members of [
    [old, young],
    [young, old],
  ])
    assert.equal(assessed(members).leader, sampleId("b"));
  assert.equal(assessed([old, { ...young, wiped: true }]).leader, sampleId("a"));
  assert.equal(assessed([voter("a", { silent: true })]).leader, undefined);
});

test("a cluster admits as many learners as the voter that admits the fewest, and those that are gone count for nothing", () => {
  const without = { maxLearners: undefined };
  const table: [SampleMember[], number][] = [
    [[voter("a"), voter("b")], 8],
    [[voter("a"), voter("b", { pod: without })], 1],
    [[voter("a"), gone("b")], 8],
    [[voter("a"), voter("b", { pod: undefined })], 1],
    [[voter("a"), voter("b", { silent: true, pod: { version: "3.5.35" } })], 1],
    [[voter("a"), learner("b", { pod: without })], 8],
  ];
  for (const [members, wanted] of table) assert.equal(assessed(members).learnersAdmitted, wanted);
});

test("a cluster can do what its oldest member can, and before one answers what the spec asks for", () => {
  const version = (...of: Parameters<typeof assessed>) => formatVersion(assessed(...of).version);
  assert.equal(version([voter("a"), voter("b", { version: "3.5.35" })]), "3.5.35");
  assert.equal(version([], { etcd: "nobody", version: "3.7.3" }), "3.7.3");
  assert.equal(version([], { etcd: "nobody", version: "latest" }), "3.2.0");
});

test("a downgrade that was enabled is one, whichever member says so", () => {
  const first = (...downgrades: (string | undefined)[]): string | undefined => {
    const members = downgrades.map((downgrade, n) =>
      voter("ab"[n] ?? "", { version: "3.7.3", storage: "3.7.0", pod: { version: "3.7.3" }, says: { downgrade } }),
    );
    return assessed(members, { version: "3.6.16" }).roll.target.first?.t;
  };
  assert.equal(first(undefined, undefined), "enableDowngrade");
  assert.equal(first("3.6.0", undefined), "wait");
  assert.equal(first(undefined, "3.6.0"), "wait");
});

test("while the spec is wrong, members are made with the variables that the others have, and with no others", () => {
  const value = [{ name: "TOKEN", value: "hunter2" }];
  const madeFrom = settingsOf(sampleCluster({ spec: { pod: { etcdEnv: value } } }).spec);
  const made = (pod: object, spec: object) =>
    assessed([{ letter: "a", pod }], { spec, change: { problems: ["Mend it."] } }).desired;
  const envOf = ({ cluster }: Desired) => cluster.spec.pod.etcdEnv;
  assert.deepEqual(envOf(made({ madeFrom, etcdEnv: value }, {})), value);
  // Those of the spec, where they are the same.
  assert.deepEqual(envOf(made({ madeFrom }, { pod: { etcdEnv: value } })), value);
  const other = { pod: { etcdEnv: [{ name: "TOKEN", value: "other" }] } };
  assert.equal(made({ madeFrom }, other).impossible, "Mend it.");
});
