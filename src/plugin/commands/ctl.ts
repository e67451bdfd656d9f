// `ctl`: etcdctl against a cluster, with endpoints and certificates in place.
import type { Call, Command } from "../command.ts";
import { clientPodPermissions, loginFlag } from "../etcdctl/login.ts";
import { type Etcdctl, withEtcdctl } from "../etcdctl/etcdctl.ts";
import { type Input, readsInput } from "../etcdctl/words.ts";
import { UsageError } from "../line/usage-error.ts";
import { podNamed, servingPod } from "../members-to-talk-to.ts";
import { readTarget } from "../one-cluster.ts";
import { execInPods, readClusters, readPods } from "../permissions.ts";

export const ctlCommand: Command = {
  name: "ctl",
  what: "Run etcdctl against a cluster, with the right endpoints and certificates.",
  details:
    "All that follows NAME goes to etcdctl as it is, so flags of this command come before NAME. etcdctl runs inside of a\nmember, by your own kubectl; where members speak TLS, or with --login, in a pod beside it that is made for this command\nand deleted after it: it mounts a client's certificate and has the login as a variable, so neither is part of an argument.\nIt has the label app=etcdctl: let it in where a NetworkPolicy guards the members.\nWithout --login, etcdctl's own --user asks for the password where etcd's authentication is on. put, txn and user read\nstandard input, as in `ctl NAME put KEY < FILE`. On a terminal, characters of values that it obeys are shown as �; a file or a\nprogram gets every byte as it is.",
  arguments: [
    { name: "NAME", is: "needed", of: "cluster" },
    { name: "ARG", is: "rest" },
  ],
  flags: [
    { name: "member", value: "MEMBER", what: "Talk to this member alone. Absent: to all, from the leader." },
    loginFlag,
  ],
  examples: [
    { what: "Write and read", line: "ctl my-etcd put greeting hello" },
    { what: "Everything below a prefix", line: "ctl my-etcd get --prefix /registry --keys-only" },
    { what: "Every member's status", line: "ctl my-etcd endpoint status -w table" },
    { what: "One member's own view", line: "ctl --member my-etcd-2b7kq9xw4c my-etcd get greeting --consistency=s" },
  ],
  permissions: [readClusters, readPods, execInPods, ...clientPodPermissions],
  async run(call) {
    const words = call.arguments.slice(1);
    if (words.length === 0) throw new UsageError("Say what etcdctl shall do, as in `kubectl etcd ctl NAME get KEY`.");
    const target = await readTarget(call);
    const named = call.flags.text("member");
    const pod = named === undefined ? servingPod(target) : podNamed(target, named);
    // A snapshot comes from one member.
    const isOfOne = named !== undefined || words[0] === "snapshot";
    const endpoints = isOfOne ? [] : (target.observed.cluster.status?.clientEndpoints ?? []);
    const input = inputOf(call.screen, words);
    const run = (etcdctl: Etcdctl): Promise<number> => etcdctl.run(pod, words, { endpoints, input });
    const code = await withEtcdctl(call, target, pod, run);
    return code === 0 ? 0 : 1;
  },
};

function inputOf({ canAsk }: Call["screen"], words: readonly string[]): Input {
  if (canAsk) return "terminal";
  return readsInput(words) ? "stream" : "none";
}
