// A client that keeps writing through any ready member, and remembers every acknowledged write with its revision.
import { setTimeout as sleep } from "node:timers/promises";
import { CommandError, run } from "../lab/machine/command.ts";
import type { Acknowledged } from "./read-back.ts";

interface WriterOptions {
  readonly prefix: string;
  /** The pods that are ready. */
  readonly members: () => readonly string[];
  /** Ends the write that is under way, too. */
  readonly signal: AbortSignal;
}

const betweenWritesMs = 100;
const timeoutMs = 10_000;

export class Writer {
  readonly #options: WriterOptions;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  #failure: Error | undefined;
  /** In the order of acknowledgement. */
  readonly acknowledged: Acknowledged[] = [];
  /** Writes that were not acknowledged; etcd may have them or not. */
  unknown = 0;

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running ??= this.#run().catch((error: unknown) => {
      this.#failure = error instanceof Error ? error : new Error(String(error));
    });
  }

  /** Returns when the write that is under way has ended. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** As in "12 writes acknowledged, 1 not". Throws what ended the client. */
  state(): string {
    if (this.#failure !== undefined) throw this.#failure;
    return `${this.acknowledged.length} writes acknowledged${this.unknown === 0 ? "" : `, ${this.unknown} not`}`;
  }

  /** Everything under the prefix, by a linearizable read through one member. */
  async readBack(member: string, signal: AbortSignal): Promise<Map<string, string>> {
    const output = await run("kubectl", etcdctl(member, "get", "--prefix", this.#options.prefix), { signal });
    const lines = output.split("\n");
    const found = new Map<string, string>();
    for (let i = 0; i + 1 < lines.length; i += 2) found.set(lines[i] ?? "", lines[i + 1] ?? "");
    return found;
  }

  async #run(): Promise<void> {
    const { signal, members: ready } = this.#options;
    for (let i = 1; !this.#stop.signal.aborted && !signal.aborted; i += 1) {
      const members = ready();
      const member = members[i % members.length];
      if (member !== undefined) await this.#write(member, `${this.#options.prefix}${i}`, `written-${Date.now()}`);
      await sleep(betweenWritesMs);
    }
  }

  async #write(member: string, key: string, value: string): Promise<void> {
    try {
      const signal = AbortSignal.any([this.#options.signal, AbortSignal.timeout(timeoutMs)]);
      const answer = await run("kubectl", putLine(member, key, value), { signal });
      this.acknowledged.push({ key, value, revision: revisionIn(answer) });
    } catch (error) {
      const expected = error instanceof CommandError || (error instanceof Error && error.name === "AbortError");
      if (!expected) throw error;
      this.unknown += 1;
    }
  }
}

/** The arguments of the kubectl command that runs etcdctl inside a member. */
export const etcdctl = (member: string, ...args: string[]): string[] => ["exec", member, "--", "etcdctl", ...args];
export const putLine = (member: string, key: string, value: string): string[] =>
  etcdctl(member, "put", key, value, "-w=fields");

/** etcdctl prints `"Revision" : 12`, among others. */
export function revisionIn(answer: string): number {
  const [, revision] = /^"Revision" : (\d+)$/m.exec(answer) ?? [];
  if (revision === undefined) throw new Error(`etcdctl put does not say its revision: ${answer.slice(0, 200)}`);
  return Number(revision);
}
