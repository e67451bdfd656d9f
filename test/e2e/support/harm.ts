// What people and Kubernetes do to the pods of a cluster.
import { readdir, writeFile } from "node:fs/promises";
import * as path from "node:path";
import { run } from "../../../lab/command.ts";
import { containerOf, findPod } from "../../../lab/pods.ts";
import { EtcdCluster } from "../../../src/api/etcd-cluster.ts";
import { Pod } from "../../../src/kube/kinds.ts";
import { ownerReference } from "../../../src/kube/owners.ts";
import { kubectl } from "../../support/kubectl.ts";
import type { TestCluster } from "./cluster.ts";
import { kube, lab } from "./ground.ts";

/** At the same moment, as far as the API server goes. */
export async function deletePods({ namespace }: TestCluster, ...names: string[]): Promise<void> {
  await kubectl("delete", "pods", `--namespace=${namespace}`, "--wait=false", ...names);
}

/** As a drain does it; fails while the budget forbids it. */
export async function evictPod({ namespace }: TestCluster, name: string): Promise<true> {
  const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { namespace, name } };
  const address = `/api/v1/namespaces/${namespace}/pods/${name}/eviction`;
  await run("kubectl", ["create", `--raw=${address}`, "--filename=-"], { input: JSON.stringify(eviction) });
  return true;
}

/** With labels and owner of the cluster's pods; etcd has never heard of it. Its name. */
export async function podOfNoMember(cluster: TestCluster): Promise<string> {
  const owner = await cluster.get();
  const name = `${cluster.name}-nobody`;
  await kube.create(Pod, {
    metadata: {
      name,
      namespace: cluster.namespace,
      labels: { app: "etcd", etcd_cluster: cluster.name, etcd_node: name },
      ownerReferences: [ownerReference(EtcdCluster, owner)],
    },
    spec: {
      terminationGracePeriodSeconds: 0,
      securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: "RuntimeDefault" } },
      containers: [
        {
          name: "etcd",
          image: "lab.local/probe:1",
          command: ["/usr/local/bin/probe", "serve"],
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
        },
      ],
    },
  });
  return name;
}

/** Overwrites the log that a member must read when it starts: it ends at every start from then on. */
export async function spoilData({ namespace }: TestCluster, name: string): Promise<void> {
  const { pid } = containerOf(await findPod(lab, { namespace, name }), "etcd");
  const folder = `/proc/${pid}/root/var/etcd/data/member/wal`;
  const logs = (await readdir(folder)).filter((file) => file.endsWith(".wal"));
  for (const file of logs) await writeFile(path.join(folder, file), "not a log any more ".repeat(100));
}
