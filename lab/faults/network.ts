// Faults of the network: disconnects a node, cuts pods off from each other, drops packets. A fault uses the addresses that
// the pods have when it begins: a recreated pod has another address and is not affected.
import { run } from "../machine/command.ts";
import { type LabConfig, type LabNode, UsageError, labNode, labNodes } from "../config.ts";
import { findPod, parsePodName, podText, type RunningPod } from "../nodes/pods.ts";
import { type Effect, type Rule, faultsInForce, inject } from "./record.ts";
import { addRules, onTheWay, removeRules, throughCable } from "./rules.ts";

type Cut = Extract<Effect, { kind: "cut-node" }>;
type Drop = Extract<Effect, { kind: "drop" }>;

/** The affected link: between two pods, in one direction or both, or of one node. */
export type Link =
  | { readonly between: readonly [from: string, to: string]; readonly oneWay: boolean }
  | { readonly node: string };

export function nodeNamed(lab: LabConfig, name: string): LabNode {
  const node = labNodes(lab).find((node) => node.name === name);
  if (node !== undefined) return node;
  const names = labNodes(lab).map((node) => node.name);
  throw new UsageError(`The lab "${lab.name}" has no node "${name}"; it has ${names.join(", ")}.`);
}

export async function cutNode(lab: LabConfig, name: string): Promise<void> {
  const node = nodeNamed(lab, name);
  const effect: Cut = { kind: "cut-node", node: node.index };
  await inject(
    lab,
    `cut-node ${name}`,
    effect,
    () => pullCable(node),
    (effect) => joinCable(lab, effect),
  );
}

/** At the host's end, so that the routes inside the node stay. */
export async function pullCable(node: LabNode): Promise<void> {
  await run("ip", ["link", "set", node.netns, "down"]);
}

/** A cable that two faults pulled is plugged in again when both have ended. */
export async function plugCable(lab: LabConfig, node: LabNode, ended: "cut-node" | "power-off"): Promise<void> {
  const pulledStill = faultsInForce(lab).some(
    ({ effect }) =>
      (effect.kind === "cut-node" || effect.kind === "power-off") &&
      effect.kind !== ended &&
      effect.node === node.index,
  );
  if (!pulledStill) await run("ip", ["link", "set", node.netns, "up"]);
}

export const joinCable = (lab: LabConfig, effect: Cut): Promise<void> =>
  plugCable(lab, labNode(lab, effect.node), "cut-node");

export async function cutPods(
  lab: LabConfig,
  from: string,
  to: string,
  way: "both" | "one-way" = "both",
): Promise<void> {
  await drop(lab, "cut-pods", { between: [from, to], oneWay: way === "one-way" }, ["DROP"]);
}

export async function loss(lab: LabConfig, link: Link, percent: number): Promise<void> {
  if (!(percent > 0 && percent <= 100)) throw new UsageError("Loss is a percentage above 0, at most 100.");
  await drop(lab, "loss", link, ["DROP"], ["-m", "statistic", "--mode", "random", "--probability", `${percent / 100}`]);
}

async function drop(
  lab: LabConfig,
  command: string,
  link: Link,
  target: readonly string[],
  match: readonly string[] = [],
): Promise<void> {
  const { words, places } = await placesOf(lab, link);
  const rules = places.map((place): Rule => ({ ...place, match: [...place.match, ...match], target }));
  const effect: Drop = { kind: "drop", rules };
  await inject(lab, [command, ...words].join(" "), effect, () => addRules(rules), restore);
}

export const restore = (effect: Drop): Promise<void> => removeRules(effect.rules);

/** Where rules for the link go, and how the fault names it. */
export async function placesOf(
  lab: LabConfig,
  link: Link,
): Promise<{ words: readonly string[]; places: readonly Omit<Rule, "target">[] }> {
  if ("node" in link) return { words: [link.node], places: throughCable(nodeNamed(lab, link.node)) };
  const [from, to]: [RunningPod, RunningPod] = await Promise.all([
    findPod(lab, parsePodName(link.between[0])),
    findPod(lab, parsePodName(link.between[1])),
  ]);
  const words = [podText(from), podText(to)];
  if (link.oneWay) return { words: [...words, "--one-way"], places: [onTheWay(from, to)] };
  return { words, places: [onTheWay(from, to), onTheWay(to, from)] };
}
