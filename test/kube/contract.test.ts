// The real client on a real API server keeps the contract that unit tests rely on with the in-memory twin.
import { connectKube } from "../../src/kube/client/client.ts";
import { findCredentials } from "../../src/kube/credentials/find-credentials.ts";
import { Namespace, ServiceAccount } from "../../src/kube/objects/kinds.ts";
import { contract } from "../../src/kube/testing/contract/contract.ts";
import { waitFor } from "../../src/kube/testing/contract/ground.ts";
import { kubeconfig } from "./kubeconfig.ts";

contract("the client on a real API server", async () => {
  const api = connectKube({ credentials: await findCredentials(kubeconfig()) });
  const made = await api.create(Namespace, { metadata: { generateName: "contract-" } });
  const namespace = made.metadata?.name ?? "";
  // Pods are refused until the namespace has its service account.
  await waitFor("the default service account", () => api.get(ServiceAccount, { namespace, name: "default" }));
  return {
    api,
    namespace,
    async close() {
      await api.delete(Namespace, { namespace: "", name: namespace });
      api.close();
    },
  };
});
