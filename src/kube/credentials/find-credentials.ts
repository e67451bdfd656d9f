// Finds out how to reach the cluster, in the usual order: what is named, then KUBECONFIG, then
// the pod's service account, then the kubeconfig of their home.
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { type Credentials, CredentialsError } from "./credentials.ts";
import { inClusterCredentials } from "./in-cluster.ts";

interface FindOptions {
  /** A kubeconfig file, named by a flag. */
  kubeconfig?: string;
  env?: NodeJS.ProcessEnv;
}

export async function findCredentials({ kubeconfig, env = process.env }: FindOptions = {}): Promise<Credentials> {
  const named = kubeconfig ?? env["KUBECONFIG"];
  if (named) return fromKubeconfig(named);
  const inCluster = inClusterCredentials(env);
  if (inCluster) return inCluster;
  const atHome = join(env["HOME"] ?? homedir(), ".kube", "config");
  if (existsSync(atHome)) return fromKubeconfig(atHome);
  throw new CredentialsError("no cluster is known: set KUBECONFIG, or run inside a pod that has a service account");
}

// Loaded only when needed, because a pod never needs the YAML parser that comes with it.
async function fromKubeconfig(paths: string): Promise<Credentials> {
  const { kubeconfigCredentials } = await import("./kubeconfig.ts");
  return kubeconfigCredentials(paths);
}
