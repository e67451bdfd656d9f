// Looks at a cluster all the time and remembers each look at which fewer voters answered than a majority of those takes
// that etcd lists: nobody but the watch is asked whether there ever was such a moment.
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import type { Member } from "../../../src/etcd/member.ts";
import { waitFor } from "../../../lab/progress.ts";
import { ports } from "../../../src/cluster/objects/labels.ts";
import { quorum } from "../../../src/cluster/assess/seats.ts";
import type { Pod } from "../../../src/kube/objects/kinds.ts";
import type { TestCluster } from "./cluster.ts";
import { patience } from "./ground.ts";
import { memberAt } from "./whole.ts";

const everyMs = 200;
/** One that is only slow on a busy machine is not gone. */
const answerWithinMs = 2_000;
/** A look may wait for the address of a pod that has just gone; others go on meanwhile. */
const mostAtOnce = 10;
/** With fewer nothing would be shown. */
const enough = 5;

/** Names of the pods whose etcd answered. */
type Answering = ReadonlySet<string>;

export class QuorumWatch implements AsyncDisposable {
  readonly #shortfalls: string[] = [];
  #judged = 0;
  #dropped = 0;
  #lastFailure = "none";
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;

  constructor(cluster: TestCluster) {
    this.#ended = this.#run(cluster);
  }

  /** A sentence for each look at which there were too few. */
  get shortfalls(): readonly string[] {
    return this.#shortfalls;
  }

  /** Ends the watch, once it has seen enough: what it was made for may be over within a second. */
  async neverTooFew(): Promise<void> {
    await waitFor(`${enough} looks`, async () => this.#judged >= enough || undefined, {
      timeoutMs: patience,
      lastSeen: () => `${this.#judged} looks, ${this.#dropped} dropped, last failure: ${this.#lastFailure}`,
    });
    await this[Symbol.asyncDispose]();
    assert.deepEqual(this.#shortfalls, []);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  async #run(cluster: TestCluster): Promise<void> {
    const looks = new Set<Promise<void>>();
    while (!this.#stop.signal.aborted) {
      if (looks.size < mostAtOnce) {
        const look = this.#look(cluster)
          .catch((error: unknown) => this.#drop(error instanceof Error ? error.message : String(error)))
          .finally(() => looks.delete(look));
        looks.add(look);
      }
      await pause(everyMs);
    }
    await Promise.all(looks);
  }

  /**
   * Ids never come back and voters never become learners, so two equal lists mean that the list was the same all the time
   * between them, and whoever answered meanwhile is judged by it, even when nobody could be asked for a list for a while.
   */
  async #look(cluster: TestCluster): Promise<void> {
    const { signal } = this.#stop;
    const before = await newestList(await staying(cluster), signal);
    const pods = await staying(cluster);
    const names = await answering(pods, signal);
    for (;;) {
      signal.throwIfAborted();
      const after = await newestList(pods, signal).catch(() => undefined);
      if (after === undefined) await pause(everyMs);
      else if (textOf(after) === textOf(before)) return this.#judge(after, names);
      else return this.#drop("the list changed");
    }
  }

  #drop(because: string): void {
    this.#dropped += 1;
    this.#lastFailure = because;
  }

  #judge(list: readonly Member[], look: Answering): void {
    this.#judged += 1;
    const voters = list.filter(({ learner }) => !learner).map(podOf);
    const silent = voters.filter((voter) => !look.has(voter));
    if (voters.length - silent.length >= quorum(voters.length)) return;
    this.#shortfalls.push(`of ${voters.join(", ")} these did not answer: ${silent.join(", ")}`);
  }
}

/** Pods that are told to end have no member any more; one that has counts as gone. */
async function staying(cluster: TestCluster): Promise<Pod[]> {
  const pods = await cluster.pods();
  return pods.filter(({ metadata, status }) => metadata?.deletionTimestamp === undefined && status?.podIP);
}

/** On the port for peers: one that got its vote a moment ago takes part in decisions before it answers clients. */
async function answering(pods: readonly Pod[], stopped: AbortSignal): Promise<Answering> {
  const names = pods.map(async ({ metadata, status }) => {
    const signal = AbortSignal.any([stopped, AbortSignal.timeout(answerWithinMs)]);
    const asked = fetch(`http://${status?.podIP}:${ports.peer}/version`, { signal });
    const answered = asked.then((answer) => answer.text()).catch(() => undefined);
    return (await answered) === undefined ? [] : [metadata?.name ?? ""];
  });
  return new Set((await Promise.all(names)).flat());
}

/** Of whoever has come furthest: no member is removed, and no vote given, of which it has not heard. Needs no quorum. */
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

/** Its peer URL has the name from the start; etcd learns it from the member itself, later. */
const podOf = ({ peerUrls: [url = ""] }: Member): string => new URL(url).hostname.split(".")[0] ?? "";

const textOf = (list: readonly Member[]): string =>
  list
    .map(({ id, learner }) => `${id} ${learner}`)
    .toSorted()
    .join();
