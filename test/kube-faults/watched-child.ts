// The test's end of the process with the informers: starts it, hands each informer's observations to its checker, asks
// it things, and notices when it dies.
import { type ChildProcess, fork } from "node:child_process";
import * as path from "node:path";
import { Checker } from "./checker.ts";
import { numberedKinds, type Numbered } from "./numbered.ts";
import { type Answer, type Footprint, informerName, type Question, type WatchedSettings } from "./watched.ts";

const answerWithin = 60_000;

export class WatchedChild {
  readonly checkers = new Map<string, Checker>();
  readonly #process: ChildProcess;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  readonly #errors: Buffer[] = [];
  #questions = 0;
  #ending = false;
  /** Why it is not there any more. */
  #death: string | undefined;

  constructor(settings: WatchedSettings) {
    for (const way of settings.ways) {
      for (const { kind } of numberedKinds) {
        const name = informerName(way.name, kind.kind);
        this.checkers.set(name, new Checker(name));
      }
    }
    this.#process = fork(path.join(import.meta.dirname, "watched-process.ts"), [JSON.stringify(settings)], {
      execArgv: ["--expose-gc"],
      stdio: ["ignore", "inherit", "pipe", "ipc"],
    });
    this.#process.stderr?.on("data", (chunk: Buffer) => this.#errors.push(chunk));
    this.#process.on("message", (answer: Answer) => this.#onAnswer(answer));
    this.#process.on("exit", (code, signal) => {
      if (!this.#ending) this.#death = `ended with ${code ?? signal}: ${Buffer.concat(this.#errors).toString()}`;
    });
  }

  /** Throws when the process is gone. */
  checkAlive(): void {
    if (this.#death !== undefined) throw new Error(`the process with the informers ${this.#death}`);
  }

  async caches(): Promise<Record<string, readonly Numbered[]>> {
    const answer = await this.#ask("caches");
    return answer.t === "caches" ? answer.caches : {};
  }

  async footprint(): Promise<Footprint> {
    const answer = await this.#ask("footprint");
    if (answer.t !== "footprint") throw new Error(`asked for the footprint, got ${answer.t}`);
    return answer.footprint;
  }

  end(): void {
    this.#ending = true;
    this.#process.kill("SIGKILL");
  }

  #ask(ask: Question["ask"]): Promise<Answer> {
    this.checkAlive();
    this.#questions += 1;
    const id = this.#questions;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        reject(new Error(`the process with the informers did not tell its ${ask}; ${this.#death ?? "it lives"}`));
      }, answerWithin);
      this.#waiting.set(id, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
      this.#process.send({ ask, id } satisfies Question);
    });
  }

  #onAnswer(answer: Answer): void {
    if (answer.t === "observed") {
      for (const { informer, what } of answer.observations) this.checkers.get(informer)?.observe(what);
    } else {
      this.#waiting.get(answer.id)?.(answer);
      this.#waiting.delete(answer.id);
    }
  }
}
