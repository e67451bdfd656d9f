// What a run stands on: the lab that is up, or one for the time being; a namespace of its own with an operator that looks after
// it alone; and a bucket for backups.
import { randomBytes } from "node:crypto";
import * as path from "node:path";
import { parseArgs } from "node:util";
import { Bucket } from "../bench/cluster/bucket.ts";
import { installOperator } from "../bench/places/operator.ts";
import { kubeconfigPath, type LabConfig, labConfig, UsageError } from "../lab/config.ts";
import { down } from "../lab/down.ts";
import { heal } from "../lab/faults/undo.ts";
import { readRecord } from "../lab/machine/registry.ts";
import { step, waitFor } from "../lab/progress.ts";
import { isUp, up } from "../lab/up.ts";
import { EtcdCluster } from "../src/api/etcd-cluster/etcd-cluster.ts";
import { connectKube, type KubeClient } from "../src/kube/client/client.ts";
import { kubeconfigCredentials } from "../src/kube/credentials/kubeconfig.ts";
import { Lease, Namespace, Pod } from "../src/kube/objects/kinds.ts";

export const operatorName = "etcd-operator";

export interface Ground {
  readonly lab: LabConfig;
  readonly api: KubeClient;
  readonly namespace: string;
  readonly bucket: Bucket;
  readonly signal: AbortSignal;
}

/** Takes the options of `lab/main.ts up`. */
export function wantedLab(args: readonly string[]): LabConfig {
  if (process.env["LAB"] === "none")
    throw new UsageError(
      "make chaos breaks nodes, networks and disks: it needs the lab, and LAB=none says to use none.",
    );
  const { values } = parseArgs({
    args: [...args],
    options: {
      name: { type: "string" },
      subnet: { type: "string" },
      nodes: { type: "string" },
      kubernetes: { type: "string" },
    },
  });
  const { nodes, ...named } = values;
  return labConfig({ ...named, ...(nodes === undefined ? {} : { nodes: Number(nodes) }) });
}

export async function withGround(
  wanted: LabConfig,
  signal: AbortSignal,
  use: (ground: Ground) => Promise<void>,
): Promise<void> {
  const wasUp = await isUp(wanted);
  const lab = (wasUp ? readRecord(wanted.name) : undefined) ?? wanted;
  if (!wasUp) await up(lab, { signal });
  try {
    process.env["KUBECONFIG"] = kubeconfigPath(lab);
    process.env["PATH"] = [lab.bin, process.env["PATH"] ?? ""].join(path.delimiter);
    await onLab(lab, signal, use);
  } finally {
    if (!wasUp) await step(`take the lab "${lab.name}" down`, () => down(lab));
  }
}

async function onLab(lab: LabConfig, signal: AbortSignal, use: (ground: Ground) => Promise<void>): Promise<void> {
  await using endings = new AsyncDisposableStack();
  const api = connectKube({ credentials: kubeconfigCredentials(kubeconfigPath(lab)), userAgent: "chaos" });
  endings.defer(async () => api.close());
  const namespace = `chaos-${randomBytes(3).toString("hex")}`;
  await api.create(Namespace, {
    metadata: { name: namespace, labels: { "pod-security.kubernetes.io/enforce": "restricted" } },
  });
  endings.defer(async () => {
    await api.delete(Namespace, { namespace: "", name: namespace });
  });
  // Last made, first ended: nothing can be deleted as long as a fault holds it.
  const atTheEnd = (end: () => Promise<void>): void => endings.defer(end);
  await installOperator({ lab, api, signal, atTheEnd }, namespace);
  const bucket = endings.use(await Bucket.open({ lab, api }, namespace));
  endings.defer(async () => {
    await heal(lab);
    await endClusters(api, namespace);
  });
  await use({ lab, api, namespace, bucket, signal });
}

/** While their operator is there, so that nothing waits for it. */
async function endClusters(api: KubeClient, namespace: string): Promise<void> {
  const { items } = await api.list(EtcdCluster, { namespace });
  for (const { metadata } of items) await api.delete(EtcdCluster, { namespace, name: metadata?.name ?? "" });
}

/** The pod that leads, or any that is left while nobody does. */
export async function operatorPod({ api, namespace }: Ground): Promise<string> {
  const { items } = await api.list(Pod, { namespace, labelSelector: `name=${operatorName}` });
  const { spec } = await api.get(Lease, { namespace, name: operatorName });
  const names = items
    .filter(({ metadata }) => metadata?.deletionTimestamp === undefined)
    .map(({ metadata }) => metadata?.name ?? "");
  const name = names.find((one) => spec?.holderIdentity?.startsWith(`${one}_`)) ?? names[0];
  if (name === undefined) throw new Error("the operator has no pod");
  return name;
}

export async function untilOperatorReady({ api, namespace, signal }: Ground): Promise<void> {
  let seen = "nothing";
  await waitFor(
    "the operator to be ready",
    async () => {
      signal.throwIfAborted();
      const { items } = await api.list(Pod, { namespace, labelSelector: `name=${operatorName}` });
      seen = items.map(({ metadata, status }) => `${metadata?.name} ${status?.phase}`).join(", ");
      const ready = items.filter(({ status }) =>
        status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True"),
      );
      return (ready.length === items.length && items.length > 0) || undefined;
    },
    { timeoutMs: 180_000, everyMs: 500, lastSeen: () => seen },
  );
}
