// Polls a cluster and keeps each moment at which fewer of the listed voters answered than a quorum needs, or than a test
// demands. Independent of what the operator reports.
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import type { Member } from "../../../src/etcd/member.ts";
import { waitFor } from "../../../lab/progress.ts";
import { ports } from "../../../src/cluster/objects/labels.ts";
import { quorum } from "../../../src/cluster/assess/instances.ts";
import type { Pod } from "../../../src/kube/objects/kinds.ts";
import type { TestCluster } from "../support/cluster.ts";
import { patience } from "../support/environment.ts";
import { memberAt } from "../support/healthy.ts";

const everyMs = 400;
/** Longer than a busy machine makes a member slow. One that is gone refuses at once, or never answers. */
const answerWithinMs = 10_000;
/** For answers that have arrived while this process got no CPU: it reads them before it gives up. */
const graceMs = 1_000;
/** A process that gets no CPU for so long may not have asked in time: what it took for silence proves nothing. */
const heldUpMs = 3_000;
/** A poll may hang on the IP of a pod that has just gone; others go on meanwhile. */
const mostAtOnce = 10;
/** Fewer polls would prove nothing. */
const enough = 5;

/** Names of the pods whose etcd answered. */
type Answering = ReadonlySet<string>;

interface QuorumWatchOptions {
  /** How many voters must answer at every poll. Default: a quorum of the listed ones. */
  readonly fewest?: number;
}

export class QuorumWatch implements AsyncDisposable {
  readonly #shortfalls: string[] = [];
  #judged = 0;
  #dropped = 0;
  #lastFailure = "none";
  /** When this process was last seen to be held up. */
  #heldUpAt = Number.NEGATIVE_INFINITY;
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;
  readonly #fewest: number | undefined;

  constructor(cluster: TestCluster, { fewest }: QuorumWatchOptions = {}) {
    this.#fewest = fewest;
    this.#ended = this.#run(cluster);
  }

  /** One sentence for each poll at which too few answered. */
  get shortfalls(): readonly string[] {
    return this.#shortfalls;
  }

  /** Stops the watch after enough polls and asserts that at each enough voters answered. What is watched may take less than a second. */
  async alwaysQuorum(): Promise<void> {
    await waitFor(`${enough} polls`, async () => this.#judged >= enough || undefined, {
      timeoutMs: patience,
      lastSeen: () => `${this.#judged} polls, ${this.#dropped} dropped, last failure: ${this.#lastFailure}`,
    });
    await this[Symbol.asyncDispose]();
    assert.deepEqual(this.#shortfalls, []);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  async #run(cluster: TestCluster): Promise<void> {
    const polls = new Set<Promise<void>>();
    while (!this.#stop.signal.aborted) {
      if (polls.size < mostAtOnce) {
        const poll = this.#poll(cluster)
          .catch((error: unknown) => this.#drop(error instanceof Error ? error.message : String(error)))
          .finally(() => polls.delete(poll));
        polls.add(poll);
      }
      const due = performance.now() + everyMs;
      await pause(everyMs);
      if (performance.now() > due + heldUpMs) this.#heldUpAt = performance.now();
    }
    await Promise.all(polls);
  }

  /**
   * Member ids are never reused and voters never become learners. So if the list is the same before and after, it was the
   * same in between, and the answers are judged by it.
   */
  async #poll(cluster: TestCluster): Promise<void> {
    const { signal } = this.#stop;
    const before = await newestList(await remainingPods(cluster), signal);
    const pods = await remainingPods(cluster);
    const began = performance.now();
    const names = await answering(pods, signal);
    const isHeldUp = this.#heldUpAt >= began;
    for (;;) {
      signal.throwIfAborted();
      const after = await newestList(pods, signal).catch(() => undefined);
      if (after === undefined) await pause(everyMs);
      else if (textOf(after) === textOf(before)) return this.#judge(after, names, isHeldUp);
      else return this.#drop("the list changed");
    }
  }

  #drop(because: string): void {
    this.#dropped += 1;
    this.#lastFailure = because;
  }

  #judge(list: readonly Member[], answering: Answering, isHeldUp: boolean): void {
    const voters = list.filter(({ learner }) => !learner).map(podOf);
    const silent = voters.filter((voter) => !answering.has(voter));
    const isEnough = voters.length - silent.length >= (this.#fewest ?? quorum(voters.length));
    if (!isEnough && isHeldUp) return this.#drop("this process was held up");
    this.#judged += 1;
    if (isEnough) return;
    this.#shortfalls.push(`of the voters ${voters.join(", ")} these did not answer: ${silent.join(", ")}`);
  }
}

/** Without terminating pods: if one still has a member, that counts as not answering. */
async function remainingPods(cluster: TestCluster): Promise<Pod[]> {
  const pods = await cluster.pods();
  return pods.filter(({ metadata, status }) => metadata?.deletionTimestamp === undefined && status?.podIP);
}

/** Asked on the peer port: a new voter takes part in raft before it serves clients. */
async function answering(pods: readonly Pod[], stopped: AbortSignal): Promise<Answering> {
  const names = pods.map(async ({ metadata, status }) => {
    const tooLate = new AbortController();
    const signal = AbortSignal.any([stopped, tooLate.signal]);
    const asked = fetch(`http://${status?.podIP}:${ports.peer}/version`, { signal });
    const answered = asked.then((answer) => answer.text()).catch(() => undefined);
    const inTime = Promise.race([
      answered,
      pause(answerWithinMs, undefined, { ref: false }).then(() => pause(graceMs, undefined, { ref: false })),
    ]);
    const found = (await inTime) === undefined ? [] : [metadata?.name ?? ""];
    tooLate.abort();
    return found;
  });
  return new Set((await Promise.all(names)).flat());
}

/** From the member with the highest applied index, which knows of every removal and promotion. Needs no quorum. */
async function newestList(pods: readonly Pod[], signal: AbortSignal): Promise<readonly Member[]> {
  const call = { signal, deadline: answerWithinMs };
  const answers = await Promise.all(
    pods.map(async (pod) => {
      const etcd = memberAt(pod.status?.podIP ?? "");
      const status = await etcd.status(call).catch(() => undefined);
      return status === undefined ? [] : [{ etcd, index: status.raftAppliedIndex ?? status.raftIndex }];
    }),
  );
  const [newest] = answers.flat().toSorted((a, b) => b.index - a.index);
  if (newest === undefined) throw new Error("no member answers");
  return (await newest.etcd.memberList({ linearizable: false }, call)).members;
}

/** From the peer URL: etcd has the member's name only after it has started. */
const podOf = ({ peerUrls: [url = ""] }: Member): string => new URL(url).hostname.split(".")[0] ?? "";

const textOf = (list: readonly Member[]): string =>
  list
    .map(({ id, learner }) => `${id} ${learner}`)
    .toSorted()
    .join();
