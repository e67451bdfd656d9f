// Types docs/take-over.md from top to bottom, in the namespace of a cluster that etcd-operator 0.9 left.
import { after } from "node:test";
import { placeIn } from "../../e2e/own-kubeconfig.ts";
import type { TestCluster } from "../../e2e/support/cluster.ts";
import { pageScript, typeScript } from "../../support/docs.ts";
import { apply, kubectl } from "../../support/kubectl.ts";

/** The page names it so. */
export const clusterOfPage = "my-etcd";

const typedIn: string[] = [];
after(async () => {
  for (const namespace of typedIn)
    await kubectl("delete", "clusterrolebinding", `etcd-operator-${namespace}`, "--ignore-not-found");
});

/** The Deployment of an operator that has no image any more: it runs nothing. */
const oldDeployment = (namespace: string): object => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { namespace, name: "etcd-operator" },
  spec: {
    replicas: 0,
    selector: { matchLabels: { name: "etcd-operator" } },
    template: {
      metadata: { labels: { name: "etcd-operator" } },
      spec: { containers: [{ name: "etcd-operator", image: "quay.io/coreos/etcd-operator:v0.9.4" }] },
    },
  },
});

export async function takeOverByPage({ namespace }: TestCluster): Promise<void> {
  await apply(oldDeployment(namespace));
  typedIn.push(namespace);
  const { KUBECONFIG } = await placeIn(namespace);
  await typeScript(await pageScript("docs/take-over.md"), { env: { KUBECONFIG } });
}
