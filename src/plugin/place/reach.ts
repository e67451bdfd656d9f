// The Kubernetes that a command works on, as the user who typed it: the API, the namespace, and the figures that members
// give through the API server.
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { KubeApi } from "../../kube/client/api.ts";
import { connectKube } from "../../kube/client/client.ts";
import { type Credentials, CredentialsError, type Impersonation } from "../../kube/credentials/credentials.ts";
import { inClusterCredentials } from "../../kube/credentials/in-cluster.ts";
import { contextNameOf, kubeconfigCredentials, namespaceOf } from "../../kube/credentials/kubeconfig.ts";
import type { Key } from "../../kube/objects/objects.ts";
import { version } from "../../version.ts";
import type { Flags } from "../line/flags.ts";
import { UsageError } from "../line/usage-error.ts";

export interface Reach extends Disposable {
  readonly api: KubeApi;
  readonly namespace: string;
  /** The context of the kubeconfig; undefined: there is none, as in a pod. */
  readonly context: string | undefined;
  /** The end of what a container of a pod has printed. `previous`: the container that was there before it restarted. */
  logEnd(pod: Key, options: LogEnd): Promise<string>;
  /** What a member prints at /metrics. `port`: as the proxy of the API server takes it, as in `2381`. */
  metrics(pod: Key, port: MetricsPort): Promise<string>;
}

interface LogEnd {
  readonly container: string;
  readonly lines: number;
  readonly previous?: true;
}

export interface MetricsPort {
  readonly scheme: "http" | "https";
  readonly port: number;
}

/** A person waits: rather a sentence than another attempt. */
const patience = 10_000;
/** A figure is worth less than the rest of the screen. */
const patienceForMetrics = 4_000;
/** Bytes; a line may be as long as the program likes. */
const longestLog = 1 << 20;

export function reachOf(flags: Flags, env: NodeJS.ProcessEnv): Reach {
  const { credentials, namespace, context } = chosen(flags, env);
  const client = connectKube({ credentials, userAgent: `kubectl-etcd/${version}`, deadline: patience });
  return {
    api: client,
    namespace,
    context,
    async logEnd({ namespace, name }, { container, lines, previous }) {
      const query = `container=${encodeURIComponent(container)}&tailLines=${lines}&limitBytes=${longestLog}&timestamps=true`;
      const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}/log`;
      return text(await client.raw("GET", `${path}?${query}${previous === true ? "&previous=true" : ""}`));
    },
    async metrics({ namespace, name }, { scheme, port }) {
      const target = `${scheme === "https" ? "https:" : ""}${name}:${port}`;
      const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${target}/proxy/metrics`;
      return text(await client.raw("GET", path, undefined, { deadline: patienceForMetrics }));
    },
    [Symbol.dispose]: () => client.close(),
  };
}

const text = (answer: unknown): string => (typeof answer === "string" ? answer : "");

interface ChosenPlace extends Pick<Reach, "namespace" | "context"> {
  readonly credentials: Credentials;
}

function chosen(flags: Flags, env: NodeJS.ProcessEnv): ChosenPlace {
  const impersonation = impersonationOf(flags);
  const context = flags.text("context");
  const paths = kubeconfigPaths(flags, env);
  if (paths === undefined) return inPod(flags, env);
  const choice = { ...(context !== undefined && { context }), ...(impersonation && { impersonation }) };
  return {
    credentials: kubeconfigCredentials(paths, choice),
    namespace: flags.text("namespace") ?? namespaceOf(paths, choice) ?? "default",
    context: contextNameOf(paths, choice),
  };
}

/** As kubectl finds it. */
function kubeconfigPaths(flags: Flags, env: NodeJS.ProcessEnv): string | undefined {
  const named = flags.text("kubeconfig") ?? env["KUBECONFIG"];
  if (named) return named;
  const atHome = join(env["HOME"] ?? homedir(), ".kube", "config");
  return existsSync(atHome) ? atHome : undefined;
}

function inPod(flags: Flags, env: NodeJS.ProcessEnv): ChosenPlace {
  const credentials = inClusterCredentials(env);
  if (credentials === undefined) throw new CredentialsError("no kubeconfig was found: set KUBECONFIG");
  const impersonation = impersonationOf(flags);
  return {
    credentials: impersonation === undefined ? credentials : impersonating(credentials, impersonation),
    namespace: flags.text("namespace") ?? "default",
    context: undefined,
  };
}

const impersonating = (credentials: Credentials, impersonation: Impersonation): Credentials => ({
  server: credentials.server,
  tls: () => credentials.tls(),
  authorization: () => credentials.authorization(),
  forget: () => credentials.forget(),
  impersonation,
});

function impersonationOf(flags: Flags): Impersonation | undefined {
  const user = flags.text("as");
  const groups = flags.all("as-group");
  if (user === undefined && groups.length > 0) throw new UsageError("--as-group needs --as: also name the user.");
  return user === undefined ? undefined : { user, groups };
}
