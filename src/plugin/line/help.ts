// The help: of the plugin, and of each command, made from its row.
import type { Command, FlagRow } from "../command.ts";
import { globalFlags } from "./global-flags.ts";
import { inUsage } from "./parse.ts";

export function helpOf(command: Command | undefined, commands: readonly Command[]): string {
  return command === undefined ? helpOfAll(commands) : helpOfOne(command);
}

function helpOfAll(commands: readonly Command[]): string {
  const shown = commands.filter(({ name }) => !name.startsWith("_"));
  return [
    "kubectl etcd shows and manages the clusters of the etcd operator.",
    "",
    "Usage: kubectl etcd COMMAND [flags]",
    "",
    "Commands:",
    ...aligned(shown.map(({ name, what }) => [name, what])),
    "",
    "Flags of every command:",
    ...flagLines(globalFlags),
    "",
    "`kubectl etcd COMMAND --help` shows flags, examples and the permissions that a command needs.",
  ].join("\n");
}

function helpOfOne({ name, what, details, arguments: rows, flags, examples, permissions }: Command): string {
  const usage = ["kubectl etcd", name, ...rows.map(inUsage), "[flags]"].join(" ");
  return [
    what,
    ...(details === undefined ? [] : ["", details]),
    "",
    `Usage: ${usage}`,
    "",
    "Examples:",
    ...examples.flatMap((example) => [`  # ${example.what}`, `  kubectl etcd ${example.line}`]),
    ...(flags.length === 0 ? [] : ["", "Flags:", ...flagLines(flags)]),
    "",
    "Flags of every command:",
    ...flagLines(globalFlags),
    "",
    "Permissions:",
    ...(permissions.length === 0
      ? ["  none"]
      : aligned(permissions.map((right) => [permissionInWords(right), right.without ?? ""]))),
  ].join("\n");
}

export function permissionInWords({ verbs, resource, group }: Command["permissions"][number]): string {
  return `${verbs.join(", ")} ${group === "" ? resource : `${resource}.${group}`}`;
}

export function flagInWords({ name, short, value }: FlagRow): string {
  return `${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : `=${value}`}`;
}

const flagLines = (flags: readonly FlagRow[]): string[] => aligned(flags.map((flag) => [flagInWords(flag), flag.what]));

function aligned(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([first]) => first.length));
  return rows.map(([first, second]) => `  ${first.padEnd(width)}  ${second}`.trimEnd());
}
