// Where kubectl acts now: its Kubernetes, by a client of our own, and its namespace.
import type { KubeApi } from "../src/kube/client/api.ts";
import { connectKube } from "../src/kube/client/client.ts";
import { findCredentials } from "../src/kube/credentials/find-credentials.ts";
import { shell } from "./typed.ts";

export interface Place {
  readonly api: KubeApi;
  readonly namespace: string;
}

/** Connected until the signal aborts. */
export async function findPlace(signal: AbortSignal): Promise<Place> {
  const namespace = await shell("kubectl config view --minify -o 'jsonpath={..namespace}'", { signal });
  const api = connectKube({ credentials: await findCredentials(), userAgent: "etcd-operator-demo" });
  signal.addEventListener("abort", () => api[Symbol.dispose](), { once: true });
  return { api, namespace: namespace || "default" };
}
