// Follows a cluster during a rolling change and keeps what must be seen on the way, and what must not: every pod that there
// was, how many at a time, which versions of etcd ran together, and what the status said. Pods and etcd are polled; the
// status is watched.
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { EtcdCluster } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { compareVersions, type EtcdVersion, version } from "../../../src/etcd/versions/version.ts";
import type { TestCluster } from "../support/cluster.ts";
import { kube } from "../support/environment.ts";
import type { HealthyCluster } from "../support/healthy.ts";
import { rollingMembers } from "./rolled.ts";
import { conditionOf } from "../support/status.ts";

const everyMs = 250;

export class RollWatch implements AsyncDisposable {
  readonly #uids = new Set<string>();
  #mostPods = 0;
  readonly #versions = new Set<string>();
  readonly #upgrading = new Set<string>();
  readonly #targets = new Set<string>();
  readonly #updated: number[] = [];
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;

  constructor(cluster: TestCluster) {
    this.#ended = Promise.all([this.#run(cluster), this.#watch(cluster)]).then(() => undefined);
  }

  /** Messages of the condition Upgrading while it was True. */
  get upgrading(): readonly string[] {
    return [...this.#upgrading];
  }

  /** Values of status.targetVersion, in order. */
  get targets(): readonly string[] {
    return [...this.#targets];
  }

  /** Values of status.updatedMembers, in order, without repetitions. */
  get updated(): readonly number[] {
    return this.#updated;
  }

  /** Stops the watch: no pod was made. */
  async madeNoPod(before: HealthyCluster): Promise<void> {
    await this.#madePods(before, 0);
  }

  /** Stops the watch: each member was replaced once, with one more pod than members at a time. */
  async replacedEachOnce(before: HealthyCluster): Promise<void> {
    const size = before.members.length;
    await this.#madePods(before, size);
    assert.ok(this.#mostPods <= size + 1, `there were ${this.#mostPods} pods at a time`);
  }

  /** Stops the watch: only neighbouring minor versions ran together. */
  async skippedNoMinor(): Promise<void> {
    await this[Symbol.asyncDispose]();
    const far = [...this.#versions].filter((together) => {
      const found = together.split(" ").map(version).toSorted(compareVersions);
      const [oldest, newest] = [found.at(0), found.at(-1)];
      return oldest !== undefined && newest !== undefined && minorsBetween(oldest, newest) > 1;
    });
    assert.deepEqual(far, []);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  async #madePods({ members }: HealthyCluster, count: number): Promise<void> {
    await this[Symbol.asyncDispose]();
    const known = new Set(members.map(({ uid }) => uid));
    const made = [...this.#uids].filter((uid) => !known.has(uid));
    assert.equal(made.length, count, `pods were made: ${made.join(", ")}`);
  }

  async #run(cluster: TestCluster): Promise<void> {
    while (!this.#stop.signal.aborted) {
      await this.#poll(cluster).catch(() => undefined); // asked again at once
      await pause(everyMs);
    }
  }

  async #poll(cluster: TestCluster): Promise<void> {
    const members = await rollingMembers(cluster);
    for (const { pod } of members) this.#uids.add(pod.metadata?.uid ?? "");
    this.#mostPods = Math.max(this.#mostPods, members.length);
    const versions = new Set(members.flatMap((member) => (member.version === undefined ? [] : [member.version])));
    if (versions.size > 0) this.#versions.add([...versions].join(" "));
  }

  /** A watch that breaks goes on after the last version that was seen, or from the start when the server has forgotten that. */
  async #watch({ namespace, name }: TestCluster): Promise<void> {
    const { signal } = this.#stop;
    const selection = { namespace, fieldSelector: `metadata.name=${name}` };
    let seen: string | undefined;
    const see = (object: EtcdCluster): void => {
      seen = object.metadata?.resourceVersion ?? seen;
      this.#see(object);
    };
    while (!signal.aborted) {
      try {
        if (seen === undefined) {
          const { items, resourceVersion } = await kube.list(EtcdCluster, selection);
          for (const item of items) see(item);
          seen = resourceVersion;
        }
        await kube.watch(EtcdCluster, { ...selection, resourceVersion: seen, signal }, (event) => {
          if (event.type !== "BOOKMARK") see(event.object);
        });
      } catch {
        seen = undefined;
        await pause(everyMs);
      }
    }
  }

  #see(object: EtcdCluster): void {
    const condition = conditionOf(object, "Upgrading");
    if (condition?.status === "True") this.#upgrading.add(condition.message ?? "");
    const { targetVersion, updatedMembers: updated } = object.status ?? {};
    if (targetVersion) this.#targets.add(targetVersion);
    if (updated !== undefined && updated !== this.#updated.at(-1)) this.#updated.push(updated);
  }
}

const minorsBetween = (oldest: EtcdVersion, newest: EtcdVersion): number => newest.minor - oldest.minor;
