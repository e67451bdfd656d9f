// The kustomize bases give the plain manifests, and can be moved to another namespace, image and scope by an overlay.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { cp, mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, test } from "node:test";
import { ensureBinaries } from "../../lab/build/binaries.ts";
import { labConfig } from "../../lab/config.ts";
import { run } from "../../lab/machine/command.ts";
import { home, installationOf, namespace, operatorOf } from "../../install/installation.ts";
import type { Manifest } from "../../install/manifest.ts";
import { root } from "../suites.ts";
import { comparable, manifestsIn } from "./rendered.ts";

const lab = labConfig();
await ensureBinaries(lab);
const folder = mkdtempSync(path.join(tmpdir(), "etcd-operator-kustomize-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const build = async (where: string): Promise<Manifest[]> =>
  manifestsIn(await run(path.join(lab.bin, "kubectl"), ["kustomize", where], { cwd: root }));

test("install/ gives install.yaml", async () => {
  assert.deepEqual(
    comparable(await build("install")),
    comparable([namespace, ...installationOf({ scope: "clusterwide", namespace: home })]),
  );
});

test("install/namespace gives install-namespace.yaml without the CRDs", async () => {
  assert.deepEqual(comparable(await build("install/namespace")), comparable(operatorOf({ scope: "namespace" })));
});

test("an overlay moves the operator to another namespace and image, with its permissions", async () => {
  await cp(path.join(root, "install"), path.join(folder, "install"), { recursive: true });
  await mkdir(path.join(folder, "overlay"));
  const overlay = {
    resources: ["../install"],
    namespace: "platform",
    images: [{ name: "etcd-operator.invalid/etcd-operator", newName: "example.org/etcd-operator", newTag: "7" }],
  };
  await writeFile(path.join(folder, "overlay/kustomization.yaml"), JSON.stringify(overlay));
  const moved = await build(path.join(folder, "overlay"));
  const find = (kind: string): Record<string, unknown> | undefined => moved.find((one) => one.kind === kind);
  assert.deepEqual(
    moved.filter(({ metadata }) => metadata.namespace !== undefined && metadata.namespace !== "platform"),
    [],
  );
  assert.deepEqual(find("ClusterRoleBinding")?.["subjects"], [
    { kind: "ServiceAccount", name: "etcd-operator", namespace: "platform" },
  ]);
  assert.deepEqual((find("Namespace") as Manifest | undefined)?.metadata.name, "platform");
  assert.match(JSON.stringify(find("Deployment")), /"example\.org\/etcd-operator:7"/);
});
