// What a shell may offer for the last word of a command line, by the rows of the commands.
import type { ArgumentRow, Command } from "../command.ts";
import { globalFlags } from "./global-flags.ts";

interface Candidate {
  readonly word: string;
  readonly what: string;
}

type Completion =
  | { readonly t: "candidates"; readonly candidates: readonly Candidate[] }
  /** Names that only the cluster knows. `cluster`: whose members. */
  | { readonly t: "ask"; readonly of: NonNullable<ArgumentRow["of"]>; readonly cluster: string };

/** `words`: all that follows `kubectl etcd`, the last one unfinished. */
export function completionOf(words: readonly string[], commands: readonly Command[]): Completion {
  const last = words.at(-1) ?? "";
  const before = words.slice(0, -1);
  const placed = positions(before, commands);
  const offer = (candidates: readonly Candidate[]): Completion => ({
    t: "candidates",
    candidates: candidates.filter(({ word }) => word.startsWith(last)),
  });
  if (placed.value !== undefined) return offer((placed.value.oneOf ?? []).map((word) => ({ word, what: "" })));
  if (last.startsWith("-")) {
    const rows = [...(placed.command?.flags ?? []), ...globalFlags];
    const [name, value] = last.split("=");
    const row = value === undefined ? undefined : rows.find((one) => `--${one.name}` === name);
    if (row !== undefined) return offer((row.oneOf ?? []).map((word) => ({ word: `${name}=${word}`, what: "" })));
    return offer(rows.map(({ name, what, value }) => ({ word: `--${name}${value === undefined ? "" : "="}`, what })));
  }
  if (placed.command === undefined)
    return offer(commands.filter(({ name }) => !name.startsWith("_")).map(({ name, what }) => ({ word: name, what })));
  const row = placed.command.arguments[placed.arguments.length];
  if (row?.of === undefined) return offer([]);
  return { t: "ask", of: row.of, cluster: placed.arguments[0] ?? "" };
}

interface Placed {
  readonly command: Command | undefined;
  readonly arguments: readonly string[];
  readonly value: Command["flags"][number] | undefined;
}

function positions(words: readonly string[], commands: readonly Command[]): Placed {
  let command: Command | undefined;
  let value: Placed["value"];
  const found: string[] = [];
  for (const word of words) {
    if (value !== undefined) {
      value = undefined;
      continue;
    }
    if (word.startsWith("-")) {
      const rows = [...(command?.flags ?? []), ...globalFlags];
      const row = rows.find(({ name, short }) => word === `--${name}` || word === `-${short}`);
      value = row?.value === undefined ? undefined : row;
    } else if (command === undefined) command = commands.find(({ name }) => name === word);
    else found.push(word);
  }
  return { command, arguments: found, value };
}
