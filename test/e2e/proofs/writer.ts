// Writes numbered keys through the members that are ready until it is stopped, and keeps its own log of acknowledged writes: each must be
// readable later, whatever happened meanwhile.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { waitFor } from "../../../lab/progress.ts";
import type { Pod } from "../../../src/kube/objects/kinds.ts";
import type { TestCluster } from "../support/cluster.ts";
import { patience, patiently } from "../support/environment.ts";
import { memberAt } from "../support/healthy.ts";

/** Slow enough to leave the machine to the tests. */
const betweenMs = 50;
const afterFailureMs = 100;
/** Looks for new members after this many writes. */
const findEvery = 20;

export class Writer {
  readonly #cluster: TestCluster;
  readonly prefix: string;
  readonly #acknowledged = new Map<string, string>();
  /** The addresses of all members. */
  #addresses: readonly string[] = [];
  /** The addresses of those that are ready, as the client Service has them; of all while none is. */
  #ready: readonly string[] = [];
  #lastFailure = "none";
  /** One sentence for each write that failed at its first try and at the retry after it. */
  readonly #failures: string[] = [];
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;

  constructor(cluster: TestCluster) {
    this.#cluster = cluster;
    this.prefix = `/e2e/${randomBytes(4).toString("hex")}/`;
    this.#ended = this.#run();
  }

  get acknowledged(): number {
    return this.#acknowledged.size;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  /** Waits for this many more acknowledged writes. A busy machine makes them slow: only one that never comes fails. */
  async progress(more = 10): Promise<void> {
    const goal = this.acknowledged + more;
    while (this.acknowledged < goal) {
      const before = this.acknowledged;
      await waitFor(`${more} more writes`, async () => this.acknowledged > before || undefined, {
        timeoutMs: patience,
        lastSeen: () => `${this.acknowledged} of ${goal}; the last failure: ${this.#lastFailure}`,
      });
    }
  }

  /** What has been acknowledged up to now. */
  soFar(): ReadonlyMap<string, string> {
    return new Map(this.#acknowledged);
  }

  /** One sentence for each of these writes that a member does not have. A member that goes meanwhile is not read. */
  async missing(expected: ReadonlyMap<string, string>): Promise<string[]> {
    const found = new Map<string, readonly string[]>();
    await waitFor(
      "all members to be read from",
      async () => {
        await this.#findMembers();
        const unread = this.#addresses.filter((address) => !found.has(address));
        const read = unread.map(async (address) => found.set(address, await this.#complaintsAbout(address, expected)));
        await Promise.all(read);
        return this.#addresses.length > 0 || undefined;
      },
      { timeoutMs: patience },
    );
    return this.#addresses.flatMap((address) => found.get(address) ?? []);
  }

  /** Reads linearizably through every member; one sentence for each acknowledged write that is missing or different. */
  async complaints(): Promise<string[]> {
    return this.missing(this.soFar());
  }

  /** The cluster takes writes, and every acknowledged write is there. */
  async nothingIsLost(): Promise<void> {
    await this.progress();
    assert.deepEqual(await this.complaints(), []);
  }

  /** A client that retries once has seen no failure: every write so far was acknowledged at the first try or the second. */
  oneRetryWasEnough(): void {
    assert.deepEqual(this.#failures, []);
  }

  async #complaintsAbout(address: string, expected: ReadonlyMap<string, string>): Promise<string[]> {
    const { keys } = await memberAt(address, this.#cluster.login).list(this.prefix, {}, patiently);
    const found = new Map(keys.map(({ key, value }) => [key, Buffer.from(value).toString()]));
    return [...expected].flatMap(([key, value]) => {
      const there = found.get(key);
      if (there === value) return [];
      return [
        `${address}: ${key} ${there === undefined ? "is missing" : `is "${there}"`}, "${value}" was acknowledged`,
      ];
    });
  }

  async #run(): Promise<void> {
    for (let number = 1; !this.#stop.signal.aborted; number += 1) {
      const write = { key: `${this.prefix}${String(number).padStart(8, "0")}`, value: randomBytes(8).toString("hex") };
      if (number % findEvery === 1) await this.#findMembers();
      // A write in flight when the writer stops may be there or not, so it is not logged.
      if (!(await this.#written(write, number))) return;
      this.#acknowledged.set(write.key, write.value);
      await pause(betweenMs);
    }
  }

  /** Retries the same key and value until it is acknowledged; false when the writer is stopped first. */
  async #written({ key, value }: { key: string; value: string }, first: number): Promise<boolean> {
    const failures: string[] = [];
    let refused: string | undefined;
    for (let attempt = first; !this.#stop.signal.aborted; attempt += 1) {
      const others = this.#ready.filter((one) => one !== refused);
      const address = others[attempt % Math.max(1, others.length)] ?? refused;
      try {
        if (address === undefined) throw new Error("no member is known");
        await memberAt(address, this.#cluster.login).put(key, value, { deadline: 2_000 });
        return true;
      } catch (error) {
        this.#lastFailure = error instanceof Error ? error.message : String(error);
        failures.push(`${address}: ${this.#lastFailure}`);
        refused = address;
        if (failures.length === 2) this.#failures.push(`${new Date().toISOString()} ${key}: ${failures.join("; ")}`);
        await pause(afterFailureMs);
        await this.#findMembers();
      }
    }
    return false;
  }

  async #findMembers(): Promise<void> {
    try {
      const pods = (await this.#cluster.pods()).filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
      const addressesOf = (some: readonly Pod[]): string[] => some.flatMap(({ status }) => status?.podIP ?? []);
      const ready = addressesOf(pods.filter(isReady));
      this.#addresses = addressesOf(pods);
      this.#ready = ready.length > 0 ? ready : this.#addresses;
    } catch (error) {
      this.#lastFailure = error instanceof Error ? error.message : String(error);
    }
  }
}

const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
