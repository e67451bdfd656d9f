// What to type next, after the demo.
import { existsSync } from "node:fs";
import * as path from "node:path";
import { labConfig } from "../lab/config.ts";
import { backup, claim, cluster, restore } from "./names.ts";
import { aligned } from "./table.ts";
import { type Target, howToUse } from "./target.ts";
import { tree } from "./typed.ts";

/** How the kubectl plugin can be started; undefined: it has not been built. */
export type Plugin = "kubectl etcd" | "dist/kubectl-etcd" | undefined;

export function findPlugin(): Plugin {
  const folders = (process.env["PATH"] ?? "").split(path.delimiter);
  if (folders.some((folder) => existsSync(path.join(folder, "kubectl-etcd")))) return "kubectl etcd";
  return existsSync(path.join(tree, "dist/kubectl-etcd")) ? "dist/kubectl-etcd" : undefined;
}

interface Facts {
  readonly target: Target;
  readonly plugin: Plugin;
  /** Whether the demo got as far as a backup and a restore. */
  readonly restored: boolean;
}

export function nextLines({ target, plugin, restored }: Facts): string[] {
  const use = howToUse(target);
  const lines: [line: string, why: string][] = [
    plugin === undefined ? ["make plugin", "builds kubectl etcd"] : [`${plugin} status ${cluster}`, "all at a glance"],
    ["kubectl get etcd,pods", "cluster and members"],
    [`kubectl describe etcd ${cluster}`, "conditions and events"],
    [`kubectl scale etcd ${cluster} --replicas=5`, "grow it"],
    [`CLUSTER=${cluster} example/experiment/put.sh &`, "write, while"],
    [`CLUSTER=${cluster} example/experiment/delete_pod.sh 3`, "members are killed,"],
    [`CLUSTER=${cluster} example/experiment/get.sh`, "then compare"],
    [`kubectl delete etcd/${cluster}${restored ? ` etcdrestore/${restore}` : ""}`, "delete the cluster"],
  ];
  if (restored) lines.push([`kubectl delete etcdbackup/${backup} pvc/${claim}`, "and its backups"]);
  if (target.t === "lab") lines.push([lineToTakeDown(target.lab.name), "stop the lab"]);
  return [...(use === "" ? [] : [use]), ...aligned(lines.map(([line, why]) => [line, `# ${why}`]))];
}

const lineToTakeDown = (lab: string): string =>
  `make lab-down${lab === labConfig().name ? "" : ` LAB_OPTIONS='--name ${lab}'`}`;
