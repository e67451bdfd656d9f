// Reads a command line by the rows of the commands, as kubectl reads its own: flags before, between and after arguments, a
// value after `=` or as the next word, and nothing is a flag after `--`.
import type { Command, FlagRow } from "../command.ts";
import { Flags } from "./flags.ts";
import { globalFlags } from "./global-flags.ts";
import { didYouMean } from "./nearest.ts";
import { UsageError } from "./usage-error.ts";

export type Line =
  /** About everything, or about one command. */
  | { readonly t: "help"; readonly of: Command | undefined }
  | {
      readonly t: "run";
      readonly command: Command;
      readonly arguments: readonly string[];
      readonly flags: Flags;
    };

export function parseLine(words: readonly string[], commands: readonly Command[]): Line {
  const read = new Reader(words, commands);
  return read.line();
}

class Reader {
  readonly #left: string[];
  readonly #commands: readonly Command[];
  readonly #values = new Map<string, string[]>();
  readonly #arguments: string[] = [];
  #command: Command | undefined;
  #isHelp = false;

  constructor(words: readonly string[], commands: readonly Command[]) {
    this.#left = [...words];
    this.#commands = commands;
  }

  line(): Line {
    this.#read();
    if (this.#isHelp) return { t: "help", of: this.#command };
    const command = this.#command;
    if (command === undefined)
      throw new UsageError(`Name a command: ${this.#names()}. \`kubectl etcd --help\` describes them.`);
    this.#count(command);
    return { t: "run", command, arguments: this.#arguments, flags: new Flags(this.#values) };
  }

  #read(): void {
    for (let word = this.#left.shift(); word !== undefined; word = this.#left.shift()) {
      if (word === "--") {
        this.#takeRest();
        return;
      }
      if (word.startsWith("--") || (word.startsWith("-") && word.length > 1)) this.#flag(word);
      else this.#word(word);
      if (this.#restBegins()) {
        if (this.#left[0] === "--") this.#left.shift();
        this.#takeRest();
        return;
      }
    }
  }

  #takeRest(): void {
    this.#arguments.push(...this.#left.splice(0));
  }

  #word(word: string): void {
    if (this.#command !== undefined) {
      this.#arguments.push(word);
      return;
    }
    if (word === "help") {
      this.#isHelp = true;
      return;
    }
    this.#command = this.#commands.find(({ name }) => name === word);
    if (this.#command === undefined)
      throw new UsageError(
        `"${word}" is not a command.${didYouMean(word, this.#known())} Available: ${this.#names()}.`,
      );
  }

  /** From the first word on that belongs to another program. */
  #restBegins(): boolean {
    const rows = this.#command?.arguments ?? [];
    return this.#command !== undefined && rows.at(-1)?.is === "rest" && this.#arguments.length >= rows.length - 1;
  }

  #flag(word: string): void {
    const { name, value } = split(word);
    if (name === "help" || name === "h") {
      this.#isHelp = true;
      return;
    }
    const rows = [...globalFlags, ...(this.#command?.flags ?? [])];
    const row = rows.find((one) => one.name === name || (one.short === name && !word.startsWith("--")));
    if (row === undefined) throw this.#unknown(word, rows);
    const given = value ?? (row.value === undefined ? "" : this.#left.shift());
    const shown = `--${row.name}`;
    if (given === undefined) throw new UsageError(`${shown} needs a value, as in ${shown}=${row.value}.`);
    if (row.value === undefined && value !== undefined && value !== "true")
      throw new UsageError(`${shown} takes no value: write ${shown}, or omit it.`);
    if (row.oneOf !== undefined && !row.oneOf.includes(given))
      throw new UsageError(
        `${shown} is ${listed(row.oneOf)}, not "${given}".${didYouMean(given, row.oneOf, `${shown}=`)}`,
      );
    this.#values.set(row.name, [...(this.#values.get(row.name) ?? []), given]);
  }

  #unknown(word: string, rows: readonly FlagRow[]): UsageError {
    const of = this.#command === undefined ? "kubectl etcd" : `kubectl etcd ${this.#command.name}`;
    const flag = word.split("=")[0] ?? word;
    const names = rows.map(({ name }) => name);
    const early =
      this.#command === undefined && this.#commands.some(({ flags }) => flags.some(({ name }) => `--${name}` === flag))
        ? " Write it after the command that it belongs to."
        : didYouMean(flag.replace(/^-+/, ""), names, "--");
    return new UsageError(`${flag} is not a flag of ${of}.${early} \`${of} --help\` lists them.`);
  }

  #count({ name, arguments: rows }: Command): void {
    const needed = rows.filter(({ is }) => is === "needed");
    const missing = needed[this.#arguments.length];
    const usage = `kubectl etcd ${[name, ...rows.map(inUsage)].join(" ")}`;
    if (missing !== undefined) throw new UsageError(`${missing.name} is missing: write it as in \`${usage}\`.`);
    if (rows.at(-1)?.is !== "rest" && this.#arguments.length > rows.length)
      throw new UsageError(`"${this.#arguments[rows.length]}" is an unexpected argument: \`${usage}\`.`);
  }

  #known(): string[] {
    return this.#commands.map(({ name }) => name).filter((name) => !name.startsWith("_"));
  }

  #names(): string {
    return this.#known().join(", ");
  }
}

export function inUsage({ name, is }: Command["arguments"][number]): string {
  if (is === "needed") return name;
  return is === "optional" ? `[${name}]` : `[--] ${name}...`;
}

/** `-nprod`, `-n=prod`, `-n`, `--namespace=prod`, `--namespace`. */
function split(word: string): { name: string; value: string | undefined } {
  const { name = "", value } = /^--(?<name>[^=]*)(?:=(?<value>.*))?$/s.exec(word)?.groups ?? {};
  if (word.startsWith("--")) return { name, value };
  const rest = word.slice(2).replace(/^=/, "");
  return { name: word.slice(1, 2), value: word.length === 2 ? undefined : rest };
}

export function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}
