// Delays packets. Not by netem, which some kernels lack: NFQUEUE rules hand packets to a program on each node, which holds
// them for the time and lets them pass.
import { readFile } from "node:fs/promises";
import * as path from "node:path";
import { ensureBuilt } from "../build/cache.ts";
import { goBuildSource, goMod } from "../build/go.ts";
import { tryRun } from "../machine/command.ts";
import { type LabConfig, type LabNode, UsageError } from "../config.ts";
import { isAlive, readDaemon, startDaemon, stopDaemon } from "../machine/daemon.ts";
import { waitFor } from "../progress.ts";
import { type Link, placesOf } from "./network.ts";
import { type Effect, type Holder, type Rule, faultsInForce, inject } from "./record.ts";
import { addRules, removeRules } from "./rules.ts";

type Delay = Extract<Effect, { kind: "delay" }>;

/** Delays each direction of the link, so a round trip takes twice as long, unless it is one-way. */
export async function delay(lab: LabConfig, link: Link, milliseconds: number): Promise<void> {
  if (!(milliseconds > 0 && milliseconds <= 60_000))
    throw new UsageError("A delay is a number of milliseconds above 0, at most 60000.");
  const { words, places } = await placesOf(lab, link);
  const holders = new Map<string, Holder>();
  const rules = places.map((place): Rule => {
    const holder = holders.get(place.netns) ?? newHolder(lab, place.netns, milliseconds);
    holders.set(place.netns, holder);
    // Bypass: if the holder dies, packets pass at once instead of being dropped.
    return { ...place, target: ["NFQUEUE", "--queue-num", `${holder.queue}`, "--queue-bypass"] };
  });
  const program = await holderProgram();
  const effect: Delay = { kind: "delay", rules, holders: [...holders.values()] };
  await inject(
    lab,
    ["delay", ...words].join(" "),
    effect,
    async () => {
      await Promise.all(effect.holders.map((holder) => startHolder(lab, holder, program)));
      await addRules(rules);
    },
    (effect) => endDelay(lab, effect),
  );
}

function newHolder(lab: LabConfig, netns: string, milliseconds: number): Holder {
  const taken = faultsInForce(lab)
    .flatMap(({ effect }) => (effect.kind === "delay" ? effect.holders : []))
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
    { timeoutMs: 60_000, everyMs: 20, lastSeen: () => seen },
  );
}

/** Removes the rules first, so that no packet waits for a holder that is gone. */
export async function endDelay(lab: LabConfig, effect: Delay): Promise<void> {
  await removeRules(effect.rules);
  for (const holder of effect.holders) {
    const daemon = readDaemon(lab, holder.component);
    if (daemon !== undefined && isAlive(daemon)) await stopDaemon(daemon);
  }
}

/** A power cut kills the holders of the node; a delay that is still active needs them again. */
export async function reviveHolders(lab: LabConfig, node: LabNode): Promise<void> {
  const ended = faultsInForce(lab)
    .flatMap(({ effect }) => (effect.kind === "delay" ? effect.holders : []))
    .filter((holder) => holder.netns === node.netns);
  for (const holder of ended) await startHolder(lab, holder, await holderProgram());
}

/** Builds the program, so that the first delay does not wait for that. */
export async function prepareDelay(): Promise<void> {
  await holderProgram();
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
