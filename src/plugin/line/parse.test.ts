import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Command } from "../command.ts";
import { helpOf } from "./help.ts";
import { type Line, parseLine } from "./parse.ts";
import { UsageError } from "./usage-error.ts";

const nothing = { what: "", examples: [], permissions: [], run: async () => 0 as const };
const commands: readonly Command[] = [
  {
    ...nothing,
    name: "status",
    arguments: [{ name: "NAME", is: "optional" }],
    flags: [{ name: "all-namespaces", short: "A", what: "" }],
  },
  {
    ...nothing,
    name: "ctl",
    arguments: [
      { name: "NAME", is: "needed" },
      { name: "ARG", is: "rest" },
    ],
    flags: [{ name: "member", value: "MEMBER", what: "" }],
  },
];

function run(text: string): Line & { t: "run" } {
  const line = parseLine(text.split(" ").filter(Boolean), commands);
  assert.equal(line.t, "run");
  return line;
}

describe("a command line", () => {
  for (const text of [
    "status web -n prod -A",
    "-n prod status -A web",
    "-nprod status --all-namespaces web",
    "-n=prod status -A=true web",
    "--namespace prod status web -A",
    "--namespace=prod status -A -- web",
  ])
    test(`is read as kubectl reads it: ${text}`, () => {
      const { command, arguments: words, flags } = run(text);
      assert.deepEqual([command.name, words, flags.text("namespace")], ["status", ["web"], "prod"]);
      assert.ok(flags.has("all-namespaces"));
    });

  test("hands on all that follows the name, where it belongs to another program", () => {
    for (const text of ["ctl -n prod web get a --prefix -n 3", "ctl -n prod web -- get a --prefix -n 3"]) {
      const { arguments: words, flags } = run(text);
      assert.deepEqual(words, ["web", "get", "a", "--prefix", "-n", "3"]);
      assert.equal(flags.text("namespace"), "prod");
    }
    assert.equal(run("ctl --member m web get a").flags.text("member"), "m");
  });

  test("takes the last of a flag that is given twice, and all of one that may be repeated", () => {
    const { flags } = run("status --context a --context b --as u --as-group g --as-group h");
    assert.equal(flags.text("context"), "b");
    assert.deepEqual(flags.all("as-group"), ["g", "h"]);
  });

  test("asks for help of everything or of a command", () => {
    assert.deepEqual(parseLine(["--help"], commands), { t: "help", of: undefined });
    for (const words of [
      ["status", "--help"],
      ["-h", "status"],
      ["help", "status"],
    ])
      assert.deepEqual(parseLine(words, commands), { t: "help", of: commands[0] });
  });

  const refused: readonly (readonly [string, RegExp])[] = [
    ["", /Name a command: status, ctl/],
    ["statsu", /"statsu" is not a command\. Did you mean status\?/],
    ["status --contxt x", /--contxt is not a flag of kubectl etcd status\. Did you mean --context\?/],
    ["--all-namespaces status", /Write it after the command/],
    ["status -x", /-x is not a flag/],
    ["status -o jsn", /--output is text, json or yaml, not "jsn"\. Did you mean --output=json\?/],
    ["status --namespace", /--namespace needs a value, as in --namespace=NAMESPACE/],
    ["status -A=no", /--all-namespaces takes no value/],
    ["status a b", /"b" is an unexpected argument/],
    ["ctl", /NAME is missing: write it as in `kubectl etcd ctl NAME \[--\] ARG\.\.\.`/],
  ];
  for (const [text, says] of refused)
    test(`that cannot be used is refused with a sentence: ${text || "nothing"}`, () => {
      assert.throws(
        () => parseLine(text.split(" ").filter(Boolean), commands),
        (error) => error instanceof UsageError && says.test(error.message),
      );
    });
});

test("help names every command, and of a command its flags, examples and permissions", () => {
  assert.match(helpOf(undefined, commands), /^ {2}status/m);
  const [status] = commands;
  const row: Command = {
    ...status!,
    what: "At a glance.",
    examples: [{ what: "One", line: "status web" }],
    permissions: [{ group: "", resource: "pods", verbs: ["get", "list"], without: "No members." }],
  };
  const help = helpOf(row, commands);
  for (const part of [
    "At a glance.",
    "kubectl etcd status [NAME] [flags]",
    "-A, --all-namespaces",
    "# One\n  kubectl etcd status web",
    "get, list pods  No members.",
  ])
    assert.ok(help.includes(part), part);
});
