// Packets that arrive late. Kernels without netem can still hand packets to a program: each node concerned runs one
// that holds them for the time and lets them pass. The same way serves every kernel, so netem is not used where it is.
import { readFile } from "node:fs/promises";
import * as path from "node:path";
import { ensureBuilt } from "../build/cache.ts";
import { goBuildSource, goMod } from "../build/go.ts";
import { tryRun } from "../command.ts";
import { type LabConfig, type LabNode, UsageError } from "../config.ts";
import { isAlive, readDaemon, startDaemon, stopDaemon } from "../daemon.ts";
import { waitFor } from "../progress.ts";
import { type Link, placesOf } from "./network.ts";
import { type Harm, type Holder, type Rule, faultsInForce, inflict } from "./record.ts";
import { addRules, removeRules } from "./rules.ts";

type Delay = Extract<Harm, { kind: "delay" }>;

/** In each direction of the link, so that a round trip takes twice as much longer unless it is one-way. */
export async function delay(lab: LabConfig, link: Link, milliseconds: number): Promise<void> {
  if (!(milliseconds > 0 && milliseconds <= 60_000))
    throw new UsageError("A delay is a number of milliseconds above 0, at most 60000.");
  const { words, places } = await placesOf(lab, link);
  const holders = new Map<string, Holder>();
  const rules = places.map((place): Rule => {
    const holder = holders.get(place.netns) ?? newHolder(lab, place.netns, milliseconds);
    holders.set(place.netns, holder);
    // Bypass: should the holder die, packets pass at once; without it they would be lost.
    return { ...place, target: ["NFQUEUE", "--queue-num", `${holder.queue}`, "--queue-bypass"] };
  });
  const program = await holderProgram();
  const harm: Delay = { kind: "delay", rules, holders: [...holders.values()] };
  await inflict(
    lab,
    ["delay", ...words].join(" "),
    harm,
    async () => {
      await Promise.all(harm.holders.map((holder) => startHolder(lab, holder, program)));
      await addRules(rules);
    },
    (harm) => endDelay(lab, harm),
  );
}

function newHolder(lab: LabConfig, netns: string, milliseconds: number): Holder {
  const taken = faultsInForce(lab)
    .flatMap(({ harm }) => (harm.kind === "delay" ? harm.holders : []))
    .filter((holder) => holder.netns === netns)
    .map((holder) => holder.queue);
  const queue = Math.max(0, ...taken) + 1;
  return { component: `delay-${netns}-${queue}`, netns, queue, milliseconds };
}

async function startHolder(lab: LabConfig, holder: Holder, program: string): Promise<void> {
  const inside = ["nsenter", `--net=/run/netns/${holder.netns}`];
  startDaemon(lab, holder.component, [...inside, program, `${holder.queue}`, `${holder.milliseconds}`]);
  let seen = "nothing";
  await waitFor(
    `queue ${holder.queue} of ${holder.netns} to be served`,
    async () => {
      seen =
        (await tryRun("nsenter", [...inside.slice(1), "cat", "/proc/net/netfilter/nfnetlink_queue"])) ?? "no queues";
      return seen.split("\n").some((line) => line.trim().split(/\s+/)[0] === `${holder.queue}`) || undefined;
    },
    { timeoutMs: 10_000, everyMs: 20, lastSeen: () => seen },
  );
}

/** Rules first, so that no packet is left with nobody to let it pass. */
export async function endDelay(lab: LabConfig, harm: Delay): Promise<void> {
  await removeRules(harm.rules);
  for (const holder of harm.holders) {
    const daemon = readDaemon(lab, holder.component);
    if (daemon !== undefined && isAlive(daemon)) await stopDaemon(daemon);
  }
}

/** A node's power cut ends its holders; the delay that is still in force needs them again. */
export async function reviveHolders(lab: LabConfig, node: LabNode): Promise<void> {
  const ended = faultsInForce(lab)
    .flatMap(({ harm }) => (harm.kind === "delay" ? harm.holders : []))
    .filter((holder) => holder.netns === node.netns);
  for (const holder of ended) await startHolder(lab, holder, await holderProgram());
}

async function holderProgram(): Promise<string> {
  const main = await readFile(path.join(import.meta.dirname, "delay", "main.go"), "utf8");
  const source = { goMod: goMod("delay", {}), main, output: "delay" };
  const folder = await ensureBuilt({
    name: "delay",
    version: "1",
    ingredients: [source.goMod, source.main],
    build: (folder, step) => goBuildSource(folder, source, step),
  });
  return path.join(folder, source.output);
}
