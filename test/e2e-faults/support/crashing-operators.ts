// A sequence of operators on one namespace: when one is killed the next starts, with no state but what Kubernetes and etcd
// hold.
import { whenAborted } from "../../../src/kube/abort.ts";
import { deleteLeases, OperatorProcess } from "../../e2e/support/operator-process.ts";

/** More than any test needs; ends a sequence that makes no progress. */
const mostOperators = 200;

export class CrashingOperators {
  /** Writes of all operators so far, in order. */
  readonly changes: string[] = [];
  /** How many were killed. */
  crashes = 0;
  /** Rejects when an operator exits without being killed. */
  readonly failed: Promise<never>;
  readonly #namespace: string;
  readonly #changesEach: number;
  readonly #flags: readonly string[];
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;

  /** `changesEach`: Infinity: never killed. */
  constructor(namespace: string, changesEach: number, flags: readonly string[] = []) {
    this.#namespace = namespace;
    this.#flags = flags;
    this.#changesEach = changesEach;
    const failed = Promise.withResolvers<never>();
    this.failed = failed.promise;
    this.failed.catch(() => undefined); // `during` rethrows it
    this.#ended = this.#run().catch(failed.reject);
  }

  /** Rejects if an operator exits without being killed. */
  during<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.failed]);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      if (this.crashes >= mostOperators)
        throw new Error(`${mostOperators} operators were not enough: ${this.changes.join(", ")}`);
      const operator = new OperatorProcess({
        namespace: this.#namespace,
        crashAfter: this.#changesEach,
        flags: this.#flags,
        onChange: (change) => this.changes.push(change),
      });
      await Promise.race([operator.ended, whenAborted(this.#stop.signal)]);
      if (!this.#stop.signal.aborted) {
        if (!operator.wasKilled) throw new Error(`the operator exited: ${operator.lastWords}`);
        this.crashes += 1;
      }
      await operator.kill();
      await deleteLeases(this.#namespace);
    }
  }
}
