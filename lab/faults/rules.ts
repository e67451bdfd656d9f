// Packet filter rules that a fault puts into the nodes' networks, and takes out again.
import { CommandError, run } from "../command.ts";
import { type LabNode, UsageError } from "../config.ts";
import { podText, type RunningPod } from "../pods.ts";
import type { Rule } from "./record.ts";

const iptables = (rule: Rule, action: "-I" | "-D"): Promise<string> =>
  run("nsenter", [
    `--net=/run/netns/${rule.netns}`,
    "iptables",
    "-w",
    "-t",
    "mangle",
    action,
    rule.chain,
    ...rule.match,
    "-j",
    ...rule.target,
  ]);

export async function addRules(rules: readonly Rule[]): Promise<void> {
  for (const rule of rules) {
    try {
      await iptables(rule, "-I");
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      throw new UsageError(`This kernel's packet filter refuses the rule: ${error.stderr.trim()}`);
    }
  }
}

/** A rule that is not there is as good as removed: its node may have been made anew. */
export async function removeRules(rules: readonly Rule[]): Promise<void> {
  for (const rule of rules) {
    try {
      await iptables(rule, "-D");
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
    }
  }
}

/**
 * Packets from one pod to another, filtered where they are forwarded on the second one's node: behind the translation
 * of service addresses, and crossed also by packets between two pods of one node.
 */
export function onTheWay(from: RunningPod, to: RunningPod): Omit<Rule, "target"> {
  for (const pod of [from, to])
    if (pod.address === pod.node.address)
      throw new UsageError(`The pod ${podText(pod)} is on its node's own network; cut or slow its node instead.`);
  return { netns: to.node.netns, chain: "FORWARD", match: ["-s", from.address, "-d", to.address] };
}

/** All that goes into a node and out of it, but not what stays on it. */
export const throughCable = (node: LabNode): Omit<Rule, "target">[] => [
  { netns: node.netns, chain: "PREROUTING", match: ["-i", "eth0"] },
  { netns: node.netns, chain: "POSTROUTING", match: ["-o", "eth0"] },
];
