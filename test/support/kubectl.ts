// kubectl for tests, and namespaces that are deleted at the end.
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { after } from "node:test";
import { promisify } from "node:util";
import { run } from "../../lab/machine/command.ts";
import { waitFor } from "../../lab/progress.ts";

const execute = promisify(execFile);

/** A busy machine lets kubectl's ten seconds for a handshake pass; nothing was sent then. */
const neverConnected = /TLS handshake timeout/;
const mostTries = 10;

async function connected<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (tries === mostTries || !neverConnected.test(String(error))) throw error;
    }
  }
}

/** The error of a failed command carries kubectl's output. */
export const kubectl = (...args: string[]): Promise<string> => connected(() => run("kubectl", args));

export async function kubectlJson<T>(...args: string[]): Promise<T> {
  return JSON.parse(await kubectl(...args, "--output=json")) as T;
}

/** Like `kubectl apply -f`, given objects. */
export async function apply(...objects: object[]): Promise<void> {
  const list = { apiVersion: "v1", kind: "List", items: objects };
  await connected(() => run("kubectl", ["apply", "--filename=-"], { input: JSON.stringify(list) }));
}

/** Standard output of a command inside a pod. */
export async function exec(namespace: string, pod: string, ...command: string[]): Promise<string> {
  const { stdout } = await execute("kubectl", ["exec", `--namespace=${namespace}`, pod, "--", ...command]);
  return stdout;
}

const namespaces: string[] = [];
// At the top level: a hook registered inside another hook would run too early.
after(async () => {
  if (namespaces.length > 0) await kubectl("delete", "namespace", ...namespaces, "--wait=false", "--ignore-not-found");
});

/** A new namespace, deleted when the test file ends. */
export async function ownNamespace(prefix: string, labels: Record<string, string> = {}): Promise<string> {
  const name = `${prefix}-${randomBytes(3).toString("hex")}`;
  await apply({ apiVersion: "v1", kind: "Namespace", metadata: { name, labels } });
  namespaces.push(name);
  // Pods are refused until the namespace has its default ServiceAccount.
  await waitFor(
    `service account of ${name}`,
    () => kubectl("get", "serviceaccount", "default", `--namespace=${name}`),
    {
      timeoutMs: 180_000,
    },
  );
  return name;
}

/** `kubectl wait --for=condition=Ready`. */
export async function ready(namespace: string, ...what: string[]): Promise<void> {
  await kubectl("wait", `--namespace=${namespace}`, "--for=condition=Ready", "--timeout=180s", ...what);
}
