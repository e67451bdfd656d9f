// The bundle installs what the manifests install. That OLM accepts it is proved in test/install/olm.test.ts, by its validators.
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, before, describe, test } from "node:test";
import { parse } from "yaml";
import { crdManifests, home, operatorOf } from "../../install/installation.ts";
import type { Manifest } from "../../install/manifest.ts";
import type { Rule } from "../../install/permissions.ts";
import { run } from "../../lab/machine/command.ts";
import { version } from "../../src/version.ts";
import { exampleRelease } from "../testing/release.ts";
import { olmBundle } from "./bundle.ts";
import { csv } from "./csv.ts";

interface Csv {
  metadata: { name: string; annotations: Record<string, string> };
  spec: {
    replaces?: string;
    minKubeVersion: string;
    customresourcedefinitions: { owned: { name: string }[] };
    relatedImages: { image: string }[];
    install: {
      spec: {
        permissions: { serviceAccountName: string; rules: Rule[] }[];
        clusterPermissions: { serviceAccountName: string; rules: Rule[] }[];
        deployments: { name: string; spec: { template: { spec: Record<string, unknown> } } }[];
      };
    };
  };
}

let folder: string;
let names: readonly string[];
let written: Csv;
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "olm-bundle-"));
  const [archive] = await olmBundle.make(exampleRelease(folder));
  await run("tar", ["-xf", path.join(folder, archive!), "-C", folder]);
  names = (await run("tar", ["-tf", path.join(folder, archive!)])).split("\n").filter((name) => /[^/]$/.test(name));
  written = parse(await read("manifests/etcd-operator.clusterserviceversion.yaml")) as Csv;
});
after(() => rm(folder, { recursive: true }));

/** A file of the bundle. */
const read = (file: string): Promise<string> => readFile(path.join(folder, `etcd-operator.v${version}`, file), "utf8");

const manifests = operatorOf({ scope: "clusterwide", namespace: home });
const find = (kind: string, name: string): Manifest =>
  manifests.find((one) => one.kind === kind && one.metadata.name === name)!;

describe("the OLM bundle", () => {
  test("has a folder of its own with the three parts that a catalog reads", () => {
    const inside = names.map((name) => path.relative(`etcd-operator.v${version}`, name)).toSorted();
    assert.deepEqual(inside, [
      "bundle.Dockerfile",
      "manifests/etcd-operator.clusterserviceversion.yaml",
      ...crdManifests.map(({ metadata }) => `manifests/${metadata.name}.crd.yaml`).toSorted(),
      "metadata/annotations.yaml",
    ]);
  });

  test("has the CRDs of the manifests, and owns each", async () => {
    for (const crd of crdManifests) assert.deepEqual(parse(await read(`manifests/${crd.metadata.name}.crd.yaml`)), crd);
    assert.deepEqual(
      written.spec.customresourcedefinitions.owned.map(({ name }) => name),
      crdManifests.map(({ metadata }) => metadata.name),
    );
  });

  test("grants what the manifests grant", () => {
    const { permissions, clusterPermissions } = written.spec.install.spec;
    assert.deepEqual(clusterPermissions, [
      { serviceAccountName: "etcd-operator", rules: find("ClusterRole", "etcd-operator")["rules"] },
    ]);
    assert.deepEqual(permissions, [
      { serviceAccountName: "etcd-operator", rules: find("Role", "etcd-operator-lease")["rules"] },
    ]);
  });

  test("runs the Deployment of the manifests, with the image by digest everywhere", () => {
    const { image } = exampleRelease(folder);
    const reference = `${image.repository}@${image.digest}`;
    const [deployed] = written.spec.install.spec.deployments;
    const expected = (find("Deployment", "etcd-operator") as unknown as typeof deployed)!.spec.template.spec;
    assert.deepEqual(deployed!.spec.template.spec, {
      ...expected,
      containers: (expected["containers"] as object[]).map((container) => ({ ...container, image: reference })),
    });
    assert.equal(written.metadata.annotations["containerImage"], reference);
    assert.deepEqual(written.spec.relatedImages, [{ name: "etcd-operator", image: reference }]);
    assert.doesNotMatch(JSON.stringify(written), /\.invalid/);
  });

  test("asks for the Kubernetes that the chart asks for", async () => {
    const chart = parse(
      await readFile(path.resolve(import.meta.dirname, "../../charts/etcd-operator/Chart.yaml"), "utf8"),
    ) as { kubeVersion: string };
    assert.equal(chart.kubeVersion, `>=${written.spec.minKubeVersion}-0`);
  });

  test("names the release that it replaces, where there is one", () => {
    const release = exampleRelease(folder);
    const after = csv({ release, icon: "", replaces: "0.0.9" }) as Csv;
    assert.equal(after.spec.replaces, "etcd-operator.v0.0.9");
    assert.ok(!("replaces" in (csv({ release, icon: "" }) as Csv).spec));
  });
});
