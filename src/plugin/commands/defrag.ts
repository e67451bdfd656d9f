// `defrag`: gives unused room of the database files back, one member at a time, the leader last.
import type { Call, Command, ExitCode } from "../command.ts";
import { confirm, yesFlag } from "../confirm.ts";
import { type Etcdctl, withEtcdctl } from "../etcdctl/etcdctl.ts";
import { clientPodPermissions, loginFlag } from "../etcdctl/login.ts";
import { podNamed } from "../members-to-talk-to.ts";
import { type Target, readTarget } from "../one-cluster.ts";
import { Refusal } from "../place/refusal.ts";
import { execInPods, readClusters, readPods } from "../permissions.ts";
import { structured } from "../screen/structured.ts";
import { bytesInWords } from "../../kube/objects/size.ts";
import type { ClusterView } from "../view/cluster-view.ts";
import type { MemberView } from "../view/members.ts";

export const defragCommand: Command = {
  name: "defrag",
  what: "Defragment the databases, one member at a time, the leader last.",
  details:
    "A member serves no requests while it is defragmented. The command therefore runs only while all members are healthy and\nthe others form a quorum, and waits until each member is healthy again. Compact first, or there is little to gain.",
  arguments: [
    { name: "NAME", is: "needed", of: "cluster" },
    { name: "MEMBER", is: "optional", of: "member" },
  ],
  flags: [
    { name: "timeout", value: "SECONDS", what: "The time limit for each member. Default: 120." },
    { name: "accept-downtime", what: "Also defragment a cluster of one or two members: it serves nothing meanwhile." },
    loginFlag,
    yesFlag,
  ],
  examples: [
    { what: "All members", line: "defrag my-etcd" },
    { what: "One member", line: "defrag my-etcd my-etcd-2b7kq9xw4c" },
  ],
  permissions: [readClusters, readPods, execInPods, ...clientPodPermissions],
  async run(call) {
    const target = await readTarget(call);
    const [, named] = call.arguments;
    const order = named === undefined ? defragOrder(target.view.members) : [oneOf(target, named)];
    refuseUnlessSafe(target.view, call.flags.has("accept-downtime"));
    await confirm(call, `This defragments one after another: ${order.join(", ")}.`);
    const [first = ""] = order;
    return withEtcdctl(call, target, podNamed(target, first), (etcdctl) => defragAll(call, etcdctl, order));
  },
};

/** Followers first: while one of them is away, the leader goes on. */
function defragOrder(members: readonly MemberView[]): string[] {
  const voting = members.filter(({ role }) => role !== "joining");
  return voting.toSorted((a, b) => Number(a.role === "leader") - Number(b.role === "leader")).map(({ name }) => name);
}

function oneOf(target: Target, name: string): string {
  podNamed(target, name);
  return name;
}

/** 3 voters: while one is away the other 2 are a quorum. 2 voters: the one that is left is none. */
function refuseUnlessSafe({ name, members, quorum, ready }: ClusterView, acceptDowntime: boolean): void {
  const sick = members.filter(({ health }) => health !== "healthy");
  if (sick.length > 0)
    throw new Refusal(
      `${name} has unhealthy members (${sick.map((one) => one.name).join(", ")}), and a member that is defragmented serves nothing either. \`kubectl etcd doctor ${name}\` says what to do.`,
    );
  const joining = members.find(({ role }) => role === "learner" || role === "joining");
  if (joining !== undefined)
    throw new Refusal(`${joining.name} is joining, and a defragmentation would delay it. Wait until it votes.`);
  if (ready.reason === "Updating")
    throw new Refusal(`Members of ${name} are changing: wait until that is done, with \`kubectl etcd watch ${name}\`.`);
  if (quorum.margin < 1 && !acceptDowntime)
    throw new Refusal(
      `With ${quorum.voters === 1 ? "one member" : `${quorum.voters} members`} ${name} serves nothing while one is defragmented: add --accept-downtime, or scale up first.`,
    );
}

async function defragAll(call: Call, etcdctl: Etcdctl, order: readonly string[]): Promise<ExitCode> {
  const done: { member: string; before?: number; after?: number }[] = [];
  for (const name of order) {
    const target = await readTarget(call);
    refuseUnlessSafe(target.view, call.flags.has("accept-downtime"));
    const before = sizeOf(target.view, name);
    const timeout = `--command-timeout=${(call.flags.text("timeout") ?? "120").replace(/s$/, "")}s`;
    await etcdctl.read(podNamed(target, name), [timeout, "defrag"]);
    const after = sizeOf((await readTarget(call)).view, name);
    done.push({ member: name, ...(before !== undefined && { before }), ...(after !== undefined && { after }) });
    if (call.output === "text") call.screen.print(`${name}: ${changeInWords(before, after)}`);
  }
  if (call.output !== "text") call.screen.print(structured(call.output, { members: done }));
  return 0;
}

const sizeOf = ({ members }: ClusterView, name: string): number | undefined =>
  members.find((member) => member.name === name)?.dbSize;

function changeInWords(before: number | undefined, after: number | undefined): string {
  if (before === undefined || after === undefined) return "defragmented";
  return `defragmented, ${bytesInWords(before)} → ${bytesInWords(after)}`;
}
