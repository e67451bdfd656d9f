// A release installed from its own files, in each way that it offers, by nodes that pull its image from a registry by digest:
// an operator makes a cluster, is removed again, and leaves nothing but the CRDs.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { copyFile, mkdir, readFile, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, before, describe, test } from "node:test";
import { typedBlocks } from "../../docs/typed.ts";
import { ensureHelm } from "../../lab/build/helm.ts";
import { hostAddress, labNodes } from "../../lab/config.ts";
import { ensureArchive } from "../../lab/images/archive.ts";
import { etcdImage } from "../../lab/images/etcd.ts";
import { run } from "../../lab/machine/command.ts";
import { waitFor } from "../../lab/progress.ts";
import { pullFrom, pullFromNowhere } from "../../lab/nodes/registries.ts";
import { names } from "../../release/names.ts";
import { ensureCrane } from "../../release/programs/programs.ts";
import { ownPlace, placeIn } from "../e2e/own-kubeconfig.ts";
import { helms } from "../install/helm.ts";
import { blockScript, typeScript } from "../support/docs.ts";
import { apply, kubectl, kubectlJson, ready } from "../support/kubectl.ts";
import { testLab } from "../support/lab.ts";
import { makeRelease, newSigner, releaseFolder, version } from "../release/support/made.ts";
import { type Registry, startRegistry } from "../release/support/registry.ts";

/** Generous, for a busy machine with two cores. Only a failing test waits this long. */
const patience = { timeout: 1_200_000 };
const timeout = "--timeout=180s";
const files = names(version);
const lab = testLab();
const home = "etcd-operator";
const published = "registry.example.com";

describe("a release", patience, () => {
  const folder = releaseFolder("installed");
  const temporary = mkdtempSync(path.join(tmpdir(), "release-installed-"));
  let registry: Registry;
  let reference: string;

  before(async () => {
    const signer = await newSigner();
    await makeRelease(folder, `${published}/etcd-operator`, signer);
    await signer.remove();
    const { digest } = JSON.parse(await readFile(path.join(folder, files.imageSizes), "utf8")) as { digest: string };
    reference = `${published}/etcd-operator@${digest}`;

    registry = await startRegistry(hostAddress(lab));
    const image = path.join(temporary, "image");
    await mkdir(image);
    await run("tar", ["-xf", path.join(folder, files.image), "-C", image]);
    await run(await ensureCrane(), ["push", image, `${registry.address}/etcd-operator:${version}`]);
    for (const host of [published, registry.address]) await pullFrom(lab, host, `http://${registry.address}`);
  });

  after(async () => {
    await removeOperator(home);
    for (const host of [published, registry.address]) await pullFromNowhere(lab, host);
    await registry.stop();
    for (const made of [folder, temporary]) rmSync(made, { recursive: true, force: true });
  });

  test("install.yaml: the operator of all namespaces, pulled by its digest", async () => {
    const { namespace } = await ownPlace("released");
    await kubectl("apply", "--server-side", "--force-conflicts", `--filename=${path.join(folder, files.install)}`);
    await operatorRuns(home, reference);
    const says = await kubectl(
      "exec",
      `--namespace=${home}`,
      "deployment/etcd-operator",
      "--",
      "etcd-operator",
      "-version",
    );
    assert.equal(says.trim(), `etcd-operator ${version}`);
    await firstCluster(namespace);
    await removeOperator(home);
    await nothingIsLeft(home);
  });

  test("install-namespace.yaml: the operator of one namespace", async () => {
    const { namespace, KUBECONFIG } = await ownPlace("released-one");
    const file = path.join(folder, files.installNamespace);
    await kubectl(`--kubeconfig=${KUBECONFIG}`, "apply", "--server-side", "--force-conflicts", `--filename=${file}`);
    await operatorRuns(namespace, reference);
    await firstCluster(namespace);
    await removeFrom(namespace);
    await nothingIsLeft(namespace);
  });

  test("the folder for kustomize: the operator of one namespace, after the CRDs", async () => {
    const { namespace, KUBECONFIG } = await ownPlace("released-kustomize");
    await run("tar", ["-xzf", path.join(folder, files.kustomize), "-C", temporary]);
    await kubectl("apply", "--server-side", "--force-conflicts", `--filename=${path.join(folder, files.crds)}`);
    const base = path.join(temporary, `etcd-operator-${version}`, "namespace");
    await kubectl(`--kubeconfig=${KUBECONFIG}`, "apply", "--server-side", `--kustomize=${base}`);
    await operatorRuns(namespace, reference);
    await firstCluster(namespace);
    await removeFrom(namespace);
    await nothingIsLeft(namespace);
  });

  for (const helm of helms)
    test(`the chart, from the registry, by ${helm.title}`, async () => {
      const charts = `oci://${registry.address}/charts-${helm.name}`;
      await helm.run("push", path.join(folder, files.chart), charts, "--plain-http");
      const { namespace } = await ownPlace(`released-${helm.name}`);
      const options = [`--namespace=${namespace}`, "--wait", timeout];
      await helm.run(
        "install",
        "etcd-operator",
        `${charts}/etcd-operator`,
        `--version=${version}`,
        "--plain-http",
        "--take-ownership",
        "--set=clusterWide=false",
        ...options,
      );
      await operatorRuns(namespace, reference);
      await firstCluster(namespace);
      await helm.run("uninstall", "etcd-operator", ...options);
      await kubectl("delete", "lease", "--all", `--namespace=${namespace}`);
      await nothingIsLeft(namespace);
    });

  test("the archive for air gaps, as its page has it: manifest and chart", async () => {
    const place = await airGapped();
    await place.type("airGapCopy");
    await place.type("airGapInstall");
    await operatorRuns(home, reference.replace(published, registry.address));
    await place.type("airGapCluster");
    const images = await kubectl(
      "get",
      "pods",
      `--namespace=${place.namespace}`,
      "--selector=etcd_cluster=my-etcd",
      "--output=jsonpath={..spec.containers[*].image}",
    );
    assert.deepEqual(new Set(images.split(" ")), new Set([`${registry.address}/etcd:v3.6.16`]));
    await removeOperator(home);
    await nothingIsLeft(home);

    // The members went on without an operator, and the next one takes care of them.
    await place.type("airGapChart");
    await operatorRuns(home, reference.replace(published, registry.address));
    await kubectl("delete", "etcd", "my-etcd", `--namespace=${place.namespace}`, timeout);
    await run(path.join(temporary, "bin", "helm"), ["uninstall", "etcd-operator", `--namespace=${home}`, "--wait"], {
      env: { HOME: temporary },
    });
    await removeOperator(home);
    await nothingIsLeft(home);
  });

  test("the archive for air gaps, without a registry: loaded into the nodes", async () => {
    for (const host of [published, registry.address]) await pullFromNowhere(lab, host);
    const { namespace, KUBECONFIG } = await ownPlace("released-loaded");
    const tagged = `${published}/etcd-operator:${version}`;
    await Promise.all(
      labNodes(lab).map(async ({ containerdSocket }) => {
        const images = (...args: string[]): Promise<string> =>
          run("ctr", ["--address", containerdSocket, "--namespace=k8s.io", "images", ...args]);
        const present = (await images("ls", "--quiet")).split("\n").filter((name) => name.includes("/etcd-operator@"));
        if (present.length > 0) await images("rm", "--sync", ...present);
        await images("import", path.join(folder, files.image));
        await images("tag", "--force", tagged, reference);
      }),
    );
    const file = path.join(folder, files.installNamespace);
    await kubectl(`--kubeconfig=${KUBECONFIG}`, "apply", "--server-side", "--force-conflicts", `--filename=${file}`);
    await operatorRuns(namespace, reference);
    await firstCluster(namespace);
    await removeFrom(namespace);
    await nothingIsLeft(namespace);
  });

  /** A folder with what a person carries over, in which the commands of the page are typed. */
  async function airGapped(): Promise<{
    namespace: string;
    type: (block: keyof typeof typedBlocks) => Promise<string>;
  }> {
    const carried = path.join(temporary, "carried");
    const programs = path.join(temporary, "bin");
    await mkdir(carried);
    await mkdir(programs);
    await copyFile(path.join(folder, files.airGap), path.join(carried, files.airGap));
    await copyFile((await ensureArchive(await etcdImage("3.6.16"))).file, path.join(carried, "etcd-v3.6.16.tar"));
    await symlink(await ensureCrane(), path.join(programs, "crane"));
    await symlink((await ensureHelm()).helm4, path.join(programs, "helm"));
    const { namespace, KUBECONFIG } = await placeIn((await ownPlace("air-gap")).namespace);
    const env = { KUBECONFIG, PATH: `${programs}:${process.env["PATH"] ?? ""}`, HOME: temporary };
    return {
      namespace,
      async type(block) {
        const script = await blockScript(typedBlocks[block], {
          "registry.internal.example.com": registry.address,
        }).catch(() => blockScript(typedBlocks[block]));
        return typeScript(`cd ${carried}; ${script}`, { env });
      },
    };
  }
});

/** Its only image is the one of the release, as the kubelet took it. */
async function operatorRuns(namespace: string, reference: string): Promise<void> {
  await kubectl("rollout", "status", "deployment/etcd-operator", `--namespace=${namespace}`, timeout);
  const { items } = await kubectlJson<{
    items: { metadata: { deletionTimestamp?: string }; spec: { containers: { image: string }[] } }[];
  }>("get", "pods", `--namespace=${namespace}`, "--selector=name=etcd-operator");
  const images = items
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .flatMap(({ spec }) => spec.containers.map(({ image }) => image));
  assert.deepEqual(images, [reference]);
}

/** As a user makes it, ready, and deleted again. */
async function firstCluster(namespace: string): Promise<void> {
  await apply({
    apiVersion: "etcd.database.coreos.com/v1beta2",
    kind: "EtcdCluster",
    metadata: { name: "first", namespace },
    spec: { size: 1, version: "3.6.16" },
  });
  await ready(namespace, "etcd/first");
  await kubectl("delete", "etcd", "first", `--namespace=${namespace}`, timeout);
  await kubectl("wait", "pods", `--namespace=${namespace}`, "--selector=etcd_cluster=first", "--for=delete", timeout);
}

/** As docs/install.md has it. */
async function removeOperator(namespace: string): Promise<void> {
  await kubectl("delete", "namespace", namespace, "--ignore-not-found", timeout);
  await kubectl("delete", "clusterrole,clusterrolebinding", "--selector=app.kubernetes.io/name=etcd-operator");
}

async function removeFrom(namespace: string): Promise<void> {
  await kubectl(
    "delete",
    "deployment,rolebinding,role,serviceaccount",
    "--selector=app.kubernetes.io/name=etcd-operator",
    `--namespace=${namespace}`,
  );
  await kubectl("delete", "lease", "--all", `--namespace=${namespace}`);
}

/** But for the CRDs, and what Kubernetes puts into every namespace. */
async function nothingIsLeft(namespace: string): Promise<void> {
  const inNamespace =
    "deployments,replicasets,services,secrets,configmaps,roles,rolebindings,serviceaccounts,leases,pods";
  let left: string[] = [];
  await waitFor(
    `nothing to be left in ${namespace}`,
    async () => {
      const own = await kubectl("get", inNamespace, `--namespace=${namespace}`, "--output=name", "--ignore-not-found");
      const selector = "--selector=app.kubernetes.io/name=etcd-operator";
      const wide = await kubectl("get", "clusterrole,clusterrolebinding", selector, "--output=name");
      left = `${own}${wide}`
        .split("\n")
        .filter((name) => name !== "" && !/kube-root-ca\.crt|serviceaccount\/default$/.test(name));
      return left.length === 0 || undefined;
    },
    { timeoutMs: 120_000, lastSeen: () => left.join(", ") },
  );
}
