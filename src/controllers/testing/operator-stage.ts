// Operators with one controller on an in-memory Kubernetes, in simulated time: they come and go, one at a time.
import assert from "node:assert/strict";
import type { NewEvent } from "../../kube/objects/event-object.ts";
import type { KubeApi } from "../../kube/client/api.ts";
import { silent } from "../../kube/process/log.ts";
import { RuntimeObserver } from "../../kube/process/runtime-observer.ts";
import { SimulatedClock } from "../../kube/testing/simulated-clock.ts";
import type { ControllerParts, MadeController } from "../controller.ts";

/** The life of one process. */
interface ProcessLife {
  readonly signal: AbortSignal;
  readonly writes: readonly string[];
  end(): void;
}

type StageParts = Omit<ControllerParts, "scope" | "workerImage" | "random">;

export class OperatorStage<Life extends ProcessLife> implements AsyncDisposable {
  readonly clock = new SimulatedClock();
  /** The Events of all operators so far. */
  readonly recorded: NewEvent[] = [];
  /** Writes of all operators so far, in order. */
  readonly writes: string[] = [];
  readonly #beganAt: number;
  #running: { readonly life: Life; readonly ended: Promise<unknown>; readonly observer: RuntimeObserver } | undefined;

  constructor(beganAt: string) {
    this.#beganAt = Date.parse(beganAt);
  }

  /** The time of day in milliseconds. */
  now = (): number => this.#beganAt + this.clock.now();

  /** `api`: as a process with this life sees it. */
  protected begin(
    life: Life,
    api: KubeApi,
    make: (parts: StageParts) => Pick<MadeController<unknown>, "controller" | "informers">,
  ): Life {
    assert.ok(this.#running === undefined, "one operator runs already");
    const observer = new RuntimeObserver(silent);
    const { controller, informers } = make({
      api,
      events: { record: (_kind, _object, what) => void this.recorded.push(what) },
      observer,
      clock: this.clock,
      now: this.now,
    });
    const ended = Promise.all([
      ...informers.map((informer) => informer.run(life.signal)),
      controller.run(api, life.signal),
    ]);
    this.#running = { life, ended, observer };
    return life;
  }

  /** Undefined: no operator runs. */
  get running(): { readonly life: Life; readonly observer: RuntimeObserver } | undefined {
    return this.#running;
  }

  async stopOperator(): Promise<void> {
    const running = this.#running;
    assert.ok(running);
    running.life.end();
    await running.ended;
    this.writes.push(...running.life.writes);
    this.#running = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#running !== undefined) await this.stopOperator();
  }
}
