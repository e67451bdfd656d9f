import assert from "node:assert/strict";
import { test } from "node:test";
import { identityOf } from "./environment.ts";
import { FlagError, type Flags, parseFlags } from "./flags.ts";
import { programs } from "./programs.ts";

const usual: Flags = {
  createCrd: true,
  clusterWide: false,
  namespaces: [],
  listenAddr: "0.0.0.0:8080",
  version: false,
  backup: true,
  restore: true,
  workerImage: "",
  chaosLevel: undefined,
};

const read: [string, string[], Partial<Flags>][] = [
  ["nothing", [], {}],
  ["one dash", ["-cluster-wide"], { clusterWide: true }],
  ["two dashes and an equals sign", ["--create-crd=false"], { createCrd: false }],
  ["a value as the next argument", ["-listen-addr", "127.0.0.1:9000"], { listenAddr: "127.0.0.1:9000" }],
  ["several namespaces", ["-namespaces=a, b"], { namespaces: ["a", "b"] }],
  ["the short truths of Go", ["-create-crd=f", "-cluster-wide=1"], { createCrd: false, clusterWide: true }],
  ["the flag of etcd-operator 0.9 that is ignored now", ["--gc-interval", "10m"], {}],
  ["clusters only", ["-backup=false", "-restore=false"], { backup: false, restore: false }],
  ["an image for workers", ["-worker-image", "mirror/etcd-operator:1"], { workerImage: "mirror/etcd-operator:1" }],
  ["no chaos", ["-chaos-level=-1"], {}],
  ["some chaos", ["-chaos-level=2"], { chaosLevel: 2 }],
  ["the last of two", ["-cluster-wide", "-cluster-wide=false"], {}],
];
for (const [what, args, wanted] of read) {
  test(`flags are read as Go reads them: ${what}`, () => {
    assert.deepEqual(parseFlags(args, "etcd-operator"), { ...usual, ...wanted });
  });
}

test("the three programs listen on a port of their own each, so that they run as containers of one pod", () => {
  const addresses = programs.map((program) => parseFlags([], program).listenAddr);
  assert.deepEqual(addresses, ["0.0.0.0:8080", "0.0.0.0:19998", "0.0.0.0:19999"]);
  assert.equal(parseFlags(["-listen-addr=:9"], "etcd-restore-operator").listenAddr, ":9");
});

const refused: [string[], RegExp][] = [
  [["-unknown"], /-unknown is not a known flag\. The flags are -cluster-wide/],
  [["--toString"], /not a flag/],
  [["stray"], /"stray" is not a flag/],
  [["-create-crd=maybe"], /true or false/],
  [["-listen-addr"], /needs a value/],
  [["-listen-addr=nonsense"], /host:port/],
  [["-chaos-level=3"], /1 or 2, or -1 to disable chaos/],
  [["-chaos-level=much"], /must be a number/],
  [["-gc-interval=soon"], /duration/],
  [["-cluster-wide", "-namespaces=a"], /are mutually exclusive/],
  [["-namespaces=A_b"], /not a valid namespace name/],
];
for (const [args, says] of refused) {
  test(`${args.join(" ")} is refused in a sentence`, () => {
    assert.throws(
      () => parseFlags(args, "etcd-operator"),
      (error) => error instanceof FlagError && says.test(error.message),
    );
  });
}

test("in a pod the operator needs its name and namespace, outside it does not", () => {
  const inPod = { KUBERNETES_SERVICE_HOST: "10.0.0.1" };
  assert.throws(() => identityOf(inPod), /MY_POD_NAMESPACE and MY_POD_NAME/);
  assert.deepEqual(identityOf({ ...inPod, MY_POD_NAMESPACE: "n", MY_POD_NAME: "p" }), { namespace: "n", pod: "p" });
  assert.equal(identityOf({}).namespace, "default");
  assert.equal(identityOf({ ...inPod, KUBECONFIG: "/file" }).namespace, "default");
  assert.throws(() => identityOf({ ...inPod, KUBECONFIG: "" }), /MY_POD_NAMESPACE/);
});
