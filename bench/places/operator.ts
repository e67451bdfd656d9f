// The operator as people install it, once for all benchmarks: the image of this tree, the role script and the manifest
// of example/, in a namespace of its own whose clusters it manages.
import * as path from "node:path";
import { run } from "../../lab/machine/command.ts";
import { kubeconfigPath } from "../../lab/config.ts";
import { loadOperatorImage } from "../../lab/image.ts";
import { tree } from "../../lab/images/bundle.ts";
import { findPod, type RunningPod } from "../../lab/nodes/pods.ts";
import { step } from "../../lab/progress.ts";
import { Lease, Pod } from "../../src/kube/objects/kinds.ts";
import type { Ground } from "../ground.ts";
import { until } from "./until.ts";

const name = "etcd-operator";
const example = path.join(tree, "example");

export async function installOperator(
  ground: Pick<Ground, "lab" | "api" | "signal" | "atTheEnd">,
  namespace: string,
): Promise<void> {
  const { lab } = ground;
  await loadOperatorImage(lab);
  const env = {
    KUBECONFIG: kubeconfigPath(lab),
    PATH: [lab.bin, process.env["PATH"] ?? ""].join(path.delimiter),
  };
  const within = `--namespace=${namespace}`;
  // A role of its own: the one of an operator that is installed here already stays as it is.
  ground.atTheEnd(async () => {
    await run("kubectl", ["delete", "clusterrole,clusterrolebinding", namespace, "--ignore-not-found"], { env });
  });
  await step("install the operator", async () => {
    const role = [`--role-name=${namespace}`, `--role-binding-name=${namespace}`, within];
    await run(path.join(example, "rbac/create_role.sh"), role, { env });
    await run("kubectl", ["apply", within, `--filename=${path.join(example, "deployment.yaml")}`], { env });
    await leadingOperator(ground, namespace);
  });
}

/** The pod that holds the lease, and so has filled its caches. */
async function leadingOperator(
  { api, lab, signal }: Pick<Ground, "lab" | "api" | "signal">,
  namespace: string,
): Promise<RunningPod> {
  const leader = await until(
    "an operator to lead",
    async () => {
      const { items } = await api.list(Pod, { namespace, labelSelector: `name=${name}` });
      const { spec } = await api.get(Lease, { namespace, name });
      const staying = items.filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
      const leads = staying.find(({ metadata }) => spec?.holderIdentity?.startsWith(`${metadata?.name}_`));
      return leads ?? `${staying.length} pods, and ${spec?.holderIdentity ?? "nobody"} leads`;
    },
    signal,
  );
  return findPod(lab, { namespace, name: leader.metadata?.name ?? "" });
}

/** A process that remembers nothing of what was measured before. */
export async function restartOperator(ground: Ground, namespace: string): Promise<RunningPod> {
  const before = await leadingOperator(ground, namespace);
  await ground.api.delete(Pod, { namespace, name: before.name }, { uid: before.uid });
  return leadingOperator(ground, namespace);
}
