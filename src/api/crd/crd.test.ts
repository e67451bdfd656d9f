// The CRDs hold what the API server and people need of them; test/kube proves that a real one accepts them.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { etcdCluster } from "../etcd-cluster/kind.ts";
import type { KindDescription } from "../kind-description.ts";
import { kinds } from "../kinds.ts";
import type { OpenApiSchema } from "../schema/openapi.ts";
import { crdOf } from "./crd.ts";

function* nodes(schema: OpenApiSchema, path: string): Generator<[string, OpenApiSchema]> {
  yield [path, schema];
  for (const [name, child] of Object.entries(schema.properties ?? {})) yield* nodes(child, `${path}.${name}`);
  if (schema.items) yield* nodes(schema.items, `${path}[]`);
  if (schema.additionalProperties) yield* nodes(schema.additionalProperties, `${path}{}`);
}

function schemasOf(description: KindDescription): Map<string, OpenApiSchema> {
  const [version] = crdOf(description).spec.versions;
  return new Map(nodes(version?.schema.openAPIV3Schema ?? {}, ""));
}

for (const description of kinds)
  describe(`the CRD of ${description.kind.kind}`, () => {
    const crd = crdOf(description);
    const all = schemasOf(description);
    const at = (path: string): OpenApiSchema => all.get(path) ?? assert.fail(`there is no ${path}`);

    it("describes every field", () => {
      const mute = [...all].filter(([path, schema]) => schema.description === undefined && path !== ".metadata");
      // The entries of a list of Kubernetes' own types are described by the list.
      const ofKubernetes = (path: string): boolean =>
        path.endsWith("[]") && at(path)["x-kubernetes-preserve-unknown-fields"] === true;
      assert.deepEqual(
        mute.map(([path]) => path).filter((path) => !ofKubernetes(path)),
        [],
      );
    });

    it("stores no default but that of a status which nobody has written", () => {
      const defaults = [...all].filter(([, schema]) => schema.default !== undefined);
      assert.deepEqual(
        defaults.map(([path, schema]) => [path, schema.default]),
        [[".status", { observedGeneration: -1 }]],
      );
    });

    it("has what its columns and its scale point at", () => {
      const [version] = crd.spec.versions;
      // One of a list is chosen by a filter, as in .status.conditions[?(@.type=="Ready")].reason.
      const columns = (version?.additionalPrinterColumns ?? []).map(({ jsonPath }) =>
        jsonPath.replace(/\[\?.*?\]/, "[]"),
      );
      for (const path of [...Object.values<string>({ ...version?.subresources.scale }), ...columns])
        if (path !== ".metadata.creationTimestamp") assert.ok(at(path).type, path);
    });
  });

describe("the CRD of EtcdCluster, field by field,", () => {
  const all = schemasOf(etcdCluster);
  const at = (path: string): OpenApiSchema => all.get(path) ?? assert.fail(`there is no ${path}`);

  it("is read to its last node", () => {
    const [version] = crdOf(etcdCluster).spec.versions;
    assert.ok(all.size > 70, `only ${all.size} nodes were read`);
    assert.equal(version?.additionalPrinterColumns.length, 9);
    assert.equal(Object.keys(version.subresources.scale ?? {}).length, 3);
  });

  it("names the default in the description", () => {
    assert.match(at(".spec.repository").description ?? "", /Default: quay\.io\/coreos\/etcd\.$/);
  });

  it("has no default for the version: the API server would give it to clusters that exist", () => {
    assert.equal("default" in at(".spec.version"), false);
  });

  it("keeps the odd names of etcd-operator 0.9", () => {
    for (const path of [
      ".spec.TLS.static.member.peerSecret",
      ".spec.pod.DNSTimeoutInSecond",
      ".spec.pod.ClusterDomain",
    ])
      assert.ok(at(path).type);
  });

  it("passes on types of Kubernetes whole", () => {
    assert.equal(at(".spec.pod.affinity")["x-kubernetes-preserve-unknown-fields"], true);
    assert.equal(at(".spec.pod.tolerations[]")["x-kubernetes-preserve-unknown-fields"], true);
  });

  it("tells conditions apart by their type", () => {
    assert.equal(at(".status.conditions")["x-kubernetes-list-type"], "map");
    assert.deepEqual(at(".status.conditions")["x-kubernetes-list-map-keys"], ["type"]);
  });
});
