// The definition holds what the API server and people need of it; that it is accepted is proved in test/kube.
import assert from "node:assert/strict";
import { it } from "node:test";
import { etcdClusterDefinition } from "./crd.ts";
import type { OpenApiSchema } from "../schema/openapi.ts";

const [version] = etcdClusterDefinition.spec.versions;
const root: OpenApiSchema = version?.schema.openAPIV3Schema ?? {};

function* nodes(schema: OpenApiSchema, path: string): Generator<[string, OpenApiSchema]> {
  yield [path, schema];
  for (const [name, child] of Object.entries(schema.properties ?? {})) yield* nodes(child, `${path}.${name}`);
  if (schema.items) yield* nodes(schema.items, `${path}[]`);
  if (schema.additionalProperties) yield* nodes(schema.additionalProperties, `${path}{}`);
}

const all = [...nodes(root, "")];
const at = (path: string): OpenApiSchema => new Map(all).get(path) ?? assert.fail(`there is no ${path}`);

it("every field has a description", () => {
  const mute = all.filter(([path, schema]) => schema.description === undefined && path !== ".metadata");
  // The entries of lists of Kubernetes' own types are described by the list.
  assert.deepEqual(
    mute.map(([path]) => path).filter((path) => !/^\.spec\.pod\.\w+\[\]$/.test(path)),
    [],
  );
  assert.ok(all.length > 70, `only ${all.length} nodes were looked at`);
});

it("no default is stored", () => {
  assert.ok(!JSON.stringify(etcdClusterDefinition).includes('"default"'));
  assert.match(at(".spec.version").description ?? "", /Default: 3\.2\.13\.$/);
});

it("fields of 2018 keep their odd names", () => {
  for (const path of [".spec.TLS.static.member.peerSecret", ".spec.pod.DNSTimeoutInSecond", ".spec.pod.ClusterDomain"])
    assert.ok(at(path).type);
});

it("types of Kubernetes are passed on whole", () => {
  assert.equal(at(".spec.pod.affinity")["x-kubernetes-preserve-unknown-fields"], true);
  assert.equal(at(".spec.pod.tolerations[]")["x-kubernetes-preserve-unknown-fields"], true);
});

it("conditions are told apart by their type", () => {
  assert.equal(at(".status.conditions")["x-kubernetes-list-type"], "map");
  assert.deepEqual(at(".status.conditions")["x-kubernetes-list-map-keys"], ["type"]);
});

it("what columns and scale point at is there", () => {
  const scale = version?.subresources.scale;
  const paths = [...Object.values(scale ?? {}), ...(version?.additionalPrinterColumns ?? []).map((c) => c.jsonPath)];
  assert.equal(paths.length, 10);
  for (const path of paths) if (path !== ".metadata.creationTimestamp") assert.ok(at(path).type, path);
});
