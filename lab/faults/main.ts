// `fault …`: every fault of the lab as a command, with the command that undoes it.
import { parseArgs } from "node:util";
import { type LabConfig, UsageError } from "../config.ts";
import { bold, dim, say, seconds, step } from "../progress.ts";
import { killContainer, pauseContainer } from "./containers.ts";
import { cacheDns, freezeApi, freezeDns, stopApi, stopDns } from "./control-plane.ts";
import { delay } from "./delay.ts";
import { fillDisk } from "./disk.ts";
import { type Link, cutNode, cutPods, loss } from "./network.ts";
import { powerOff } from "./power.ts";
import { faultsInForce } from "./record.ts";
import { slowDisk } from "./throttle.ts";
import { end, heal, startApi } from "./undo.ts";

interface Command {
  readonly name: string;
  /** `LINK` is a node, or two pods. */
  readonly takes: string;
  readonly what: string;
  /** The minimum and maximum number of arguments. */
  readonly words: readonly [number, number];
  readonly undoneBy?: string;
  run(lab: LabConfig, words: readonly string[], way: "both" | "one-way"): Promise<void>;
}

const commands: readonly Command[] = [
  {
    name: "kill-container",
    takes: "NS/POD [CONTAINER]",
    what: "kill a container's main process; kubelet starts it again",
    words: [1, 2],
    run: (lab, [pod = "", container]) => killContainer(lab, pod, container),
  },
  {
    name: "pause-container",
    takes: "NS/POD [CONTAINER]",
    what: "stop all processes of a container (SIGSTOP)",
    words: [1, 2],
    undoneBy: "resume-container",
    run: (lab, [pod = "", container]) => pauseContainer(lab, pod, container),
  },
  {
    name: "power-off",
    takes: "NODE",
    what: "cut a node's power: kills agents and containers at once, its disk stays",
    words: [1, 1],
    undoneBy: "power-on",
    run: (lab, [node = ""]) => powerOff(lab, node),
  },
  {
    name: "cut-node",
    takes: "NODE",
    what: "disconnect a node from the network",
    words: [1, 1],
    undoneBy: "join-node",
    run: (lab, [node = ""]) => cutNode(lab, node),
  },
  {
    name: "cut-pods",
    takes: "NS/A NS/B [--one-way]",
    what: "drop all packets between two pods, or only from the first to the second",
    words: [2, 2],
    undoneBy: "join-pods",
    run: (lab, [from = "", to = ""], way) => cutPods(lab, from, to, way),
  },
  {
    name: "loss",
    takes: "LINK PERCENT [--one-way]",
    what: "drop packets at random between two pods (NS/A NS/B), or of a node (NODE)",
    words: [2, 3],
    undoneBy: "no-loss",
    run: (lab, words, way) => loss(lab, linkOf(words.slice(0, -1), way), Number(words.at(-1))),
  },
  {
    name: "delay",
    takes: "LINK MS [--one-way]",
    what: "delay packets in each direction, between two pods or of a node",
    words: [2, 3],
    undoneBy: "no-delay",
    run: (lab, words, way) => delay(lab, linkOf(words.slice(0, -1), way), Number(words.at(-1))),
  },
  {
    name: "stop-api",
    takes: "",
    what: "kill the API server",
    words: [0, 0],
    undoneBy: "start-api",
    run: (lab) => stopApi(lab),
  },
  {
    name: "restart-api",
    takes: "",
    what: "kill the API server and start it as it was",
    words: [0, 0],
    run: (lab) => restartApi(lab),
  },
  {
    name: "freeze-api",
    takes: "",
    what: "freeze the API server: connections stay open, nothing answers",
    words: [0, 0],
    undoneBy: "thaw-api",
    run: (lab) => freezeApi(lab),
  },
  {
    name: "stop-dns",
    takes: "",
    what: "kill the cluster's DNS server",
    words: [0, 0],
    undoneBy: "start-dns",
    run: (lab) => stopDns(lab),
  },
  {
    name: "freeze-dns",
    takes: "",
    what: "freeze the cluster's DNS server: lookups time out",
    words: [0, 0],
    undoneBy: "thaw-dns",
    run: (lab) => freezeDns(lab),
  },
  {
    name: "cache-dns",
    takes: "",
    what: "let DNS cache names of the cluster, and for half a minute that there was no such name",
    words: [0, 0],
    undoneBy: "no-cache-dns",
    run: (lab) => cacheDns(lab),
  },
  {
    name: "fill-disk",
    takes: "NS/POD [VOLUME]",
    what: "fill a volume, named as the node has it or by its path in the container",
    words: [1, 2],
    undoneBy: "free-disk",
    run: (lab, [pod = "", volume]) => fillDisk(lab, pod, volume),
  },
  {
    name: "slow-disk",
    takes: "NS/POD IOPS",
    what: "limit the reads and writes of a pod per second",
    words: [2, 2],
    undoneBy: "fast-disk",
    run: (lab, [pod = "", iops]) => slowDisk(lab, pod, Number(iops)),
  },
];

export async function restartApi(lab: LabConfig): Promise<void> {
  await stopApi(lab);
  await startApi(lab);
}

function linkOf(words: readonly string[], way: "both" | "one-way"): Link {
  const [first = "", second] = words;
  if (second !== undefined) return { between: [first, second], oneWay: way === "one-way" };
  if (way === "one-way") throw new UsageError("--one-way works only between two pods.");
  return { node: first };
}

export function helpText(): string {
  const synopses = commands.map(({ name, takes }) => `${name} ${takes}`.trim());
  const width = Math.max(...synopses.map((synopsis) => synopsis.length));
  const lines = commands.map(({ what, undoneBy }, index) => {
    const undo = undoneBy === undefined ? "" : dim(` – undone by ${undoneBy}`);
    return `  ${(synopses[index] ?? "").padEnd(width)}  ${what}${undo}`;
  });
  const rest = [
    ["list", "list the active faults"],
    ["heal", "undo every active fault"],
  ].map(([name = "", what = ""]) => `  ${name.padEnd(width)}  ${what}`);
  return [
    bold("fault COMMAND …"),
    ...lines,
    ...rest,
    "The undo command takes the same pods, node or volume; without arguments it undoes all faults of its kind.",
  ].join("\n");
}

export async function main(lab: LabConfig, args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { help: { type: "boolean", short: "h" }, "one-way": { type: "boolean" } },
  });
  const [name, ...words] = positionals;
  if (values.help || name === undefined) return void process.stdout.write(`${helpText()}\n`);
  const line = positionals.join(" ");
  if (name === "list") return list(lab);
  if (name === "heal") {
    const healed = await step("undo every active fault", () => heal(lab));
    return say(healed.length === 0 ? "No fault was active." : `Undone: ${healed.map(({ id }) => id).join("; ")}.`);
  }
  const command = commands.find((command) => command.name === name);
  const undone = commands.find((command) => command.undoneBy === name);
  if (undone !== undefined) return step(line, () => end(lab, undone.name, ...words));
  if (command === undefined) throw new UsageError(`There is no fault "${name}"; \`fault --help\` lists all.`);
  const [least, most] = command.words;
  if (words.length < least || words.length > most)
    throw new UsageError(`Usage: fault ${command.name} ${command.takes}`);
  await step(line, () => command.run(lab, words, values["one-way"] ? "one-way" : "both"));
}

function list(lab: LabConfig): void {
  const faults = faultsInForce(lab);
  if (faults.length === 0) say("No fault is active.");
  for (const { id, since } of faults)
    process.stdout.write(`${id}  ${dim(`for ${seconds(Date.now() - Date.parse(since))}`)}\n`);
}
