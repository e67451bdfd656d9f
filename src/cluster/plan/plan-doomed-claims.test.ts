// Claims that are deleted under their members: they serve on until a successor has joined.
import { check, gone, learner, minute, running, voter } from "../testing/plan-table.ts";
import { type SampleMember } from "../testing/sample-world.ts";
import { spec, madeFrom, noted, kept, doomed, exited } from "../testing/volume-table.ts";

const seed = (pod: SampleMember["pod"]): Partial<SampleMember> => ({
  pod: { madeFrom, guard: "open", ready: false, ...pod },
  claim: { fresh: true, terminating: true },
});
const inVersion = (version: string): Partial<SampleMember> => ({
  version,
  pod: { version, image: `quay.io/coreos/etcd:v${version}`, maxLearners: undefined },
});

check("a member that serves on a volume which goes with its pod", [
  ["gets a successor first", { spec, members: [kept("a"), kept("b"), doomed("c")] }, ["add learner new1", "pod new1"]],
  [
    "gets one, too, when its claim is gone under it",
    { spec, members: [kept("a"), kept("b"), voter("c", { pod: { hasVolume: true, madeFrom } })] },
    ["add learner new1", "pod new1"],
  ],
  [
    "gets one, too, when its volume is lost",
    { spec, members: [kept("a"), kept("b"), kept("c", { claim: { phase: "Lost" } })] },
    ["add learner new1", "pod new1"],
  ],
  [
    "gets one of a new name: those of claims that are being deleted are taken",
    { spec, members: ["a", "b", "c"].map((l) => doomed(l)) },
    ["add learner new1", "pod new1"],
  ],
  [
    "gets one where pods are changed by hand only: this is no change, it is healed",
    { spec: { ...spec, updateStrategy: "OnDelete" }, members: [kept("a"), kept("b"), doomed("c")] },
    ["add learner new1", "pod new1"],
  ],
  [
    "stays as it is while the cluster is paused",
    { spec: { ...spec, paused: true }, members: [doomed("a")], size: 1 },
    [],
  ],
  ["gets one when it is alone", { spec, members: [doomed("a")], size: 1 }, ["add learner new1", "pod new1"]],
  [
    "gets one where etcd admits no more than one learner",
    { spec, version: "3.4.23", members: ["a", "b", "c"].map((l) => doomed(l, inVersion("3.4.23"))) },
    ["add learner new1", "pod new1"],
  ],
  [
    "gets one where etcd knows no learners",
    { spec, version: "3.2.32", members: ["a", "b", "c"].map((l) => doomed(l, inVersion("3.2.32"))) },
    ["add voter new1", "pod new1"],
  ],
  [
    "stays until its successor votes",
    { spec, members: [kept("a"), kept("b"), doomed("c"), learner("d", { claim: noted, pod: { madeFrom } })] },
    ["promote d"],
  ],
  [
    "goes when its successor votes",
    { spec, members: [kept("a"), kept("b"), doomed("c"), kept("d")] },
    ["remove c", "delete c"],
  ],
  ["hands over before it goes", { spec, members: [doomed("a"), kept("b"), kept("c"), kept("d")] }, ["lead b"]],
  ["hands over to one that stays", { spec, members: [doomed("a"), kept("d")], size: 1 }, ["lead d"]],
  [
    "goes one at a time, the leader last",
    { spec, members: [doomed("a"), doomed("b"), doomed("c"), kept("d")] },
    ["remove b", "delete b"],
  ],
  [
    "gets one after the other, so that there are never fewer copies",
    { spec, members: [doomed("a"), doomed("c"), kept("d")] },
    ["add learner new1", "pod new1"],
  ],
  [
    "is in no hurry while another is away",
    { spec, members: [doomed("a"), kept("b", { silent: true }), kept("c"), kept("d")] },
    [],
  ],
  ["waits until one that is lost is out", { spec, members: [kept("a"), doomed("b"), gone("c")] }, ["remove c"]],
  [
    "is waited for while its process runs and does not answer",
    { spec, members: [kept("a"), kept("b"), doomed("c", { silent: true })] },
    [],
  ],
  [
    "is waited for while its process may yet be started again",
    { spec, members: [kept("a"), kept("b"), doomed("c", { silent: true, pod: exited(1000) })] },
    [],
    2 * minute,
  ],
  [
    "is not restarted in place by an update, which waits for its successor",
    {
      spec: { ...spec, etcd: { snapshotCount: 500 } },
      members: [kept("a"), doomed("b"), kept("c"), learner("d", { silent: true, claim: noted, pod: { madeFrom } })],
    },
    [],
  ],
  [
    "goes first when there are too many",
    { spec, members: [kept("a"), kept("b"), kept("c"), doomed("d"), kept("e")] },
    ["remove d", "delete d"],
  ],
  [
    "is replaced while the spec is wrong",
    { spec, members: [kept("a"), kept("b"), doomed("c")], change: { problems: ["spec.version is wrong."] } },
    ["add learner new1", "pod new1"],
  ],
]);

check("a seed whose claim is being deleted", [
  [
    "is left alone while it runs: it may have served, and its data is there as long as it is",
    { spec, size: 1, unrecorded: true, etcd: "silent", members: [voter("a", seed({ state: running }))] },
    [],
  ],
  [
    "is made again while it does not run: no kubelet starts it on that claim",
    { spec, size: 1, unrecorded: true, etcd: "silent", members: [voter("a", seed({ state: { t: "starting" } }))] },
    ["delete a"],
  ],
]);
