// `move-leader`: has another member lead.
import type { Pod } from "../../kube/objects/kinds.ts";
import type { Command } from "../command.ts";
import { type Etcdctl, withEtcdctl } from "../etcdctl/etcdctl.ts";
import { clientPodPermissions, loginFlag } from "../etcdctl/login.ts";
import { listedMembers } from "../etcdctl/words.ts";
import { podNamed } from "../members-to-talk-to.ts";
import { type Target, readTarget } from "../one-cluster.ts";
import { Refusal } from "../place/refusal.ts";
import { execInPods, readClusters, readPods } from "../permissions.ts";
import { answer } from "../screen/structured.ts";

export const moveLeaderCommand: Command = {
  name: "move-leader",
  what: "Make another member the leader.",
  details: "Needs etcd 3.3 or newer. Clients see at most a short pause.",
  arguments: [
    { name: "NAME", is: "needed", of: "cluster" },
    { name: "MEMBER", is: "optional", of: "member" },
  ],
  flags: [loginFlag],
  examples: [
    { what: "To the voter that lags least", line: "move-leader my-etcd" },
    { what: "To a specific member", line: "move-leader my-etcd my-etcd-2b7kq9xw4c" },
  ],
  permissions: [readClusters, readPods, execInPods, ...clientPodPermissions],
  async run(call) {
    const target = await readTarget(call);
    const from = leaderOf(target);
    const to = targetOf(target, call.arguments[1], from);
    const pod = podNamed(target, from);
    await withEtcdctl(call, target, pod, (etcdctl) => moveLeader(etcdctl, pod, to));
    return answer(call, `${to} now leads ${target.key.name}; ${from} led before.`, { from, to });
  },
};

async function moveLeader(etcdctl: Etcdctl, leader: Pod, to: string): Promise<void> {
  const listed = listedMembers(await etcdctl.read(leader, ["member", "list"]));
  const id = listed.find(({ name }) => name === to)?.id;
  if (id === undefined) throw new Refusal(`etcd does not list ${to} as a member.`);
  await etcdctl.read(leader, ["move-leader", id]);
}

function leaderOf({ view }: Target): string {
  const leader = view.members.find(({ role, healthy }) => role === "leader" && healthy);
  if (leader === undefined)
    throw new Refusal(`${view.name} has no leader: \`kubectl etcd doctor ${view.name}\` says why.`);
  return leader.name;
}

function targetOf(target: Target, named: string | undefined, leader: string): string {
  const { members, name } = target.view;
  if (named !== undefined) {
    podNamed(target, named);
    const member = members.find((one) => one.name === named);
    if (named === leader) throw new Refusal(`${named} leads already.`);
    if (member?.role !== "voter") throw new Refusal(`${named} is not a voter, so it cannot lead.`);
    if (!member.healthy) throw new Refusal(`${named} is not healthy (${member.health}), so it cannot lead.`);
    return named;
  }
  const [best] = members
    .filter(({ role, healthy }) => role === "voter" && healthy)
    .toSorted((a, b) => (a.lag ?? 0) - (b.lag ?? 0));
  if (best === undefined) throw new Refusal(`${name} has no other healthy voter that could lead.`);
  return best.name;
}
