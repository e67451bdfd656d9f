// A client that keeps writing through any ready member, and remembers every acknowledged write.
import { setTimeout as sleep } from "node:timers/promises";
import { CommandError, run } from "../lab/machine/command.ts";

export interface WriterOptions {
  readonly prefix: string;
  /** The pods that are ready. */
  readonly members: () => readonly string[];
}

const betweenWritesMs = 100;
const timeoutMs = 10_000;

export class Writer {
  readonly #options: WriterOptions;
  readonly acknowledged = new Map<string, string>();
  /** Writes that were not acknowledged; etcd may have them or not. */
  unknown = 0;

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    for (let i = 1; !signal.aborted; i += 1) {
      const members = this.#options.members();
      const member = members[i % members.length];
      const key = `${this.#options.prefix}${i}`;
      const value = `written-${Date.now()}`;
      if (member !== undefined) await this.#write(member, key, value);
      await sleep(betweenWritesMs);
    }
  }

  /** Everything under the prefix, by a linearizable read through one member. */
  async readBack(member: string): Promise<Map<string, string>> {
    const lines = (await run("kubectl", writeLine(member, "get", "--prefix", this.#options.prefix))).split("\n");
    const found = new Map<string, string>();
    for (let i = 0; i + 1 < lines.length; i += 2) found.set(lines[i] ?? "", lines[i + 1] ?? "");
    return found;
  }

  async #write(member: string, key: string, value: string): Promise<void> {
    try {
      await run("kubectl", writeLine(member, "put", key, value), { signal: AbortSignal.timeout(timeoutMs) });
      this.acknowledged.set(key, value);
    } catch (error) {
      const expected = error instanceof CommandError || (error instanceof Error && error.name === "AbortError");
      if (!expected) throw error;
      this.unknown += 1;
    }
  }
}

/** The arguments of the kubectl command that runs etcdctl inside a member. */
export const writeLine = (member: string, ...args: string[]): string[] => ["exec", member, "--", "etcdctl", ...args];
