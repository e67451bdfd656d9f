// What is done about a cluster whose own authentication keeps the operator out: nothing to its members, and all that does
// not need etcd.
import type { EtcdView, ImageCheck, MemberPod, ClusterWorld } from "../observe/world.ts";
import { check, crashing, ended, going, three, voter } from "../testing/plan-table.ts";
import { type SampleMember, sampleName, sampleNow, type SampleWorld } from "../testing/sample-world.ts";

const out = (refusing: readonly string[], serving: readonly string[] = refusing): Partial<ClusterWorld> => {
  const etcd: EtcdView = {
    t: "accessDenied",
    trouble: { t: "noLogin" },
    refusing: refusing.map(sampleName),
    serving: serving.map(sampleName),
  };
  return { etcd };
};
const all = ["a", "b", "c"];
const withThird = (pod: Partial<MemberPod>): readonly SampleMember[] => [voter("a"), voter("b"), voter("c", { pod })];
const kept = (sample: SampleWorld, change = out(all)): SampleWorld => ({
  ...sample,
  change: { ...change, ...sample.change },
});
const changed: Partial<MemberPod> = {
  changedFrom: { version: "3.6.10", image: "quay.io/coreos/etcd:v3.6.10", restarts: 0 },
};
const triesImage: ImageCheck = {
  name: "check-a",
  uid: "u",
  createdAt: sampleNow - 1000,
  terminating: false,
  node: "node-of-demo-a",
  image: "quay.io/coreos/etcd:v3.6.17",
  state: { t: "running" },
};
const broken = { ...changed, version: "3.6.99", image: "quay.io/coreos/etcd:v3.6.99", ready: false };

check("a cluster that does not let the operator in", [
  ["is looked at again soon", kept({ members: three }), [], 10_000],
  ["keeps a member whose pod is gone", kept({ members: three.slice(0, 2) }, out(["a", "b"])), []],
  ["keeps a member whose pod has ended", kept({ members: withThird(ended) }, out(["a", "b"])), []],
  ["keeps a member whose pod is going", kept({ members: withThird(going) }), []],
  ["keeps a member that crashes", kept({ members: withThird(crashing(3_600_000)) }, out(["a", "b"])), []],
  ["does not grow", kept({ size: 5, members: three }), []],
  ["does not shrink", kept({ size: 1, members: three }), []],
  ["is not updated", kept({ version: "3.6.17", members: three, spec: { version: "3.6.17" } }), []],
  ["keeps a pod that may be nobody's", kept({ members: three, orphans: [{ name: "demo-x" }] }), []],
  [
    "keeps its one seed, also before its id is known",
    kept({ size: 1, unrecorded: true, members: [voter("a")] }, out(["a"])),
    [],
  ],
  ["has its Services put back", kept({ members: three, change: { clientService: undefined } }), ["client service"]],
  ["has its labels put back", kept({ members: withThird({ labelled: false }) }), ["label c"]],
  ["has members that answer guarded", kept({ members: withThird({ guard: "open" }) }), ["guard c"]],
  ["has no members guarded that do not answer", kept({ members: withThird({ guard: "open" }) }, out(["a", "b"])), []],
  [
    "has a member put back that does not come up in another version",
    kept({ members: withThird(broken) }, out(["a", "b"])),
    ["change c from 3.6.10 to 3.6.16"],
  ],
  ["has one that answers in it left as it is", kept({ members: withThird(broken) }), []],
  ["has no quorum as far as anybody knows", kept({ members: three }, out(all, [])), []],
  [
    "keeps the pods that try an image: which members wait for them is not known",
    kept({ members: three }, { ...out(all), imageChecks: [triesImage] }),
    [],
  ],
]);
