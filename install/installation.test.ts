// What is installed grants what example/rbac grants, runs what example/deployment.yaml runs, and no more.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { parseAllDocuments } from "yaml";
import { operatorImageTag } from "../lab/images/operator.ts";
import { kinds } from "../src/api/kinds.ts";
import { parseFlags } from "../src/flags.ts";
import { argsOf, image } from "./deployment.ts";
import { crdManifests, type Installation, installationOf, operatorOf } from "./installation.ts";
import type { Manifest } from "./manifest.ts";
import type { Rule } from "./permissions.ts";

const root = path.resolve(import.meta.dirname, "..");
const documentsOf = (file: string): Manifest[] =>
  parseAllDocuments(readFileSync(path.join(root, file), "utf8")).map((document) => document.toJS() as Manifest);
const exampleRules = (file: string): unknown[] =>
  documentsOf(`example/rbac/${file}-template.yaml`).flatMap(({ rules }) => (rules ?? []) as Rule[]);

const clusterwide: Installation = { scope: "clusterwide", namespace: "etcd-operator" };
const namespaced: Installation = { scope: "namespace" };

function find(installation: Installation, kind: string, name = "etcd-operator"): Manifest {
  const found = operatorOf(installation).find((one) => one.kind === kind && one.metadata.name === name);
  assert.ok(found, `${kind} ${name}`);
  return found;
}

/** Not granted by the manifests, which bring the CRDs: the operator that they start runs with -create-crd=false. */
const toInstallCrds: readonly Rule[] = [
  { apiGroups: ["apiextensions.k8s.io"], resources: ["customresourcedefinitions"], verbs: ["create"] },
  {
    apiGroups: ["apiextensions.k8s.io"],
    resources: ["customresourcedefinitions"],
    resourceNames: kinds.map(({ kind }) => `${kind.plural}.${kind.group}`),
    verbs: ["get", "patch"],
  },
];

test("for the whole Kubernetes the permissions are those of example/rbac, without those to install CRDs", () => {
  const example = exampleRules("cluster-role");
  assert.deepEqual([...(find(clusterwide, "ClusterRole")["rules"] as Rule[]), ...toInstallCrds], example);
});

test("for one namespace the permissions are those of example/rbac", () => {
  assert.deepEqual(find(namespaced, "Role")["rules"], exampleRules("role"));
});

test("the permissions in the operator's own namespace are those of example/rbac", () => {
  for (const installation of [clusterwide, namespaced])
    assert.deepEqual(find(installation, "Role", "etcd-operator-lease")["rules"], exampleRules("lease-role"));
});

test("no rule has a wildcard, neither for the operator nor for people", () => {
  const rules = [clusterwide, namespaced].flatMap((one) =>
    operatorOf(one).flatMap(({ rules }) => (rules ?? []) as Rule[]),
  );
  assert.ok(rules.length > 30);
  for (const { apiGroups, resources, verbs } of rules)
    assert.ok(![...apiGroups, ...resources, ...verbs].includes("*"), resources.join());
});

test("an operator of one namespace gets nothing that is of the whole Kubernetes", () => {
  const kinds = new Set(operatorOf(namespaced).map(({ kind }) => kind));
  assert.deepEqual(kinds, new Set(["ServiceAccount", "Role", "RoleBinding", "Deployment"]));
});

test("the CRDs come before the operator that needs them", () => {
  assert.deepEqual(
    installationOf(clusterwide)
      .slice(0, crdManifests.length)
      .map(({ kind }) => kind),
    crdManifests.map(() => "CustomResourceDefinition"),
  );
});

test("the Deployment is that of example/deployment.yaml, but for its labels and its arguments", () => {
  const unlike = (manifest: Manifest): unknown => {
    const copy = structuredClone(manifest) as unknown as {
      metadata: { labels: unknown; namespace?: string };
      spec: {
        selector: unknown;
        template: { metadata: unknown; spec: { containers: { args?: unknown }[] } };
      };
    };
    copy.metadata.labels = copy.spec.selector = copy.spec.template.metadata = "";
    delete copy.metadata.namespace;
    for (const container of copy.spec.template.spec.containers) delete container.args;
    return copy;
  };
  const example = documentsOf("example/deployment.yaml").find(({ kind }) => kind === "Deployment");
  assert.ok(example);
  assert.deepEqual(unlike(find(clusterwide, "Deployment")), unlike(example));
  assert.deepEqual(unlike(find(namespaced, "Deployment")), unlike(example));
});

test("the image has a name that nobody else can publish under, the same in all manifests", () => {
  assert.match(image.repository, /^[a-z-]+\.invalid\//);
  for (const program of ["", "etcd-backup-operator/", "etcd-restore-operator/"]) {
    const file = `example/${program}deployment.yaml`;
    const example = documentsOf(file).find(({ kind }) => kind === "Deployment");
    assert.match(JSON.stringify(example), new RegExp(`"image":"${image.repository}:${image.tag}"`), file);
  }
});

test("the Deployment runs the image that is built from this tree, with flags that it has", () => {
  assert.equal(`${image.repository}:${image.tag}`, operatorImageTag);
  assert.deepEqual(
    [parseFlags(argsOf.clusterwide, "etcd-operator"), parseFlags(argsOf.namespace, "etcd-operator")].map(
      ({ clusterWide, createCrd }) => ({
        clusterWide,
        createCrd,
      }),
    ),
    [
      { clusterWide: true, createCrd: false },
      { clusterWide: false, createCrd: false },
    ],
  );
});
