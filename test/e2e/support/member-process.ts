// The arguments and environment variables of a member's process, as the kernel has them, and whether its kubelet has reported it.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { containerOf, findPod } from "../../../lab/nodes/pods.ts";
import type { Pod } from "../../../src/kube/objects/kinds.ts";
import { waitFor } from "../../../lab/progress.ts";
import type { TestCluster } from "./cluster.ts";
import { lab, patience } from "./environment.ts";
import type { HealthyCluster } from "./healthy.ts";

export interface MemberProcess {
  readonly args: readonly string[];
  readonly env: ReadonlyMap<string, string>;
  /** User id. */
  readonly user: number;
}

export async function processOf({ namespace }: TestCluster, name: string): Promise<MemberProcess> {
  const { pid } = containerOf(await findPod(lab, { namespace, name }), "etcd");
  const read = (file: string): Promise<string> => readFile(`/proc/${pid}/${file}`, "utf8");
  const [args, variables, status] = await Promise.all([read("cmdline"), read("environ"), read("status")]);
  return {
    args: parts(args),
    env: new Map(parts(variables).map(nameAndValue)),
    user: Number(/^Uid:\s+(\d+)/m.exec(status)?.[1]),
  };
}

/** Each pod of these members, with its process. */
export async function eachHas(
  cluster: TestCluster,
  { members }: HealthyCluster,
  has: (pod: Pod, process: MemberProcess) => void,
): Promise<void> {
  for (const { name } of members) {
    const pod = await cluster.pod(name);
    assert.ok(pod, `${name} is gone`);
    has(pod, await processOf(cluster, name));
  }
}

/** Whether these pods are as they are: a kubelet reports a restart of etcd some time after that serves again. */
export async function areReported({ namespace }: TestCluster, pods: readonly Pod[]): Promise<boolean> {
  const reported = pods.map(async ({ metadata, status }) => {
    const { id } = containerOf(await findPod(lab, { namespace, name: metadata?.name ?? "" }), "etcd");
    return status?.containerStatuses?.some(({ containerID }) => containerID === `containerd://${id}`) ?? false;
  });
  return (await Promise.all(reported)).every((one) => one);
}

/** From then on the restarts of its pods can be compared. */
export async function untilReported(cluster: TestCluster): Promise<void> {
  await waitFor(
    `${cluster.name}: kubelets to report the containers that run`,
    async () => (await areReported(cluster, await cluster.pods())) || undefined,
    { timeoutMs: patience, everyMs: 500 },
  );
}

const parts = (text: string): string[] => text.split("\0").filter((part) => part !== "");

function nameAndValue(variable: string): readonly [string, string] {
  const end = variable.indexOf("=");
  return [variable.slice(0, end), variable.slice(end + 1)];
}
