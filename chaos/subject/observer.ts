// Looks at the cluster under test a few times a second, whatever becomes of the looks before, and keeps the doors leading to
// members that are there.
import { setTimeout as sleep } from "node:timers/promises";
import type { Sample } from "../judging/samples.ts";
import type { Entrance, Target } from "./entrance.ts";
import type { Subject } from "./subject.ts";

const everyMs = 300;
/** One that hangs on a silent member takes seconds; others go on meanwhile. */
const mostAtOnce = 12;
const learnEveryMs = 1_000;

export class Observer implements AsyncDisposable {
  readonly #subject: Subject;
  readonly #entrance: Entrance;
  readonly #translated: boolean;
  readonly #samples: Sample[] = [];
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;
  #targets: (Target | undefined)[];

  constructor(subject: Subject, entrance: Entrance, translated: boolean) {
    this.#subject = subject;
    this.#entrance = entrance;
    this.#translated = translated;
    this.#targets = entrance.ports.map(() => undefined);
    this.#lead();
    this.#ended = Promise.all([this.#looks(), this.#learns()]).then(() => undefined);
  }

  /** By when they were begun. */
  get samples(): readonly Sample[] {
    return this.#samples;
  }

  /** Since when it has been seen healthy without an exception; undefined: it is not. */
  get healthySince(): number | undefined {
    const sick = this.#samples.findLastIndex(({ healthy }) => !healthy);
    return this.#samples[sick + 1]?.at;
  }

  get lastSeen(): string {
    return this.#samples.at(-1)?.why ?? "nothing yet";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  #lead(): void {
    this.#targets = this.#subject.targets(this.#targets, this.#translated, this.#samples.at(-1));
    this.#entrance.lead(this.#targets);
  }

  async #looks(): Promise<void> {
    const looking = new Set<Promise<void>>();
    while (!this.#stop.signal.aborted) {
      this.#lead();
      if (looking.size < mostAtOnce) {
        const look = this.#subject
          .look()
          .then((sample) => this.#keep(sample))
          // It says nothing. Without any the cluster counts as never seen.
          .catch(() => undefined)
          .finally(() => looking.delete(look));
        looking.add(look);
      }
      await sleep(everyMs);
    }
    await Promise.all(looking);
  }

  #keep(sample: Sample): void {
    const before = this.#samples.findLastIndex(({ at }) => at <= sample.at);
    this.#samples.splice(before + 1, 0, sample);
  }

  /** Apart from the looks: the API server may stand still. */
  async #learns(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      if (this.#translated) await this.#subject.learnCertificates();
      await sleep(learnEveryMs, undefined, { signal: this.#stop.signal }).catch(() => undefined);
    }
  }
}
