// An EtcdCluster in a test: create it, edit it, and wait for what Kubernetes, etcd and the status say.
import { waitFor } from "../../../lab/progress.ts";
import { EtcdCluster, type EtcdClusterSpec } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import type { Login } from "../../../src/etcd/login.ts";
import { isNotFound } from "../../../src/kube/client/errors.ts";
import { Event, Pod } from "../../../src/kube/objects/kinds.ts";
import type { Key } from "../../../src/kube/objects/objects.ts";
import { kubectl } from "../../support/kubectl.ts";
import { learnEndpoints } from "./endpoints.ts";
import { kube, patience } from "./environment.ts";
import { checkCluster, checkMembers, podText, type HealthyCluster } from "./healthy.ts";
import { type Probed, traceOf, whileItMoves } from "./moving.ts";

export const currentEtcd = "3.6.16";

interface Expected {
  /** Pods with these names, or uids, must be gone. */
  readonly without?: readonly string[];
}

export class TestCluster {
  readonly key: Key;
  /** The login of the test and its writer, where etcd's authentication is on. Not the operator's. */
  readonly login: Login | undefined;

  constructor(key: Key, login?: Login) {
    this.key = key;
    this.login = login;
  }

  get namespace(): string {
    return this.key.namespace;
  }

  get name(): string {
    return this.key.name;
  }

  get(): Promise<EtcdCluster> {
    return kube.get(EtcdCluster, this.key);
  }

  async edit(spec: Partial<EtcdClusterSpec>): Promise<void> {
    await kube.mergePatch(EtcdCluster, this.key, { spec });
  }

  /** Through the scale subresource. */
  async scale(size: number): Promise<void> {
    await kubectl("scale", `--namespace=${this.namespace}`, `etcdcluster/${this.name}`, `--replicas=${size}`);
  }

  /** Terminating ones included. */
  async pods(): Promise<Pod[]> {
    const labelSelector = `etcd_cluster=${this.name}`;
    const { items } = await kube.list(Pod, { namespace: this.namespace, labelSelector });
    await learnEndpoints(this.key, items);
    return items;
  }

  async pod(name: string): Promise<Pod | undefined> {
    return kube.get(Pod, { namespace: this.namespace, name }).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
  }

  /** Waits until spec, pods, etcd and status agree and Ready is True. */
  untilHealthy(expected: Expected = {}): Promise<HealthyCluster> {
    return this.#untilCheck("to be healthy", checkCluster, expected);
  }

  /** Waits until all members serve, where something else keeps Ready False. */
  untilMembersHealthy(expected: Expected = {}): Promise<HealthyCluster> {
    return this.#untilCheck("to have healthy members", checkMembers, expected);
  }

  #untilCheck(what: string, check: typeof checkCluster, { without = [] }: Expected): Promise<HealthyCluster> {
    let seen = "nothing yet";
    return whileItMoves(
      `${this.name} ${what}`,
      async () => {
        const [cluster, pods] = await Promise.all([this.get(), this.pods()]);
        const goesOn = (because: string): Probed<HealthyCluster> => {
          seen = because;
          return { t: "going on", trace: traceOf(pods) };
        };
        const unwanted = pods.filter(({ metadata = {} }) =>
          without.some((one) => [metadata.name, metadata.uid].includes(one)),
        );
        if (unwanted.length > 0) return goesOn(`${unwanted.map(podText).join(", ")} still there`);
        const result = await check(cluster, pods, this.login);
        return result.t === "healthy" ? { t: "over", result: result.cluster } : goesOn(result.because);
      },
      () => seen,
    );
  }

  /** Waits until every pod is ready, which the kubelets report some time after the members serve. */
  untilPodsReady(): Promise<Pod[]> {
    let seen: Pod[] = [];
    const isReady = ({ status }: Pod): boolean =>
      status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
    return waitFor(
      `${this.name}: all pods to be ready`,
      async () => {
        seen = await this.pods();
        return seen.length > 0 && seen.every(isReady) ? seen : undefined;
      },
      { timeoutMs: patience, lastSeen: () => seen.map(podText).join(", ") },
    );
  }

  /** Waits until the object satisfies the predicate. */
  until(what: string, holds: (cluster: EtcdCluster) => boolean): Promise<EtcdCluster> {
    let seen: EtcdCluster | undefined;
    return waitFor(
      `${this.name}: ${what}`,
      async () => {
        seen = await this.get();
        return holds(seen) ? seen : undefined;
      },
      { timeoutMs: patience, everyMs: 250, lastSeen: () => JSON.stringify({ spec: seen?.spec, status: seen?.status }) },
    );
  }

  /** Waits until status.observedGeneration is that of the last edit. */
  untilObserved(): Promise<EtcdCluster> {
    return this.until("the last edit to be observed", ({ metadata, status }) => {
      return status?.observedGeneration === metadata?.generation;
    });
  }

  async events(): Promise<Event[]> {
    const { items } = await kube.list(Event, { namespace: this.namespace });
    return items.filter(({ regarding }) => regarding?.kind === EtcdCluster.kind && regarding.name === this.name);
  }

  untilEvent(reason: string, holds: (event: Event) => boolean = () => true): Promise<Event> {
    let seen = "none";
    return waitFor(
      `${this.name}: the event "${reason}"`,
      async () => {
        const events = await this.events();
        seen = events.map((event) => `${event.reason}: ${event.note}`).join("; ");
        return events.find((event) => event.reason === reason && holds(event));
      },
      { timeoutMs: patience, everyMs: 250, lastSeen: () => seen },
    );
  }
}

interface CreateOptions {
  readonly annotations?: Record<string, string>;
  readonly login?: Login;
}

/** Managed by a cluster-wide operator. */
export const clusterwide: CreateOptions = { annotations: { "etcd.database.coreos.com/scope": "clusterwide" } };

export async function createCluster(
  key: Key,
  spec: EtcdClusterSpec,
  { annotations = {}, login }: CreateOptions = {},
): Promise<TestCluster> {
  await kube.create(EtcdCluster, { metadata: { ...key, annotations }, spec: { version: currentEtcd, ...spec } });
  return new TestCluster(key, login);
}
