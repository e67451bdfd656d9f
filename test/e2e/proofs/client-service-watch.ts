// Polls the ready endpoints of the client Service and sends each a request on the client port. Keeps the endpoints that
// are ready and do not answer.
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import type { EndpointSlice as EndpointSliceObject } from "kubernetes-types/discovery/v1.js";
import { waitFor } from "../../../lab/progress.ts";
import { ports } from "../../../src/cluster/objects/labels.ts";
import type { Kind } from "../../../src/kube/objects/objects.ts";
import type { TestCluster } from "../support/cluster.ts";
import { kube, patience } from "../support/environment.ts";

const EndpointSlice: Kind<EndpointSliceObject> = {
  group: "discovery.k8s.io",
  version: "v1",
  kind: "EndpointSlice",
  plural: "endpointslices",
  namespaced: true,
};

const everyMs = 100;
/** Longer than a busy machine makes a member slow, shorter than the 7 s that a new member may be deaf. */
const answerWithinMs = 3_000;
/** A process that gets no CPU for so long also misses answers that have arrived: what it took for silence proves nothing. */
const heldUpMs = 500;

export class ClientServiceWatch implements AsyncDisposable {
  readonly #cluster: TestCluster;
  readonly #answered = new Set<string>();
  readonly #deaf = new Set<string>();
  /** When this process was last seen to be held up. */
  #heldUpAt = Number.NEGATIVE_INFINITY;
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;

  constructor(cluster: TestCluster) {
    this.#cluster = cluster;
    this.#ended = this.#run();
  }

  /**
   * Waits until each of these pods was a ready endpoint, stops the watch, and asserts that all of them answered. Others do not
   * count: a pod that is deleted stops before Kubernetes has taken it out of the Service.
   */
  async allAnswered(names: readonly string[]): Promise<void> {
    const missing = (): string[] => names.filter((name) => !this.#answered.has(name) && !this.#deaf.has(name));
    await waitFor("all members to be ready endpoints", async () => missing().length === 0 || undefined, {
      timeoutMs: patience,
      lastSeen: () => `not ready yet: ${missing().join(", ")}`,
    });
    await this[Symbol.asyncDispose]();
    const deaf = names.filter((name) => this.#deaf.has(name));
    assert.deepEqual(deaf, [], "ready endpoints that did not answer");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  async #run(): Promise<void> {
    const asked = new Map<string, Promise<void>>();
    while (!this.#stop.signal.aborted) {
      for (const [name, address] of await this.#endpoints().catch(() => new Map<string, string>())) {
        if (asked.has(name)) continue;
        asked.set(
          name,
          this.#ask(name, address).finally(() => asked.delete(name)),
        );
      }
      const due = performance.now() + everyMs;
      await pause(everyMs);
      if (performance.now() > due + heldUpMs) this.#heldUpAt = performance.now();
    }
    await Promise.all(asked.values());
  }

  #endpoints(): Promise<ReadonlyMap<string, string>> {
    return readyEndpoints(this.#cluster);
  }

  /** Deaf: ready for the whole time, and no answer. Asked again if this process may have missed it. */
  async #ask(name: string, address: string): Promise<void> {
    const began = performance.now();
    const until = Date.now() + answerWithinMs;
    while (!this.#stop.signal.aborted) {
      if (await this.#answers(address, until - Date.now())) {
        this.#answered.add(name);
        return;
      }
      const endpoints = await this.#endpoints().catch(() => undefined);
      if (endpoints !== undefined && endpoints.get(name) !== address) return;
      if (Date.now() >= until && this.#heldUpAt >= began) return;
      if (Date.now() >= until && endpoints !== undefined) {
        this.#deaf.add(name);
        return;
      }
      await pause(everyMs);
    }
  }

  async #answers(address: string, withinMs: number): Promise<boolean> {
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(Math.max(withinMs, 1))]);
    try {
      const answer = await fetch(`http://${address}:${ports.client}/version`, { signal });
      await answer.text();
      return true;
    } catch {
      return false;
    }
  }
}

/** Pod name → IP of the ready endpoints of the client Service. */
export async function readyEndpoints({ namespace, name }: TestCluster): Promise<ReadonlyMap<string, string>> {
  const labelSelector = `kubernetes.io/service-name=${name}-client`;
  const { items } = await kube.list(EndpointSlice, { namespace, labelSelector });
  const ready = items.flatMap(({ endpoints }) =>
    (endpoints ?? []).filter(({ conditions }) => conditions?.ready === true),
  );
  return new Map(ready.map(({ targetRef, addresses }) => [targetRef?.name ?? "", addresses[0] ?? ""]));
}
