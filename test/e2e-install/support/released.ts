// What the tests of an installed release share: its operator runs the image of the release, makes a first cluster, is removed,
// and leaves nothing.
import assert from "node:assert/strict";
import { waitFor } from "../../../lab/progress.ts";
import { apply, kubectl, kubectlJson, ready } from "../../support/kubectl.ts";

const timeout = "--timeout=180s";

/** Its only image is the one of the release, as the kubelet took it. */
export async function operatorRuns(namespace: string, reference: string): Promise<void> {
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
export async function firstCluster(namespace: string): Promise<void> {
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
export async function removeOperator(namespace: string): Promise<void> {
  await kubectl("delete", "namespace", namespace, "--ignore-not-found", timeout);
  await kubectl("delete", "clusterrole,clusterrolebinding", "--selector=app.kubernetes.io/name=etcd-operator");
}

export async function removeFrom(namespace: string): Promise<void> {
  await kubectl(
    "delete",
    "deployment,rolebinding,role,serviceaccount",
    "--selector=app.kubernetes.io/name=etcd-operator",
    `--namespace=${namespace}`,
  );
  await kubectl("delete", "lease", "--all", `--namespace=${namespace}`);
}

/** But for the CRDs, and what Kubernetes puts into every namespace. */
export async function nothingIsLeft(namespace: string): Promise<void> {
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
