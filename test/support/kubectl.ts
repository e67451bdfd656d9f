// kubectl as tests use it, and a namespace of their own to use it in.
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { after } from "node:test";
import { promisify } from "node:util";
import { run } from "../../lab/command.ts";
import { waitFor } from "../../lab/progress.ts";

const execute = promisify(execFile);

/** Fails with what kubectl said. */
export const kubectl = (...args: string[]): Promise<string> => run("kubectl", args);

export async function kubectlJson<T>(...args: string[]): Promise<T> {
  return JSON.parse(await kubectl(...args, "--output=json")) as T;
}

/** Like `kubectl apply -f`, given objects. */
export async function apply(...objects: object[]): Promise<void> {
  const list = { apiVersion: "v1", kind: "List", items: objects };
  await run("kubectl", ["apply", "--filename=-"], { input: JSON.stringify(list) });
}

/** What a command prints inside a pod; both streams, since a failure is told on the second. */
export async function exec(namespace: string, pod: string, ...command: string[]): Promise<string> {
  const { stdout } = await execute("kubectl", ["exec", `--namespace=${namespace}`, pod, "--", ...command]);
  return stdout;
}

const namespaces: string[] = [];
// Here, at the top, and not where a namespace is made: a hook registered inside another hook runs too early.
after(async () => {
  if (namespaces.length > 0) await kubectl("delete", "namespace", ...namespaces, "--wait=false");
});

/** A fresh namespace, removed when the test file ends. */
export async function ownNamespace(prefix: string, labels: Record<string, string> = {}): Promise<string> {
  const name = `${prefix}-${randomBytes(3).toString("hex")}`;
  await apply({ apiVersion: "v1", kind: "Namespace", metadata: { name, labels } });
  namespaces.push(name);
  // Pods are refused until the namespace has its service account.
  await waitFor(
    `service account of ${name}`,
    () => kubectl("get", "serviceaccount", "default", `--namespace=${name}`),
    {
      timeoutMs: 30_000,
    },
  );
  return name;
}

/** Waits as `kubectl wait` does, with its own words when it fails. */
export async function ready(namespace: string, ...what: string[]): Promise<void> {
  await kubectl("wait", `--namespace=${namespace}`, "--for=condition=Ready", "--timeout=90s", ...what);
}
