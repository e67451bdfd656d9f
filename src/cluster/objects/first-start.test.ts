import assert from "node:assert/strict";
import { test } from "node:test";
import { withDefaults } from "../../api/etcd-cluster/etcd-cluster.ts";
import { type FirstStart, guardAnnotations, isClosed, startAnnotations, startVariables } from "./first-start.ts";
import { memberName } from "./names.ts";

const cluster = withDefaults({ metadata: { name: "c", namespace: "ns", uid: "u" }, spec: { size: 3 } });
const members = ["c-b", "c-a"].map((name) => ({ name, peerUrls: [`http://${name}:1`, `http://${name}:2`] }));

const valuesOf = (annotations: Record<string, string>) => {
  const [list = "", state = ""] = Object.values(annotations);
  return { list, state };
};
const member = memberName("c-a");
const seed = valuesOf(startAnnotations(cluster, member, { as: "seed" }));
const joining = valuesOf(startAnnotations(cluster, member, { as: "joining", members }));
const guarded = valuesOf(guardAnnotations(cluster, member));

test("a seed starts a new cluster of itself", () => {
  assert.deepEqual(seed, { list: "c-a=http://c-a.c.ns.svc:2380", state: "new" });
});

test("a member that joins is given the list as etcd has it, in its order", () => {
  assert.deepEqual(joining, {
    list: "c-b=http://c-b:1,c-b=http://c-b:2,c-a=http://c-a:1,c-a=http://c-a:2",
    state: "existing",
  });
});

test("a member that has started belongs to a cluster that exists, and has nobody to ask about it", () => {
  assert.deepEqual(guarded, { list: "c-a=http://c-a.c.ns.svc:2380", state: "existing" });
});

test("only a guarded member is taken for one", () => {
  assert.deepEqual(
    [seed, joining, guarded].map((values) => isClosed(member, values)),
    [false, false, true],
  );
  // One that joins a cluster of one other is given two entries; another member's name is not its own.
  assert.equal(isClosed(member, { list: "c-b=http://b,c-a=http://a", state: "existing" }), false);
  assert.equal(isClosed(member, { list: "c-b=http://b", state: "existing" }), false);
});

test("the container reads them from the annotations of its own pod; who joins never begins a cluster", () => {
  const [list, state] = Object.keys(guardAnnotations(cluster, member)).map((name) => `metadata.annotations['${name}']`);
  const read = (start: FirstStart) =>
    startVariables(start).map(({ value, valueFrom }) => value ?? valueFrom?.fieldRef?.fieldPath);
  assert.deepEqual(read({ as: "seed" }), [list, state]);
  assert.deepEqual(read({ as: "joining", members }), [list, "existing"]);
});
