// The Dockerfile, built by a real builder: it gives the image that `make image` gives, and the operator runs from it.
import assert from "node:assert/strict";
import * as path from "node:path";
import { before, describe, test } from "node:test";
import { installationOf } from "../../install/installation.ts";
import { image } from "../../install/deployment.ts";
import { labNodes } from "../../lab/config.ts";
import { ensureArchive } from "../../lab/images/archive.ts";
import { loadImages } from "../../lab/images/load.ts";
import { buildOperatorImage, operatorImageTag } from "../../lab/images/operator.ts";
import { run } from "../../lab/machine/command.ts";
import { step } from "../../lab/progress.ts";
import { root } from "../suites.ts";
import { apply, kubectl, ownNamespace } from "../support/kubectl.ts";
import { testLab } from "../support/lab.ts";
import { type Buildah, buildah } from "./support/buildah.ts";
import { filesIn } from "./support/image-files.ts";
import { standIns } from "./support/stand-ins.ts";

const patience = { timeout: 1_200_000 };
const builtTag = `${image.repository}:by-dockerfile`;
const etcdutl = "usr/local/bin/etcdutl";
const timeout = "--timeout=180s";

/** Builds the Dockerfile on the stand-ins. Gives back the image's id. */
function build(builder: Buildah): Promise<string> {
  return step("build the Dockerfile", async (progress) => {
    const options = new Set<string>();
    for (const { argument, image, lent } of await standIns()) {
      progress.detail(argument);
      await builder.pull((await ensureArchive(image, builder.folder)).file);
      options.add(`--build-arg=${argument}=${image.tags[0]}`);
      for (const { from, at, writable } of lent) options.add(`--volume=${from}:${at}:${writable ? "rw" : "ro"}`);
    }
    progress.detail("all stages");
    const file = path.join(root, "Dockerfile");
    return (await builder.call("bud", "--quiet", ...options, `--tag=${builtTag}`, `--file=${file}`, root)).trim();
  });
}

describe("the Dockerfile and make image", patience, () => {
  let builder: Buildah;
  let builtId: string;
  before(async () => {
    builder = await buildah();
    await builder.pull((await buildOperatorImage()).file);
    builtId = await build(builder);
  });

  test("the archive of make image has the name that the manifests have, for those who load it", async () => {
    const names = await builder.call("images", "--format={{.Name}}:{{.Tag}}");
    assert.ok(names.split("\n").includes(operatorImageTag), names);
    assert.equal(operatorImageTag, `${image.repository}:${image.tag}`);
  });

  test("both have the same files, and start the same program as the same user", async () => {
    const [ours, built] = [await builder.files(operatorImageTag), await builder.files(builtTag)];
    const [expected, found] = [await filesIn(ours), await filesIn(built)];
    // Go notes in a program which module it was built in, so this one is compared by what it says of itself.
    for (const files of [expected, found]) files[etcdutl] = files[etcdutl]?.replace(/ \w{64}$/, "") ?? "missing";
    assert.deepEqual(found, expected);
    const says = (folder: string): Promise<string> => run(path.join(folder, etcdutl), ["version"]);
    assert.equal(await says(built), await says(ours));
    assert.deepEqual(await builder.configuration(builtTag), await builder.configuration(operatorImageTag));
  });

  test("an operator from the Dockerfile's image makes a cluster, and has the etcdutl that restores need", async () => {
    const archive = path.join(builder.folder, "built.tar");
    await builder.call("push", "--quiet", builtTag, `docker-archive:${archive}:${builtTag}`);
    const nodes = labNodes(testLab());
    await Promise.all(nodes.map((node) => loadImages(node, [{ file: archive, tags: [builtTag], digest: builtId }])));
    const namespace = await ownNamespace("dockerfile", { "pod-security.kubernetes.io/enforce": "restricted" });
    const input = JSON.stringify({
      apiVersion: "v1",
      kind: "List",
      items: installationOf({ scope: "namespace", namespace }),
    }).replaceAll(operatorImageTag, builtTag);
    await run("kubectl", ["apply", "--server-side", "--force-conflicts", "--filename=-"], { input });
    await kubectl("rollout", "status", "deployment/etcd-operator", `--namespace=${namespace}`, timeout);
    await apply({
      apiVersion: "etcd.database.coreos.com/v1beta2",
      kind: "EtcdCluster",
      metadata: { name: "first", namespace },
      spec: { size: 1, version: "3.6.16" },
    });
    await kubectl("wait", "etcd/first", `--namespace=${namespace}`, "--for=condition=Ready", timeout);
    const operator = ["exec", "deployment/etcd-operator", `--namespace=${namespace}`, "--"];
    assert.match(await kubectl(...operator, "etcdutl", "version"), /etcdutl version: 3\.7\.3/);
    const images = await kubectl(
      "get",
      "pods",
      `--namespace=${namespace}`,
      "--output=jsonpath={..spec.containers[*].image}",
    );
    assert.ok(images.split(" ").includes(builtTag), images);
    await kubectl("delete", "etcd", "first", `--namespace=${namespace}`);
  });
});
