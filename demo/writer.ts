// A client that keeps writing through whatever member serves, and remembers every write that etcd acknowledged.
import { setTimeout as sleep } from "node:timers/promises";
import { CommandError, run } from "../lab/command.ts";

export interface WriterOptions {
  readonly prefix: string;
  /** The pods that can be asked now. */
  readonly members: () => readonly string[];
}

const betweenWritesMs = 100;
const patienceMs = 10_000;

export class Writer {
  readonly #options: WriterOptions;
  readonly acknowledged = new Map<string, string>();
  /** Writes that ended without a yes; they may be there or not. */
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

  /** Everything under the prefix, read through one member with the quorum's consent. */
  async readBack(member: string): Promise<Map<string, string>> {
    const lines = (await run("kubectl", writeLine(member, "get", "--prefix", this.#options.prefix))).split("\n");
    const found = new Map<string, string>();
    for (let i = 0; i + 1 < lines.length; i += 2) found.set(lines[i] ?? "", lines[i + 1] ?? "");
    return found;
  }

  async #write(member: string, key: string, value: string): Promise<void> {
    try {
      await run("kubectl", writeLine(member, "put", key, value), { signal: AbortSignal.timeout(patienceMs) });
      this.acknowledged.set(key, value);
    } catch (error) {
      const expected = error instanceof CommandError || (error instanceof Error && error.name === "AbortError");
      if (!expected) throw error;
      this.unknown += 1;
    }
  }
}

/** The arguments of the kubectl command that runs etcdctl inside of a member. */
export const writeLine = (member: string, ...args: string[]): string[] => ["exec", member, "--", "etcdctl", ...args];
