// The controller of clusters with everything around it in memory: API server, kubelet, etcd and time. A test says what
// happens, lets time pass until something is so, and looks at what became of it.
import { AssertionError } from "node:assert";
import { EtcdCluster } from "../../api/etcd-cluster.ts";
import type { Happening } from "../../kube/event-object.ts";
import { Node, Pod, PodDisruptionBudget, Service } from "../../kube/kinds.ts";
import { silent } from "../../kube/log.ts";
import { RuntimeObserver } from "../../kube/runtime-observer.ts";
import { SimulatedClock } from "../../kube/simulated-clock.ts";
import { FakeApi } from "../../kube/testing/fake-api.ts";
import { clusterController } from "../controller.ts";
import { FakeKubelet } from "./fake-kubelet.ts";

export const key = { namespace: "ns", name: "c" };

export class RunningOperator implements AsyncDisposable {
  readonly clock = new SimulatedClock();
  readonly told: Happening[] = [];
  readonly api = new FakeApi({
    kinds: [
      { kind: EtcdCluster, status: true },
      { kind: Pod, graceful: true },
      { kind: Service },
      { kind: PodDisruptionBudget },
      { kind: Node },
    ],
    clock: this.clock,
    date: () => new Date(this.now()),
  });
  readonly kubelet = new FakeKubelet(this.api, this.clock);
  #stop: (() => Promise<void>) | undefined;

  constructor() {
    this.start();
  }

  now(): number {
    return Date.UTC(2026, 0, 1) + this.clock.now();
  }

  start(): void {
    const { controller, informers } = clusterController({
      api: this.api,
      scope: { t: "namespaces", names: [key.namespace] },
      nodes: "unseen",
      members: { at: ({ url }) => this.#memberAt(url) },
      events: { record: (_kind, _object, what) => void this.told.push(what) },
      observer: new RuntimeObserver(silent),
      clock: this.clock,
      now: () => this.now(),
    });
    const end = new AbortController();
    const running = [controller.run(this.api, end.signal), ...informers.map((informer) => informer.run(end.signal))];
    this.#stop = async () => {
      end.abort(new Error("the test stops the operator"));
      await Promise.allSettled(running);
    };
  }

  async stop(): Promise<void> {
    await this.#stop?.();
    this.#stop = undefined;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async create(size: number, version = "3.6.16"): Promise<void> {
    await this.api.create(EtcdCluster, { metadata: { ...key }, spec: { size, version } });
  }

  cluster(): Promise<EtcdCluster> {
    return this.api.get(EtcdCluster, key);
  }

  async podNames(): Promise<string[]> {
    const { items } = await this.api.list(Pod);
    return items.map((pod) => pod.metadata?.name ?? "").sort();
  }

  /** Lets time pass, a twentieth of a second at a time and three minutes at most. */
  async until(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
    for (let look = 0; look < 3600; look += 1) {
      if (await holds()) return;
      await this.kubelet.look();
      await this.clock.advance(50);
    }
    const seen = JSON.stringify({ status: (await this.cluster()).status, pods: await this.podNames() }, undefined, 1);
    throw new AssertionError({ message: `${what} did not come true; last seen: ${seen}` });
  }

  /** Every pass has seen the newest spec, and says that all of it is so. */
  async ready(size: number): Promise<void> {
    await this.until(`${size} members are ready`, async () => {
      const { metadata, status, spec } = await this.cluster();
      const condition = status?.conditions?.find(({ type }) => type === "Ready");
      return (
        spec.size === size && condition?.status === "True" && condition.observedGeneration === metadata?.generation
      );
    });
  }

  #memberAt(url: string) {
    const { etcd } = this.kubelet;
    if (etcd === undefined) throw new Error(`${url} was dialled before any pod ran`);
    return etcd.at(url);
  }
}
