// The commands after the demo suit the Kubernetes that it ran on and the plugin that is there.
import assert from "node:assert/strict";
import { test } from "node:test";
import { labConfig } from "../lab/config.ts";
import { nextLines, type Plugin } from "./next.ts";
import type { Target } from "./target.ts";

const given: Target = { t: "given" };
const lab = (name: string): Target => ({ t: "lab", lab: labConfig({ name }) });
const lines = (target: Target, plugin?: Plugin, restored = true): string[] => nextLines({ target, plugin, restored });
const says = (target: Target, plugin?: Plugin): string => lines(target, plugin).join("\n");

test("the plugin is offered as it can be started, or how to build it", () => {
  assert.match(says(given, "kubectl etcd"), /^kubectl etcd status my-etcd +# /m);
  assert.match(says(given, "dist/kubectl-etcd"), /^dist\/kubectl-etcd status my-etcd +# /m);
  assert.match(says(given), /^make plugin +# /m);
  assert.doesNotMatch(says(given), /etcd status/);
});

test("only the lab has to be pointed at first and stopped last, by its name", () => {
  assert.match(lines(lab("lab"))[0] ?? "", /^export KUBECONFIG=\$PWD\/.* PATH=/);
  assert.match(says(lab("lab")), /^make lab-down +# stop the lab$/m);
  assert.match(says(lab("second")), /^make lab-down LAB_OPTIONS='--name second' +# stop the lab$/m);
  assert.doesNotMatch(says(given), /export|lab-down/);
});

test("what was not made is not to be deleted", () => {
  assert.match(says(given), /^kubectl delete etcd\/my-etcd etcdrestore\/my-etcd +# /m);
  assert.match(says(given), /^kubectl delete etcdbackup\/nightly pvc\/etcd-backups +# /m);
  assert.doesNotMatch(lines(given, undefined, false).join("\n"), /restore|backup/);
});

test("the commands with their reasons fit into 80 columns", () => {
  for (const plugin of ["kubectl etcd", "dist/kubectl-etcd", undefined] as const)
    for (const line of lines(given, plugin)) assert.ok(line.length <= 78, line);
});
