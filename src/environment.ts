// Who and where the operator is: its pod's name and namespace, which the manifest passes on, or defaults when it runs
// outside of a cluster.
import { hostname } from "node:os";
import { FlagError } from "./flags.ts";

export interface Identity {
  readonly namespace: string;
  readonly pod: string;
}

export function identityOf(env: NodeJS.ProcessEnv): Identity {
  const namespace = env["MY_POD_NAMESPACE"] ?? "";
  const pod = env["MY_POD_NAME"] ?? "";
  const inPod = Boolean(env["KUBERNETES_SERVICE_HOST"]) && !env["KUBECONFIG"];
  if (inPod && (namespace === "" || pod === ""))
    throw new FlagError(
      "MY_POD_NAMESPACE and MY_POD_NAME must be set to the operator's own pod: use fieldRef metadata.namespace and metadata.name.",
    );
  return { namespace: namespace || "default", pod: pod || hostname() };
}
