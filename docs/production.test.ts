// The manifest of the production guide is valid, is what the guide says about it, and names no field that is not there.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import * as path from "node:path";
import { describe, test } from "node:test";
import { parseAllDocuments } from "yaml";
import type { EtcdBackup } from "../src/api/etcd-backup/etcd-backup.ts";
import { problemsOf as backupProblems } from "../src/api/etcd-backup/problems.ts";
import { type EtcdCluster, problemsOf as clusterProblems, withDefaults } from "../src/api/etcd-cluster/etcd-cluster.ts";
import { kinds } from "../src/api/kinds.ts";
import type { Schema } from "../src/api/schema/schema.ts";
import { root } from "./pages.ts";

const text = readFileSync(path.join(root, "example/example-etcd-production.yaml"), "utf8");
const [cluster, backup, ...more] = parseAllDocuments(text).map((document): unknown => document.toJS());

/** Fields of our own schema that it does not have; Kubernetes' own types are the API server's to check. */
function unknownFields({ shape }: Schema, value: unknown, at: string): string[] {
  if (shape.t !== "object" || typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inside]) => {
    const field = shape.fields[name];
    return field === undefined ? [`${at}.${name}`] : unknownFields(field, inside, `${at}.${name}`);
  });
}

describe("the manifest for production", () => {
  test("is an EtcdCluster and an EtcdBackup of it", () => {
    assert.deepEqual(more, []);
    assert.partialDeepStrictEqual(cluster, { kind: "EtcdCluster", metadata: { name: "orders" } });
    assert.partialDeepStrictEqual(backup, { kind: "EtcdBackup", spec: { clusterRef: { name: "orders" } } });
  });

  test("has nothing that the operator refuses", () => {
    assert.deepEqual(clusterProblems(cluster as EtcdCluster), []);
    assert.deepEqual(backupProblems(backup as EtcdBackup), []);
  });

  test("has only fields that exist", () => {
    const found = [cluster, backup].flatMap((object) => {
      const { kind, spec } = object as { kind: string; spec: unknown };
      const description = kinds.find((one) => one.kind.kind === kind);
      return description === undefined ? [kind] : unknownFields(description.spec, spec, "spec");
    });
    assert.deepEqual(found, []);
  });

  test("has volumes with room to defragment, TLS, members apart, and backups that are proved and encrypted", () => {
    const object = cluster as EtcdCluster;
    const { spec } = withDefaults({ ...object, metadata: { ...object.metadata, namespace: "default" } });
    assert.equal(spec.pod.persistentVolumeClaimSpec?.resources?.requests?.["storage"], "10Gi");
    assert.ok((spec.etcd.quotaBackendBytes ?? 0) <= 0.45 * 10 * 2 ** 30);
    assert.equal(spec.TLS?.auto, true);
    const apart = spec.pod.topologySpreadConstraints ?? [];
    assert.deepEqual(
      apart.map(({ labelSelector }) => labelSelector?.matchLabels),
      [{ etcd_cluster: "orders" }, { etcd_cluster: "orders" }],
    );
    assert.partialDeepStrictEqual(backup, {
      spec: { verify: { restore: true }, encryption: { secret: "backup-keys" } },
    });
  });
});
