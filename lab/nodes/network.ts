// The lab's network: a bridge on the host, a network namespace with a veth to it for each node, and routes between host,
// nodes and pods. Nothing routes out of the lab.
import * as fs from "node:fs";
import { run, tryRun } from "../machine/command.ts";
import { bridgeName, hostAddress, type LabConfig, type LabNode, labNodes, serviceRange } from "../config.ts";

/** Link-level commands for `ip -batch`: all nodes in one process. */
function hostCommands(lab: LabConfig, nodes: readonly LabNode[]): string[] {
  const bridge = bridgeName(lab);
  const first = nodes[0];
  return [
    `link add ${bridge} type bridge`,
    `addr add ${hostAddress(lab)}/24 dev ${bridge}`,
    `link set ${bridge} up`,
    ...nodes.flatMap((node) => [
      `link add ${node.netns} type veth peer name eth0 netns ${node.netns}`,
      `link set ${node.netns} master ${bridge} up`,
      `route add ${node.podCidr} via ${node.address}`,
    ]),
    // The host has no kube-proxy: that of the first node translates service addresses for it.
    ...(first === undefined ? [] : [`route add ${serviceRange(lab)} via ${first.address}`]),
  ];
}

function nodeCommands(lab: LabConfig, node: LabNode, nodes: readonly LabNode[]): string[] {
  return [
    "link set lo up",
    `addr add ${node.address}/24 dev eth0`,
    "link set eth0 up",
    // A packet to a service needs a route to get as far as kube-proxy's rules.
    `route add ${serviceRange(lab)} dev eth0`,
    ...nodes.filter((other) => other !== node).map((other) => `route add ${other.podCidr} via ${other.address}`),
  ];
}

const batch = (args: readonly string[], commands: readonly string[]): Promise<string> =>
  run("ip", [...args, "-batch", "-"], { input: `${commands.join("\n")}\n` });

export async function makeNetwork(lab: LabConfig): Promise<void> {
  const nodes = labNodes(lab);
  for (const node of nodes) await run("ip", ["netns", "add", node.netns]);
  await batch([], hostCommands(lab, nodes));
  await Promise.all(
    nodes.map(async (node) => {
      await batch(["-n", node.netns], nodeCommands(lab, node, nodes));
      const settings = ["net.ipv4.ip_forward=1"];
      const bridged = "net.bridge.bridge-nf-call-iptables";
      if (fs.existsSync(`/proc/sys/${bridged.replaceAll(".", "/")}`)) settings.push(`${bridged}=1`);
      await run("nsenter", [`--net=/run/netns/${node.netns}`, "sysctl", "-qw", ...settings]);
    }),
  );
  if (await forwardingIsRefused()) await run("iptables", ["-w", "-I", ...bridgeRule(lab)]);
}

// Where bridged packets pass the host's filter and its policy is DROP, as Docker sets it, nodes would not reach each
// other.
const bridgeRule = (lab: LabConfig): string[] => {
  const bridge = bridgeName(lab);
  return ["FORWARD", "-i", bridge, "-o", bridge, "-j", "ACCEPT"];
};

async function forwardingIsRefused(): Promise<boolean> {
  return ((await tryRun("iptables", ["-w", "-S", "FORWARD"])) ?? "").includes("-P FORWARD DROP");
}

const isOwn = (lab: LabConfig, name: string): boolean =>
  name === bridgeName(lab) || new RegExp(`^${lab.name}-n\\d$`).test(name);

export const labNamespaces = (lab: LabConfig): string[] =>
  fs.existsSync("/run/netns") ? fs.readdirSync("/run/netns").filter((name) => isOwn(lab, name)) : [];

export const labInterfaces = (lab: LabConfig): string[] =>
  fs.readdirSync("/sys/class/net").filter((name) => isOwn(lab, name));

export async function labFilterRules(lab: LabConfig): Promise<string[]> {
  const rules = (await tryRun("iptables-save", [])) ?? "";
  return rules.split("\n").filter((rule) => rule.split(" ").some((word) => isOwn(lab, word)));
}

/** Removes what exists of it, also after a partial start. Routes go with their interface. */
export async function removeNetwork(lab: LabConfig): Promise<void> {
  for (const rule of await labFilterRules(lab)) await run("iptables", ["-w", "-D", ...rule.split(" ").slice(1)]);
  for (const name of labNamespaces(lab)) await run("ip", ["netns", "del", name]);
  for (const name of labInterfaces(lab)) await tryRun("ip", ["link", "del", name]);
}
