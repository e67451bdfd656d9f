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
    "Everything after NAME goes to etcdctl unchanged, so put the flags of this command before NAME. etcdctl runs inside a\nmember, through your own kubectl. If members speak TLS, or with --login, it runs in a pod beside the member, which the\ncommand creates and deletes afterwards: the pod mounts a client certificate and gets the login as a variable, so neither\nappears in an argument. The pod has the label app=etcdctl: allow it where a NetworkPolicy guards the members.\nWithout --login, etcdctl's own --user asks for the password if etcd's authentication is on. put, txn and user read\nstandard input, as in `ctl NAME put KEY < FILE`. On a terminal, control characters in values are shown as �; a file or a\nprogram gets every byte unchanged.",
  arguments: [
    { name: "NAME", is: "needed", of: "cluster" },
    { name: "ARG", is: "rest" },
  ],
  flags: [
    { name: "member", value: "MEMBER", what: "Talk to this member only. Default: to all members, from the leader." },
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
    if (words.length === 0) throw new UsageError("Name the etcdctl command, as in `kubectl etcd ctl NAME get KEY`.");
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
