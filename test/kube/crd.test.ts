// The CRD of EtcdCluster on a real API server: what it refuses and in which words, that it accepts manifests of
// etcd-operator 0.9, and what kubectl shows.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import * as path from "node:path";
import { after, before, describe, it } from "node:test";
import { run } from "../../lab/machine/command.ts";
import { type Crd, crdOf, crds } from "../../src/api/crd/crd.ts";
import { EtcdCluster, problemsOf, withDefaults } from "../../src/api/etcd-cluster/etcd-cluster.ts";
import { etcdCluster } from "../../src/api/etcd-cluster/kind.ts";
import { installCrd, installCrds } from "../../src/api/crd/install.ts";
import { badBackups, badRestores } from "../../src/api/backups/testing/bad-objects.ts";
import { EtcdBackup } from "../../src/api/etcd-backup/etcd-backup.ts";
import { EtcdRestore } from "../../src/api/etcd-restore/etcd-restore.ts";
import { badClusters } from "../../src/api/etcd-cluster/testing/bad-clusters.ts";
import { oldManifests as oldBackups } from "../../src/api/etcd-backup/testing/old-manifests.ts";
import { oldManifests } from "../../src/api/etcd-cluster/testing/old-manifests.ts";
import { oldManifests as oldRestores } from "../../src/api/etcd-restore/testing/old-manifests.ts";
import { connectKube } from "../../src/kube/client/client.ts";
import { ApiError } from "../../src/kube/client/errors.ts";
import { findCredentials } from "../../src/kube/credentials/find-credentials.ts";
import { CustomResourceDefinition, Namespace } from "../../src/kube/objects/kinds.ts";
import { silent } from "../../src/kube/process/log.ts";
import type { Kind, KubeObject } from "../../src/kube/objects/objects.ts";
import { waitFor } from "../../src/kube/testing/contract/ground.ts";

const lab = path.resolve(import.meta.dirname, "../../.lab/kubeconfig");
const kubeconfig = process.env["KUBECONFIG"] ?? (existsSync(lab) ? lab : undefined);
const api = connectKube({ credentials: await findCredentials(kubeconfig === undefined ? {} : { kubeconfig }) });
const kubectl = (args: string[], input = ""): Promise<string> =>
  run("kubectl", [...(kubeconfig === undefined ? [] : [`--kubeconfig=${kubeconfig}`]), ...args], { input });

const etcdClusterCrd = crdOf(etcdCluster);
/** The time of one call: all the tests together may take longer. */
const inTime = (): AbortSignal => AbortSignal.timeout(120_000);
let namespace = "";

/** As a person writes it, whatever the types say. */
const object = (name: string, rest: object): EtcdCluster => ({ metadata: { name, namespace }, ...rest }) as EtcdCluster;

before(async () => {
  await installCrds(api, crds, inTime(), silent);
  const made = await api.create(Namespace, { metadata: { generateName: "crd-" } });
  namespace = made.metadata?.name ?? "";
});

after(async () => {
  await api.delete(Namespace, { namespace: "", name: namespace });
  api.close();
});

describe("an invalid EtcdCluster", () => {
  for (const { what, name = "example", spec, problems, server = { says: problems[0] } } of badClusters)
    it(`with ${what} is ${server.says === undefined ? "accepted, and the operator reports it" : "refused"}`, async () => {
      const wrong = object(name, spec === undefined ? {} : { spec });
      const creation = api.create(EtcdCluster, wrong, { dryRun: true });
      if (server.says === undefined) {
        assert.deepEqual(problemsOf(await creation), problems);
        return;
      }
      await assert.rejects(creation, (error) => {
        assert.ok(error instanceof ApiError, String(error));
        assert.equal(error.reason, "Invalid");
        assert.ok(error.message.includes(server.says ?? ""), error.message);
        return true;
      });
    });
});

for (const [kind, rows] of [
  [EtcdBackup, badBackups],
  [EtcdRestore, badRestores],
] as const)
  describe(`an invalid ${kind.kind}`, () => {
    for (const { what, name = "example", spec, says, by } of rows)
      it(`with ${what} is ${by === "operator" ? "accepted, and the operator reports it" : "refused"}`, async () => {
        const creation = api.create<KubeObject>(kind, { metadata: { name, namespace }, spec } as KubeObject, {
          dryRun: true,
        });
        if (by === "operator") {
          await creation;
          return;
        }
        await assert.rejects(creation, (error) => {
          assert.ok(error instanceof ApiError, String(error));
          assert.equal(error.reason, "Invalid");
          assert.ok(error.message.includes(says), error.message);
          return true;
        });
      });
  });

describe("a manifest of etcd-operator 0.9", () => {
  for (const { what, object: manifest } of oldManifests)
    it(`${what} is accepted, by kubectl too, and nothing is added to it`, async () => {
      await kubectl(["apply", `--namespace=${namespace}`, "--filename=-"], JSON.stringify(manifest));
      const stored = await api.get(EtcdCluster, { namespace, name: manifest.metadata.name });
      assert.deepEqual(problemsOf(stored), []);
      const asked = withDefaults(object(manifest.metadata.name, { spec: manifest["spec"] }));
      assert.deepEqual(withDefaults(stored).spec, asked.spec);
      const added = Object.keys(stored.spec).filter((field) => !(field in (manifest["spec"] as object)));
      assert.deepEqual(added, []);
    });

  for (const { what, object: manifest } of [...oldBackups, ...oldRestores])
    it(`${String(manifest["kind"])} ${what} is accepted by kubectl`, async () => {
      const strictly = ["--dry-run=server", "--validate=strict"];
      await kubectl(["apply", `--namespace=${namespace}`, ...strictly, "--filename=-"], JSON.stringify(manifest));
    });

  it("with a misspelt field is refused by kubectl", async () => {
    const typo = { ...oldManifests[0]!.object, spec: { size: 3, verison: "3.2.13" } };
    await assert.rejects(
      kubectl(["apply", `--namespace=${namespace}`, "--dry-run=server", "--filename=-"], JSON.stringify(typo)),
      /unknown field "spec\.verison"/,
    );
  });
});

describe("kubectl", () => {
  it("explains every part", async () => {
    assert.match(await kubectl(["explain", "etcdcluster.spec"]), /size\s+<integer> -required-\n\s+Number of members/);
    assert.match(
      await kubectl(["explain", "etcd.spec.pod.ClusterDomain"]),
      /Domain appended to the DNS names of members/,
    );
    assert.match(await kubectl(["explain", "etcd.spec.TLS.static"]), /operatorSecret\s+<string>/);
    assert.match(await kubectl(["explain", "etcd.status.conditions"]), /lastTransitionTime\s+<string>/);
  });

  it("shows how a cluster is in a line", async () => {
    await api.create(EtcdCluster, object("columns", { spec: { size: 3, version: "3.6.16" } }));
    const status = {
      phase: "Running",
      ready: "3/3",
      currentVersion: "3.6.16",
      leader: "columns-4qkzfx7wsp",
      dbSize: 20480,
      revision: 17,
      observedGeneration: 1,
      conditions: [
        {
          type: "Ready",
          status: "True",
          reason: "AllMembersReady",
          message: "All serve.",
          lastTransitionTime: "2026-01-31T12:00:00Z",
        },
      ],
    };
    await api.mergePatch(EtcdCluster, { namespace, name: "columns" }, { status }, { subresource: "status" });
    const [head = "", line = ""] = (await kubectl(["get", "etcd", "columns", `--namespace=${namespace}`])).split("\n");
    assert.match(head, /^NAME\s+READY\s+VERSION\s+STATUS\s+LEADER\s+AGE\s*$/);
    assert.match(line, /^columns\s+3\/3\s+3\.6\.16\s+AllMembersReady\s+columns-4qkzfx7wsp\s+\S+\s*$/);
    const wide = await kubectl(["get", "etcd", "columns", "--output=wide", `--namespace=${namespace}`]);
    assert.match(wide, /PHASE\s+DB SIZE\s+REVISION\s+MESSAGE/);
    assert.match(wide, /Running\s+20480\s+17\s+All serve\./);
    for (const category of ["all", "etcd"])
      assert.match(await kubectl(["get", category, `--namespace=${namespace}`]), /columns/);
    await kubectl(["wait", "etcd/columns", "--for=condition=Ready", "--timeout=60s", `--namespace=${namespace}`]);
  });

  it("scales, within the limits", async () => {
    await api.create(EtcdCluster, object("scaled", { spec: { size: 1 } }));
    await kubectl(["scale", "etcd/scaled", "--replicas=5", `--namespace=${namespace}`]);
    assert.equal((await api.get(EtcdCluster, { namespace, name: "scaled" })).spec.size, 5);
    await assert.rejects(
      kubectl(["scale", "etcd/scaled", "--replicas=0", `--namespace=${namespace}`]),
      /spec\.size must be from 1 to 9: choose 3 or 5/,
    );
  });
});

/** As kstatus judges, by which Flux and Helm wait: a status of another generation is that of an object in progress. */
describe("an object that no operator has seen yet", () => {
  const fresh: readonly (readonly [Kind<KubeObject & { status?: { observedGeneration?: number } }>, object])[] = [
    [EtcdCluster, { size: 3 }],
    [EtcdBackup, { clusterRef: { name: "a" }, storageType: "PVC", pvc: { claimName: "a", path: "a" } }],
    [EtcdRestore, { etcdCluster: { name: "a" }, backupStorageType: "PVC", pvc: { claimName: "a", path: "a" } }],
  ];
  for (const [kind, spec] of fresh)
    it(`does not look like one that is ready: ${kind.kind}`, async () => {
      const { metadata, status } = await api.create(kind, object("fresh", { spec }));
      assert.deepEqual([metadata?.generation, status], [1, { observedGeneration: -1 }]);
    });
});

describe("the CRD", () => {
  it("can be applied by a person, server-side, beside the operator and without a conflict", async () => {
    const folder = path.resolve(import.meta.dirname, "../../example/crd");
    await kubectl(["apply", "--server-side", `--filename=${folder}`]);
  });

  it("is applied again without a change", async () => {
    const key = { namespace: "", name: etcdClusterCrd.metadata.name };
    const first = await api.get(CustomResourceDefinition, key);
    await installCrds(api, crds, inTime(), silent);
    const second = await api.get(CustomResourceDefinition, key);
    assert.equal(second.metadata?.resourceVersion, first.metadata?.resourceVersion);
  });

  it("takes over the one that etcd-operator 0.9 created, with the objects stored under it", async () => {
    // Under a group of its own, so that no EtcdCluster of anybody is touched.
    const group = `crd-${randomBytes(3).toString("hex")}.example.com`;
    const kind: Kind<EtcdCluster> = { ...EtcdCluster, group };
    const name = `${EtcdCluster.plural}.${group}`;
    const { categories: _, ...names } = etcdClusterCrd.spec.names;
    const crd: Crd = {
      ...etcdClusterCrd,
      metadata: { name },
      spec: { ...etcdClusterCrd.spec, group, names: { ...names, shortNames: [] } },
    };
    const anything = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
    const ofOthers = { name: "v1alpha1", served: true, storage: false, schema: anything };
    // As etcd-operator 0.9 did: no schema to speak of and no subresources, written without server-side apply.
    const made: CustomResourceDefinition = {
      metadata: { name },
      spec: {
        group,
        scope: "Namespaced",
        names: crd.spec.names,
        versions: [{ name: "v1beta2", served: true, storage: true, schema: anything }, ofOthers],
      },
    };
    await api.create(CustomResourceDefinition, made, { fieldManager: "etcd-operator" });
    after(() => api.delete(CustomResourceDefinition, { namespace: "", name }));
    const bad = object("old", { spec: { size: 0, baseImage: "x", pod: { labels: { app: "mine" } }, unknown: 1 } });
    await waitFor("the API server to take an object of the new kind", () => api.create(kind, bad));
    const long = "l".repeat(60);
    const held = object(long, { spec: { size: 3 } });
    await api.create(kind, { ...held, metadata: { ...held.metadata, finalizers: ["example.com/held"] } });

    await installCrd(api, crd, inTime());

    const now = await api.get(CustomResourceDefinition, { namespace: "", name });
    assert.deepEqual(now.spec.versions[0]?.schema, crd.spec.versions[0]?.schema);
    assert.deepEqual(now.spec.versions[1], ofOthers);
    // The API server takes a moment to use the new schema.
    const old = await waitFor("the unknown field to be gone", async () => {
      const read = await api.get(kind, { namespace, name: "old" });
      return "unknown" in read.spec ? undefined : read;
    });
    assert.equal(old.spec.size, 0);
    assert.equal(problemsOf(old).length, 2);
    // The operator can still write the status, although the spec would be refused now.
    const patch = { status: { phase: "Failed", reason: problemsOf(old)[0] } };
    const patched = await api.mergePatch(kind, { namespace, name: "old" }, patch, { subresource: "status" });
    assert.equal(patched.status?.phase, "Failed");
    // One whose name would be refused can be written to, and goes when it is deleted.
    const key = { namespace, name: long };
    await api.mergePatch(kind, key, patch, { subresource: "status" });
    await api.delete(kind, key);
    await api.mergePatch(kind, key, { metadata: { finalizers: null } });
    await waitFor("it to be gone", async () => {
      const { items } = await api.list(kind, { namespace });
      return items.every(({ metadata }) => metadata?.name !== long) || undefined;
    });
  });
});
