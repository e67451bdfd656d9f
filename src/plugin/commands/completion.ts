// `completion`: the small program by which kubectl completes the words of a plugin, and what that program asks.
import { chmod, writeFile } from "node:fs/promises";
import * as path from "node:path";
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { Pod } from "../../kube/objects/kinds.ts";
import type { Call, Command } from "../command.ts";
import { completionOf } from "../line/complete.ts";
import { Refusal } from "../place/refusal.ts";
import { readClusters, readPods } from "../permissions.ts";
import { all, found, memberSelector, valueOr } from "../observe/observe.ts";

const file = "kubectl_complete-etcd";
const script = `#!/bin/sh
# kubectl runs this to complete the words of \`kubectl etcd\`.
exec kubectl etcd __complete "$@"
`;

export const completionCommand: Command = {
  name: "completion",
  what: "Complete commands, clusters and members in your shell.",
  details: `kubectl (1.26 or newer) runs the program ${file} from PATH. This command prints it, or writes it to a folder with --install.\nSet up the completion of kubectl itself first: \`kubectl completion --help\`.`,
  arguments: [],
  flags: [{ name: "install", value: "FOLDER", what: "Write it to this folder, which should be in PATH." }],
  examples: [
    { what: "Install it", line: "completion --install=/usr/local/bin" },
    { what: "Print it", line: "completion" },
  ],
  permissions: [
    { ...readClusters, verbs: ["list"], without: "Without it, the names of clusters are not completed." },
    { ...readPods, without: "Without it, the names of members are not completed." },
  ],
  async run({ flags, screen }) {
    const folder = flags.text("install");
    if (folder === undefined) {
      screen.print(script);
      return 0;
    }
    const target = path.join(folder, file);
    try {
      await writeFile(target, script);
      await chmod(target, 0o755);
    } catch (error) {
      throw new Refusal(`${target} cannot be written: ${error instanceof Error ? error.message : String(error)}.`);
    }
    screen.print(`Wrote ${target}: start a new shell.`);
    return 0;
  },
};

/** Cobra's sign that no files are offered beside these. */
const noFiles = ":4";

/** What the program asks. It has no place in the help. */
export const completing = (commands: readonly Command[]): Command => ({
  name: "__complete",
  what: "Answers the shell.",
  arguments: [{ name: "WORD", is: "rest" }],
  flags: [],
  examples: [],
  permissions: [],
  async run(call) {
    const completion = completionOf(call.arguments, commands);
    const last = call.arguments.at(-1) ?? "";
    const names = completion.t === "ask" ? await namesOf(call, completion) : [];
    const lines =
      completion.t === "candidates"
        ? completion.candidates.map(({ word, what }) => (what === "" ? word : `${word}\t${what}`))
        : names.filter((name) => name.startsWith(last));
    call.screen.print([...lines, noFiles].join("\n"));
    return 0;
  },
});

/** What cannot be asked is not offered: a shell is no place for a sentence. */
async function namesOf(call: Call, { of, cluster }: { of: "cluster" | "member"; cluster: string }): Promise<string[]> {
  const read = await found(async () => {
    const { api, namespace } = await call.reach();
    const list =
      of === "cluster"
        ? all(api, EtcdCluster, { namespace })
        : all(api, Pod, { namespace, labelSelector: memberSelector(cluster) });
    return (await list).flatMap(({ metadata }) => metadata?.name ?? []);
  });
  return valueOr(read, []);
}
