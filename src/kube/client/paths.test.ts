import assert from "node:assert/strict";
import { test } from "node:test";
import { Lease, Node, Pod } from "../objects/kinds.ts";
import { collectionPath, objectPath, withQuery } from "./paths.ts";

test("paths follow the kind's group and scope", () => {
  assert.equal(collectionPath(Pod, undefined), "/api/v1/pods");
  assert.equal(collectionPath(Pod, "a"), "/api/v1/namespaces/a/pods");
  assert.equal(collectionPath(Node, "ignored"), "/api/v1/nodes");
  const key = { namespace: "a", name: "x" };
  assert.equal(objectPath(Lease, key), "/apis/coordination.k8s.io/v1/namespaces/a/leases/x");
  assert.equal(objectPath(Pod, key, "status"), "/api/v1/namespaces/a/pods/x/status");
  assert.equal(objectPath(Node, { namespace: "", name: "n" }), "/api/v1/nodes/n");
});

test("a key without a name never becomes the path of the whole collection", () => {
  assert.throws(() => objectPath(Pod, { namespace: "a", name: "" }), TypeError);
  assert.throws(() => objectPath(Pod, { namespace: "", name: "x" }), TypeError);
});

test("names and queries cannot leave their place", () => {
  assert.equal(objectPath(Pod, { namespace: "a", name: "../b?x" }), "/api/v1/namespaces/a/pods/..%2Fb%3Fx");
  assert.equal(
    withQuery("/p", { labelSelector: "a=b,c in (d)", limit: undefined }),
    "/p?labelSelector=a%3Db%2Cc%20in%20(d)",
  );
  assert.equal(withQuery("/p", {}), "/p");
});
