// A release installed from its own files, in each way that it offers, by nodes that pull its image from a registry by digest:
// an operator makes a cluster, is removed again, and leaves nothing but the CRDs.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { copyFile, mkdir, readFile, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, before, describe, test } from "node:test";
import { typedBlocks } from "../../docs/typed.ts";
import { hostAddress, labNodes } from "../../lab/config.ts";
import { ensureArchive } from "../../lab/images/archive.ts";
import { etcdImage } from "../../lab/images/etcd.ts";
import { run } from "../../lab/machine/command.ts";
import { pullFrom, pullFromNowhere } from "../../lab/nodes/registries.ts";
import { names } from "../../release/names.ts";
import { ensureCrane } from "../../release/programs/programs.ts";
import { ownPlace, placeIn } from "../e2e/own-kubeconfig.ts";
import { blockScript, typeScript } from "../support/docs.ts";
import { kubectl } from "../support/kubectl.ts";
import { testLab } from "../support/lab.ts";
import { firstCluster, nothingIsLeft, operatorRuns, removeFrom, removeOperator } from "./support/released.ts";
import { makeRelease, releaseFolder, version } from "../release/support/made.ts";
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
    await makeRelease(folder, `${published}/etcd-operator`);
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

  test("the archive for air gaps, as its page has it", async () => {
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
    await kubectl("delete", "etcd", "my-etcd", `--namespace=${place.namespace}`, timeout);
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
