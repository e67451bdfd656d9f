// What benchmarks run on: a lab, a client of it, and namespaces that are gone afterwards. The lab that is up is used;
// if none is, one is started for the time being.
import { randomBytes } from "node:crypto";
import { type LabConfig, kubeconfigPath, labConfig } from "../lab/config.ts";
import { down } from "../lab/down.ts";
import { step } from "../lab/progress.ts";
import { readRecord } from "../lab/machine/registry.ts";
import { isUp, up } from "../lab/up.ts";
import { connectKube, type KubeClient } from "../src/kube/client/client.ts";
import type { Credentials } from "../src/kube/credentials/credentials.ts";
import { kubeconfigCredentials } from "../src/kube/credentials/kubeconfig.ts";
import { Namespace } from "../src/kube/objects/kinds.ts";
import type { BareAccess } from "./bare.ts";
import { installOperator } from "./places/operator.ts";
import { makeObjects } from "./objects.ts";

export interface BenchOptions {
  /** Changes that the latency of a watch is measured by. */
  readonly events: number;
  /** How many objects a full cache holds. */
  readonly objects: number;
  readonly idleMinutes: number;
  /** How long a process rests before its memory counts. */
  readonly settleSeconds: number;
  /** How often to repeat what is measured once per started process. */
  readonly repeats: number;
  /** How often each thing is done to an etcd cluster, or to a backup. */
  readonly rounds: number;
  /** Size of the database that is backed up and restored. */
  readonly backupMebibytes: number;
  /** How many clusters one operator manages at once. */
  readonly clusters: number;
}

export class Ground {
  readonly lab: LabConfig;
  readonly options: BenchOptions;
  readonly signal: AbortSignal;
  readonly credentials: Credentials;
  readonly api: KubeClient;
  readonly #namespaces: string[] = [];
  readonly #endings: (() => Promise<void>)[] = [];
  #full: Promise<string> | undefined;
  #operated: Promise<string> | undefined;

  constructor(lab: LabConfig, options: BenchOptions, signal: AbortSignal) {
    this.lab = lab;
    this.options = options;
    this.signal = signal;
    this.credentials = kubeconfigCredentials(kubeconfigPath(lab));
    this.api = connectKube({ credentials: this.credentials, userAgent: "bench" });
  }

  async namespace(): Promise<string> {
    const name = `bench-${randomBytes(3).toString("hex")}`;
    const labels = { "pod-security.kubernetes.io/enforce": "restricted" };
    await this.api.create(Namespace, { metadata: { name, labels } });
    this.#namespaces.push(name);
    return name;
  }

  /** A namespace with all the objects, made once for all benchmarks that want it. */
  fullNamespace(): Promise<string> {
    this.#full ??= this.#fill();
    return this.#full;
  }

  /** A namespace with the operator in it, which manages that one alone; installed once for all benchmarks. */
  operatedNamespace(): Promise<string> {
    this.#operated ??= this.namespace().then(async (namespace) => {
      await installOperator(this, namespace);
      return namespace;
    });
    return this.#operated;
  }

  /** For what lies outside of namespaces; the last is ended first. */
  atTheEnd(end: () => Promise<void>): void {
    this.#endings.unshift(end);
  }

  /** What a bare client needs to know, as JSON can carry it. */
  async access(userAgent: string): Promise<BareAccess> {
    const { ca, cert, key } = await this.credentials.tls();
    const authorization = await this.credentials.authorization();
    if (typeof ca !== "string") throw new Error("the lab's kubeconfig names no authority");
    return {
      server: this.credentials.server,
      ca,
      ...(typeof cert === "string" ? { cert } : {}),
      ...(typeof key === "string" ? { key } : {}),
      ...(authorization === undefined ? {} : { authorization }),
      userAgent,
    };
  }

  /** The cluster's controllers do the rest. */
  async clear(): Promise<void> {
    for (const name of this.#namespaces) await this.api.delete(Namespace, { namespace: "", name });
    for (const end of this.#endings) await end();
    this.api.close();
  }

  async #fill(): Promise<string> {
    const namespace = await this.namespace();
    await step(`make ${this.options.objects} objects`, () =>
      makeObjects(this.api, namespace, this.options.objects, this.signal),
    );
    return namespace;
  }
}

export async function withGround(
  options: BenchOptions,
  signal: AbortSignal,
  use: (ground: Ground) => Promise<void>,
): Promise<void> {
  const everyday = labConfig();
  const lab = (await isUp(everyday))
    ? (readRecord(everyday.name) ?? everyday)
    : labConfig({ name: "bench", subnet: "10.89.0.0/16", nodes: 3 });
  const ownLab = lab.name !== everyday.name && (await up(lab, { signal })).t === "started";
  try {
    const ground = new Ground(lab, options, signal);
    try {
      await use(ground);
    } finally {
      await ground.clear();
    }
  } finally {
    if (ownLab) await step(`take the lab "${lab.name}" down`, () => down(lab));
  }
}
