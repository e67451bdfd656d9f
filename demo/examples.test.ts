// The example manifests agree with each other and with the program that they start.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { parseAllDocuments } from "yaml";
import { etcdVersions } from "../lab/build/etcd.ts";
import { operatorImageTag } from "../lab/images/operator.ts";
import { crds } from "../src/api/crd/crd.ts";
import { stepBetween } from "../src/etcd/versions/steps.ts";
import { version } from "../src/etcd/versions/version.ts";
import * as names from "./names.ts";
import { tree } from "./typed.ts";

const text = (file: string): string => readFileSync(path.join(tree, "example", file), "utf8");

interface Rule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
  resourceNames?: string[];
}
const rulesOf = (file: string): Rule[] =>
  parseAllDocuments(text(file)).flatMap((document) => (document.toJS() as { rules?: Rule[] }).rules ?? []);

test("the Deployment starts the image that is built from this tree", () => {
  const deployment = parseAllDocuments(text("deployment.yaml")).find(
    (document) => document.get("kind") === "Deployment",
  );
  assert.equal(deployment?.getIn(["spec", "template", "spec", "containers", 0, "image"]), operatorImageTag);
});

test("the permissions name every verb, resource and group", () => {
  for (const file of ["rbac/cluster-role-template.yaml", "rbac/role-template.yaml", "rbac/lease-role-template.yaml"])
    for (const { apiGroups, resources, verbs } of rulesOf(file))
      assert.ok(
        ![...apiGroups, ...resources, ...verbs].includes("*"),
        `${file} has a wildcard for ${resources.join()}`,
      );
});

/** What an operator of all namespaces may do besides: read the whole cluster, and take what nobody manages. */
const ofAllNamespaces = new Set([
  "nodes list,watch",
  "persistentvolumes get",
  "leases get",
  "customresourcedefinitions create",
  "customresourcedefinitions get,patch",
]);

test("the Role grants the same as the ClusterRole, except permissions for an operator of all namespaces", () => {
  const isForAll = ({ resources, verbs }: Rule): boolean => ofAllNamespaces.has(`${resources.join()} ${verbs.join()}`);
  const namespaced = rulesOf("rbac/cluster-role-template.yaml").filter((rule) => !isForAll(rule));
  assert.deepEqual(rulesOf("rbac/role-template.yaml"), namespaced);
});

test("leases are written by a Role alone: a ClusterRole reads those of other namespaces, and changes none", () => {
  const onLeases = (file: string): Rule[] => rulesOf(file).filter(({ resources }) => resources.includes("leases"));
  assert.deepEqual(
    onLeases("rbac/cluster-role-template.yaml").map(({ verbs }) => verbs),
    [["get"]],
  );
  assert.deepEqual(onLeases("rbac/role-template.yaml"), []);
  // Named after the scope of the operator, so no name can be given here.
  assert.deepEqual(
    onLeases("rbac/lease-role-template.yaml").map(({ resourceNames, verbs }) => ({ resourceNames, verbs })),
    [{ resourceNames: undefined, verbs: ["get", "watch", "create", "update"] }],
  );
});

test("the CRDs that the operator may change are those that it installs", () => {
  const named = rulesOf("rbac/cluster-role-template.yaml")
    .filter(({ resources }) => resources.includes("customresourcedefinitions"))
    .flatMap(({ resourceNames = [] }) => resourceNames);
  assert.deepEqual(
    named,
    crds.map(({ metadata }) => metadata.name),
  );
});

const objectsIn = (file: string) => parseAllDocuments(readFileSync(path.join(tree, file), "utf8"));

test("the manifests of the demo have the names that it looks for, and refer to each other", () => {
  const { manifests, cluster, backup, claim, restore } = names;
  const named = Object.values(manifests)
    .flatMap(objectsIn)
    .map((object) => `${String(object.get("kind"))} ${String(object.getIn(["metadata", "name"]))}`);
  assert.deepEqual(named, [
    `EtcdCluster ${cluster}`,
    `PersistentVolumeClaim ${claim}`,
    `EtcdBackup ${backup}`,
    `EtcdRestore ${restore}`,
  ]);
  const [of, into] = [objectsIn(manifests.backup)[1], objectsIn(manifests.restore)[0]];
  assert.equal(of?.getIn(["spec", "clusterRef", "name"]), cluster);
  assert.equal(of?.getIn(["spec", "pvc", "claimName"]), claim);
  assert.equal(into?.getIn(["spec", "etcdCluster", "name"]), cluster);
  assert.equal(into?.getIn(["spec", "backup", "name"]), backup);
});

test("the demo upgrades by one minor, to a version that the lab has", () => {
  const from = String(objectsIn(names.manifests.cluster)[0]?.getIn(["spec", "version"]));
  assert.deepEqual(stepBetween(version(from), version(names.nextVersion)), { t: "upgrade" });
  for (const one of [from, names.nextVersion])
    assert.ok(
      etcdVersions.some((known) => known === one),
      one,
    );
});
