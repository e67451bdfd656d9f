// A row of operators on one namespace, each with a short life: as soon as one has died the next one starts, with nothing
// but what Kubernetes and etcd hold.
import { whenAborted } from "../../../src/kube/abort.ts";
import { forgetLeader, OperatorProcess } from "../../e2e/support/operator-process.ts";

/** More than any test takes, so that a row which gets nowhere ends. */
const mostLives = 200;

export class Lives {
  /** Of all of them so far, in order. */
  readonly changes: string[] = [];
  /** Those that were cut short. */
  deaths = 0;
  /** Rejects when one of them ends in a way that it should not. */
  readonly failed: Promise<never>;
  readonly #namespace: string;
  readonly #changesEach: number;
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;

  /** Infinitely many changes are for one that nobody disturbs. */
  constructor(namespace: string, changesEach: number) {
    this.#namespace = namespace;
    this.#changesEach = changesEach;
    const failed = Promise.withResolvers<never>();
    this.failed = failed.promise;
    this.failed.catch(() => undefined); // whoever waits for something waits for this as well
    this.#ended = this.#run().catch(failed.reject);
  }

  /** Waits for something while they live. */
  during<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.failed]);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      if (this.deaths >= mostLives) throw new Error(`${mostLives} lives were not enough: ${this.changes.join(", ")}`);
      const operator = new OperatorProcess({
        namespace: this.#namespace,
        dieAfter: this.#changesEach,
        onChange: (change) => this.changes.push(change),
      });
      await Promise.race([operator.ended, whenAborted(this.#stop.signal)]);
      if (!this.#stop.signal.aborted) {
        if (!operator.wasKilled) throw new Error(`the operator ended by itself, with ${operator.lastWords}`);
        this.deaths += 1;
      }
      await operator.kill();
      await forgetLeader(this.#namespace);
    }
  }
}
