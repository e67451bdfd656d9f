// The operator installed as the docs say: role script and manifest of example/, in its own namespace.
import { readFile } from "node:fs/promises";
import * as path from "node:path";
import { after } from "node:test";
import { run } from "../../../lab/machine/command.ts";
import { loadOperatorImage } from "../../../lab/image.ts";
import { waitFor } from "../../../lab/progress.ts";
import { Lease, Pod } from "../../../src/kube/objects/kinds.ts";
import { kubectl } from "../../support/kubectl.ts";
import { kube, lab, patience, restrictedNamespace } from "./environment.ts";

const example = path.resolve(import.meta.dirname, "../../../example");
const name = "etcd-operator";

/** `namespace`: permissions in its own namespace only, or in one that is named; the CRD is installed for it. */
type Scope = "clusterwide" | "namespace" | { readonly namespace: string };

export class Operator {
  readonly namespace: string;
  /** Its user name in the audit log. */
  readonly user: string;

  /** The name of its lease, which goes by what it manages. */
  readonly lease: string;
  readonly #scope: Scope;

  constructor(namespace: string, scope: Scope) {
    this.namespace = namespace;
    this.#scope = scope;
    this.lease = leaseName(scope);
    this.user = `system:serviceaccount:${namespace}:${name}`;
  }

  async pods(): Promise<Pod[]> {
    const { items } = await kube.list(Pod, { namespace: this.namespace, labelSelector: `name=${name}` });
    return items.filter((pod) => pod.metadata?.deletionTimestamp === undefined);
  }

  /** Gives it the permissions that it needs, or gives them back. */
  async grant(): Promise<void> {
    const scope = this.#scope;
    const whose = typeof scope === "object" ? scope.namespace : this.namespace;
    const limits = scope === "clusterwide" ? [] : ["--namespaced", `--operator-namespace=${this.namespace}`];
    await run(`${example}/rbac/create_role.sh`, [`--namespace=${whose}`, ...limits]);
  }

  /** Waits until exactly this many pods exist and are ready. */
  async scale(replicas: number): Promise<void> {
    await kubectl("scale", `--namespace=${this.namespace}`, `deployment/${name}`, `--replicas=${replicas}`);
    let seen = "";
    await waitFor(
      `${replicas} operators`,
      async () => {
        const { items } = await kube.list(Pod, { namespace: this.namespace, labelSelector: `name=${name}` });
        seen = items.map((pod) => `${pod.metadata?.name} ${isReady(pod) ? "ready" : pod.status?.phase}`).join(", ");
        return items.length === replicas && items.every(isReady) ? true : undefined;
      },
      { timeoutMs: patience, lastSeen: () => seen },
    );
  }

  /** The pod that holds the Lease. */
  async leader(): Promise<Pod> {
    return waitFor(
      "a leading operator",
      async () => {
        const { spec } = await kube.get(Lease, { namespace: this.namespace, name: this.lease });
        return (await this.pods()).find((pod) => spec?.holderIdentity?.startsWith(`${pod.metadata?.name}_`));
      },
      { timeoutMs: patience },
    );
  }

  /** Default: of the leader. */
  async metrics(of?: Pod): Promise<string> {
    const pod = of ?? (await this.leader());
    const ask = async (): Promise<string> =>
      (await fetch(`http://${pod.status?.podIP}:8080/metrics`, { signal: AbortSignal.timeout(30_000) })).text();
    return waitFor(`metrics of ${pod.metadata?.name}`, ask, { timeoutMs: 60_000 });
  }
}

function leaseName(scope: Scope): string {
  if (scope === "clusterwide") return `${name}-clusterwide`;
  return scope === "namespace" ? name : `${name}.${scope.namespace}`;
}

/** Value of a metric without labels; 0 when absent. */
export function valueOf(metrics: string, name: string): number {
  return Number(new RegExp(`^${name} (?<value>\\S+)$`, "m").exec(metrics)?.groups?.["value"] ?? 0);
}

const isReady = (pod: Pod): boolean =>
  pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;

const installed: Operator[] = [];
// Two operators with different Leases would fight over the same clusters: each is gone before the next file starts.
after(async () => {
  for (const { namespace } of installed) {
    await kubectl("delete", "clusterrolebinding", `etcd-operator-${namespace}`, "--ignore-not-found");
    await kubectl(
      "delete",
      "deployment",
      name,
      `--namespace=${namespace}`,
      "--ignore-not-found",
      "--cascade=foreground",
    );
  }
});

export async function installOperator(scope: Scope): Promise<Operator> {
  const namespace = await restrictedNamespace("operator");
  await loadOperatorImage(lab);
  const operator = new Operator(namespace, scope);
  installed.push(operator);
  if (scope !== "clusterwide") await kubectl("apply", "--filename", `${example}/crd`);
  await operator.grant();
  await run("kubectl", ["apply", `--namespace=${namespace}`, "--filename=-"], { input: await manifest(scope) });
  await operator.scale(1);
  return operator;
}

/** Uncomments the flag that example/deployment.yaml offers for this scope, and adds a namespace that is named. */
async function manifest(scope: Scope): Promise<string> {
  const text = await readFile(`${example}/deployment.yaml`, "utf8");
  const offered = scope === "clusterwide" ? "# - -cluster-wide" : "# - -create-crd=false";
  if (!text.includes(offered)) throw new Error(`example/deployment.yaml does not offer "${offered}" any more`);
  const flag = offered.slice("# ".length);
  if (typeof scope === "string") return text.replace(offered, flag);
  return text.replace(/^( *)# - -create-crd=false$/m, `$1${flag}\n$1- -namespaces=${scope.namespace}`);
}
