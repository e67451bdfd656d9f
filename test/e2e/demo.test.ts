// The demo, from the operator to the restore, as on a Kubernetes of one's own: it leaves alone what is not its own, an
// interrupted one ends in order, and the next one starts over and tells the whole story.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import * as path from "node:path";
import { after, before, test } from "node:test";
import { claim, nextVersion } from "../../demo/names.ts";
import { loadOperatorImage } from "../../lab/image.ts";
import { waitFor } from "../../lab/progress.ts";
import { root } from "../suites.ts";
import { apply, kubectl } from "../support/kubectl.ts";
import { testLab } from "../support/lab.ts";
import { ownPlace, type Place } from "./own-kubeconfig.ts";

let place: Place;

before(async () => {
  await loadOperatorImage(testLab());
  place = await ownPlace("demo");
});
after(() => kubectl("delete", "clusterrolebinding", `etcd-operator-${place.namespace}`, "--ignore-not-found"));

interface DemoRun {
  readonly exitCode: number | null;
  readonly text: string;
}

/** Presses Ctrl-C, so to speak, as soon as the demo has shown `stopAt`. */
function demo(stopAt?: string): Promise<DemoRun> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [path.join(root, "demo/main.ts")], {
      cwd: root,
      env: { ...process.env, KUBECONFIG: place.KUBECONFIG, LAB: "none" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let text = "";
    let stopped = false;
    const hear = (chunk: Buffer): void => {
      text += chunk.toString();
      if (stopAt === undefined || stopped || !text.includes(stopAt)) return;
      stopped = true;
      child.kill("SIGINT");
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("error", reject);
    child.on("close", (exitCode) => resolve({ exitCode, text }));
  });
}

const get = (what: string, field: string): Promise<string> =>
  kubectl("get", what, `--namespace=${place.namespace}`, `--output=jsonpath={${field}}`);

test("what has the name of something of the demo, and is not its own, is left alone", {
  timeout: 120_000,
}, async () => {
  const metadata = { name: claim, namespace: place.namespace };
  const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
  await apply({ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata, spec });
  const { exitCode, text } = await demo();
  assert.equal(exitCode, 1, text);
  assert.match(text, /already has the PersistentVolumeClaim etcd-backups, not made by a demo/);
  assert.doesNotMatch(text, /The operator/);
  await kubectl("delete", "persistentvolumeclaim", claim, `--namespace=${place.namespace}`);
});

test("an interrupted demo ends in order, and the next one tells the whole story", { timeout: 1_200_000 }, async () => {
  const interrupted = await demo("etcdcluster.etcd.database.coreos.com/my-etcd created");
  assert.equal(interrupted.exitCode, 1, interrupted.text);
  assert.match(interrupted.text, /Stopped by SIGINT; everything created so far stays/);
  const { exitCode, text } = await demo();
  assert.equal(exitCode, 0, text);
  assert.match(text, /An earlier demo left the EtcdCluster my-etcd/);
  assert.match(text, /acknowledged, in the backup +([1-9]\d*) +\1$/m, text);
  assert.match(text, /acknowledged, later than the backup +[1-9]\d* +0$/m, text);
  // A member that a busy machine makes slow is missed for a moment.
  let seen = "";
  await waitFor(
    "three members in the next version",
    async () => {
      seen = await get("etcd/my-etcd", ".status['ready','currentVersion']");
      return seen === `3/3 ${nextVersion}` || undefined;
    },
    { timeoutMs: 180_000, lastSeen: () => seen },
  );
  assert.equal(await get("etcdrestore/my-etcd", ".status.succeeded"), "true");
});
