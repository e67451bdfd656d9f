// Harm to the network: a node's cable pulled, pods that cannot reach each other, packets lost. Pods are named once,
// when the fault begins: a pod that is made anew has another address, and the fault no longer meets it.
import { run } from "../command.ts";
import { type LabConfig, type LabNode, UsageError, labNode, labNodes } from "../config.ts";
import { findPod, parsePodName, podText, type RunningPod } from "../pods.ts";
import { type Harm, type Rule, faultsInForce, inflict } from "./record.ts";
import { addRules, onTheWay, removeRules, throughCable } from "./rules.ts";

type Cut = Extract<Harm, { kind: "cut-node" }>;
type Drop = Extract<Harm, { kind: "drop" }>;

/** A link that suffers: two pods, in one direction or both, or one node's cable. */
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
  const harm: Cut = { kind: "cut-node", node: node.index };
  await inflict(
    lab,
    `cut-node ${name}`,
    harm,
    () => pullCable(node),
    (harm) => joinCable(lab, harm),
  );
}

/** At the host's end, so that routes inside the node stay as they are. */
export async function pullCable(node: LabNode): Promise<void> {
  await run("ip", ["link", "set", node.netns, "down"]);
}

/** A cable that two faults pulled is plugged in only by the end of the second. */
export async function plugCable(lab: LabConfig, node: LabNode, ended: "cut-node" | "power-off"): Promise<void> {
  const pulledStill = faultsInForce(lab).some(
    ({ harm }) =>
      (harm.kind === "cut-node" || harm.kind === "power-off") && harm.kind !== ended && harm.node === node.index,
  );
  if (!pulledStill) await run("ip", ["link", "set", node.netns, "up"]);
}

export const joinCable = (lab: LabConfig, harm: Cut): Promise<void> =>
  plugCable(lab, labNode(lab, harm.node), "cut-node");

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
  const harm: Drop = { kind: "drop", rules };
  await inflict(lab, [command, ...words].join(" "), harm, () => addRules(rules), restore);
}

export const restore = (harm: Drop): Promise<void> => removeRules(harm.rules);

/** Where a link can be interfered with, and how the fault names it. */
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
