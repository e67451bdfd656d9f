// An EtcdCluster in a test: made, edited, and waited for until Kubernetes and etcd agree about it.
import { waitFor } from "../../../lab/progress.ts";
import { EtcdCluster, type EtcdClusterSpec } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { isNotFound } from "../../../src/kube/client/errors.ts";
import { Event, Pod } from "../../../src/kube/objects/kinds.ts";
import type { Key } from "../../../src/kube/objects/objects.ts";
import { kubectl } from "../../support/kubectl.ts";
import { kube, patience } from "./ground.ts";
import { lookAtCluster, lookAtMembers, podText, type Whole } from "./whole.ts";

export const currentEtcd = "3.6.16";

export interface Expected {
  /** Of these names none may be left. */
  readonly without?: readonly string[];
}

export class TestCluster {
  readonly key: Key;

  constructor(key: Key) {
    this.key = key;
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

  /** As a person does it. */
  async scale(size: number): Promise<void> {
    await kubectl("scale", `--namespace=${this.namespace}`, `etcdcluster/${this.name}`, `--replicas=${size}`);
  }

  /** Those that go, too. */
  async pods(): Promise<Pod[]> {
    const labelSelector = `etcd_cluster=${this.name}`;
    return (await kube.list(Pod, { namespace: this.namespace, labelSelector })).items;
  }

  async pod(name: string): Promise<Pod | undefined> {
    return kube.get(Pod, { namespace: this.namespace, name }).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
  }

  /** Waits until all that was asked for is there, in Kubernetes, in etcd and in the status. */
  whole(expected: Expected = {}): Promise<Whole> {
    return this.#untilSeen("to be whole", lookAtCluster, expected);
  }

  /** Waits until all members are there and serve, where something else keeps the cluster from being Ready. */
  membersWhole(expected: Expected = {}): Promise<Whole> {
    return this.#untilSeen("to have all its members", lookAtMembers, expected);
  }

  #untilSeen(what: string, lookAt: typeof lookAtCluster, { without = [] }: Expected): Promise<Whole> {
    let seen = "nothing yet";
    return waitFor(
      `${this.name} ${what}`,
      async () => {
        const [cluster, pods] = await Promise.all([this.get(), this.pods()]);
        const unwanted = pods.filter(({ metadata }) => without.includes(metadata?.name ?? ""));
        if (unwanted.length > 0) {
          seen = `${unwanted.map(podText).join(", ")} still there`;
          return undefined;
        }
        const look = await lookAt(cluster, pods);
        if (look.t === "whole") return look.whole;
        seen = look.because;
        return undefined;
      },
      { timeoutMs: patience, everyMs: 250, lastSeen: () => seen },
    );
  }

  /** Waits until the kubelets call every pod ready, which they do some time after the members serve. */
  podsReady(): Promise<Pod[]> {
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

  /** Waits until the object is as asked. */
  until(what: string, holds: (cluster: EtcdCluster) => boolean): Promise<EtcdCluster> {
    let seen: EtcdCluster | undefined;
    return waitFor(
      `${this.name}: ${what}`,
      async () => {
        seen = await this.get();
        return holds(seen) ? seen : undefined;
      },
      { timeoutMs: patience, everyMs: 100, lastSeen: () => JSON.stringify({ spec: seen?.spec, status: seen?.status }) },
    );
  }

  /** Waits until the operator has looked at the last edit, and the status is of it. */
  untilObserved(): Promise<EtcdCluster> {
    return this.until("the last edit is observed", ({ metadata, status }) => {
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

export interface Making {
  readonly annotations?: Record<string, string>;
}

/** For an operator of the whole Kubernetes, which is told so by an annotation. */
export const clusterwide: Making = { annotations: { "etcd.database.coreos.com/scope": "clusterwide" } };

export async function makeCluster(
  key: Key,
  spec: EtcdClusterSpec,
  { annotations = {} }: Making = {},
): Promise<TestCluster> {
  await kube.create(EtcdCluster, { metadata: { ...key, annotations }, spec: { version: currentEtcd, ...spec } });
  return new TestCluster(key);
}
