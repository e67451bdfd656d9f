// Whether a namespace is being deleted. It is asked by a dry run of what would be refused then, creating a pod, because that
// needs no permission to read Namespaces, which an operator of one namespace does not have.
import type { KubeApi } from "../../kube/client/api.ts";
import { ApiError } from "../../kube/client/errors.ts";
import { Pod } from "../../kube/objects/kinds.ts";

export async function namespaceState(
  api: KubeApi,
  namespace: string,
  signal: AbortSignal,
): Promise<"active" | "terminating"> {
  try {
    await api.create(Pod, probe(namespace), { dryRun: true, signal });
    return "active";
  } catch (error) {
    // Refused for any other reason, the namespace still takes what it should.
    if (!(error instanceof ApiError)) throw error;
    return error.causes.some(({ reason }) => reason === "NamespaceTerminating") ? "terminating" : "active";
  }
}

const probe = (namespace: string): Pod => ({
  metadata: { namespace, name: "etcd-operator-dry-run" },
  spec: { containers: [{ name: "none", image: "none" }] },
});
