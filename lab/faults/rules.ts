// Adds and removes packet filter rules in the nodes' networks.
import { CommandError, run } from "../machine/command.ts";
import { type LabNode, UsageError } from "../config.ts";
import { podText, type RunningPod } from "../nodes/pods.ts";
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

/** A rule that is not there is fine: its node may have been recreated. */
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
 * Filters packets from one pod to another where the second one's node forwards them: after the translation of service
 * addresses, and also between two pods of one node.
 */
export function onTheWay(from: RunningPod, to: RunningPod): Omit<Rule, "target"> {
  for (const pod of [from, to])
    if (pod.address === pod.node.address)
      throw new UsageError(`The pod ${podText(pod)} is on its node's own network; cut or slow its node instead.`);
  return { netns: to.node.netns, chain: "FORWARD", match: ["-s", from.address, "-d", to.address] };
}

/** Packets into and out of a node, but not those that stay on it. */
export const throughCable = (node: LabNode): Omit<Rule, "target">[] => [
  { netns: node.netns, chain: "PREROUTING", match: ["-i", "eth0"] },
  { netns: node.netns, chain: "POSTROUTING", match: ["-o", "eth0"] },
];
