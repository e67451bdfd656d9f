// `logs`: what the members print, of all of them or of one.
import type { Command } from "../command.ts";
import { podNamed } from "../members-to-talk-to.ts";
import { readTarget } from "../one-cluster.ts";
import { readClusters, readPods } from "../permissions.ts";
import { memberSelector } from "../observe/observe.ts";

export const logsCommand: Command = {
  name: "logs",
  what: "Print the logs of all members, or of one.",
  details:
    "Runs your own kubectl logs. For all members, each line starts with the name of its member.\nControl characters, such as those of escape sequences, are shown as �.",
  arguments: [
    { name: "NAME", is: "needed", of: "cluster" },
    { name: "MEMBER", is: "optional", of: "member" },
  ],
  flags: [
    { name: "follow", short: "f", what: "Stream new lines." },
    { name: "previous", short: "p", what: "Show the logs of the previous containers, from before the last restart." },
    {
      name: "tail",
      value: "LINES",
      what: "Only the last lines of each member. Default: 50 for all members, everything for one.",
    },
    { name: "since", value: "DURATION", what: "Only lines that are newer than this, as in 10m." },
  ],
  examples: [
    { what: "The last lines of every member", line: "logs my-etcd" },
    { what: "Follow one member", line: "logs my-etcd my-etcd-2b7kq9xw4c -f" },
    { what: "Why did it crash?", line: "logs my-etcd my-etcd-2b7kq9xw4c --previous" },
  ],
  permissions: [readClusters, readPods, { group: "", resource: "pods/log", verbs: ["get"] }],
  async run(call) {
    const target = await readTarget(call);
    const [, member] = call.arguments;
    const { flags } = call;
    const value = (name: string): string[] => {
      const text = flags.text(name);
      return text === undefined ? [] : [`--${name}=${text}`];
    };
    const which =
      member === undefined
        ? [`--selector=${memberSelector(target.key.name)}`, "--prefix", "--max-log-requests=20"]
        : [podNamed(target, member).metadata?.name ?? ""];
    const tail = flags.has("tail") || member !== undefined ? value("tail") : ["--tail=50"];
    const code = await call.kubectl.run(
      [
        "logs",
        `--namespace=${target.key.namespace}`,
        ...which,
        "--container=etcd",
        ...["follow", "previous"].flatMap((name) => (flags.has(name) ? [`--${name}`] : [])),
        ...tail,
        ...value("since"),
      ],
      "text",
    );
    return code === 0 ? 0 : 1;
  },
};
