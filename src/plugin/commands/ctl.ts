// `ctl`: etcdctl against a cluster, with endpoints and certificates in place.
import type { Command } from "../command.ts";
import { etcdctlWords, execWords } from "../etcdctl.ts";
import { UsageError } from "../line/usage-error.ts";
import { loginFlag, loginRight, loginWords } from "../login.ts";
import { podNamed, servingPod } from "../members-to-talk-to.ts";
import { lookAt } from "../one-cluster.ts";
import { execInPods, readClusters, readPods } from "../rights.ts";

export const ctlCommand: Command = {
  name: "ctl",
  what: "Run etcdctl against a cluster, with the right endpoints and certificates.",
  details:
    "Runs etcdctl inside of a member, by your own kubectl. All that follows NAME goes to etcdctl as it is, so flags of this\ncommand come before NAME. Where etcd's own authentication is on, give etcdctl --user, which asks for the password, or\nuse --login: it takes the login of the operator from its Secret, and the password is then part of the command that is\nrun in the pod, which audit logs of Kubernetes may keep.",
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
  rights: [readClusters, readPods, execInPods, loginRight],
  async run(call) {
    const words = call.arguments.slice(1);
    if (words.length === 0) throw new UsageError("Say what etcdctl shall do, as in `kubectl etcd ctl NAME get KEY`.");
    const looked = await lookAt(call);
    const named = call.flags.text("member");
    const pod = named === undefined ? servingPod(looked) : podNamed(looked, named);
    // A snapshot comes from one member.
    const isOfOne = named !== undefined || words[0] === "snapshot";
    const endpoints = isOfOne ? [] : (looked.snapshot.cluster.status?.clientEndpoints ?? []);
    const login = await loginWords(call, looked);
    const terminal = call.screen.canAsk ? "terminal" : "none";
    const code = await call.kubectl.run(execWords(pod, etcdctlWords(pod, [...login, ...words], endpoints), terminal));
    return code === 0 ? 0 : 1;
  },
};
