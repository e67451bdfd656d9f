// One row a situation: the world in a few words, and what is done about it.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { planCluster } from "./plan.ts";
import type { MemberPod, PodState } from "./world.ts";
import { type SampleMember, type SampleWorld, sampleNow, sampleWorld } from "./testing/sample-world.ts";
import { told } from "./testing/told-actions.ts";

const minute = 60_000;
const running: PodState = { t: "running", restarts: 0 };
const ended: Partial<MemberPod> = { state: { t: "ended", problem: "Evicted" }, address: undefined };
const going: Partial<MemberPod> = { terminating: true };
const young: Partial<MemberPod> = { createdAt: sampleNow - 1000 };
const crashing = (ago: number): Partial<MemberPod> => ({
  state: { t: "crashing", since: sampleNow - ago, restarts: 5, problem: "exit code 1" },
});
const onSilentNode = (ago: number): Partial<MemberPod> => ({
  node: { t: "silent", name: "n", since: sampleNow - ago },
});
const urls = (...letters: string[]): string[] => letters.map((l) => `http://demo-${l}.demo.shop.svc:2380`);

const voter = (letter: string, more: Partial<SampleMember> = {}): SampleMember => ({ letter, ...more });
const learner = (letter: string, more: Partial<SampleMember> = {}): SampleMember => ({
  letter,
  learner: true,
  ...more,
});
/** Added, and its process has not been heard of. */
const added = (letter: string, more: Partial<SampleMember> = {}): SampleMember =>
  learner(letter, { unnamed: true, ...more });
const gone = (letter: string, more: Partial<SampleMember> = {}): SampleMember =>
  voter(letter, { silent: true, pod: undefined, ...more });
const three = [voter("a"), voter("b"), voter("c")];
const five = [...three, voter("d"), voter("e")];

/** What is seen, what is done, and how soon it is looked at again (an upper limit). */
type Row = readonly [situation: string, world: SampleWorld, done: readonly string[], lookAgainWithin?: number];

function check(title: string, rows: readonly Row[]): void {
  describe(title, () => {
    for (const [situation, sample, done, lookAgainWithin] of rows)
      test(situation, () => {
        const plan = planCluster(sampleWorld(sample), sampleNow, countingUp());
        assert.deepEqual(told(plan.actions), done, plan.because);
        assert.match(plan.because, /^\S.{5,}/, "every plan says why");
        if (lookAgainWithin !== undefined)
          assert.ok((plan.lookAgainAfter ?? Number.POSITIVE_INFINITY) <= lookAgainWithin, String(plan.lookAgainAfter));
      });
  });
}

/** Random enough for names, the same in each run. */
function countingUp(): () => number {
  let n = 0;
  return () => {
    n = (n * 31 + 7) % 997;
    return n / 997;
  };
}

check("a cluster that is to be left alone", [
  ["one that is being deleted", { change: { cluster: deleted() }, members: [voter("a"), gone("b"), voter("c")] }, []],
  ["one that is paused, whatever happened to it", { spec: { paused: true }, members: [voter("a"), gone("b")] }, []],
  ["one whose spec has problems", { change: { problems: ["size 0 is none."] }, members: three.slice(0, 2) }, []],
  ["one that is as it should be", { members: three }, [], 30_000],
  ["one of an even size", { size: 4, members: five.slice(0, 4) }, []],
  ["one of a single member", { size: 1, members: [voter("a")] }, []],
]);

function deleted() {
  const { cluster } = sampleWorld({});
  return { ...cluster, metadata: { ...cluster.metadata, deletionTimestamp: "2026-01-31T11:59:59Z" } };
}

check("services and budget", [
  [
    "are made before the seed and after it",
    {
      unlatched: true,
      etcd: "nobody",
      change: { peerService: undefined, clientService: undefined, budget: undefined },
    },
    ["services", "seed new1", "budget 2"],
  ],
  ["a Service that was deleted comes back", { members: three, change: { clientService: undefined } }, ["services"]],
  [
    "a Service that was edited is set right, after what matters more",
    { members: [voter("a"), voter("b"), gone("c")], change: { peerService: { spec: { clusterIP: "10.1.1.1" } } } },
    ["remove c", "services"],
  ],
  ["the budget of five lets one go at a time", { size: 5, members: five, change: { budget: undefined } }, ["budget 4"]],
  ["the budget of one lets none go", { size: 1, members: [voter("a")], change: { budget: undefined } }, ["budget 1"]],
  [
    "the budget grows before the members do",
    { size: 5, members: three, change: { budget: sampleWorld({ members: three }).budget } },
    ["add learner new1", "pod new1", "budget 4"],
  ],
  [
    "the budget stays as it is while nobody knows how many voters there are",
    { size: 5, members: three, etcd: "silent", change: { budget: sampleWorld({ members: three }).budget } },
    [],
  ],
]);

check("the beginning", [
  ["a new cluster gets one seed", { unlatched: true, etcd: "nobody" }, ["seed new1"]],
  [
    "a seed that starts is waited for",
    { unlatched: true, etcd: "nobody", members: [voter("a", { pod: { ...young, state: { t: "starting" } } })] },
    [],
    30_000,
  ],
  [
    "a seed that runs and does not answer yet is asked again in a moment",
    { unlatched: true, etcd: "silent", members: [voter("a", { pod: { ...young, state: running } })] },
    [],
    200,
  ],
  [
    "a seed that answers is latched before anything is built on it",
    { unlatched: true, members: [voter("a", { pod: young })] },
    ["latch c1", "add learner new1", "pod new1"],
  ],
  [
    "a seed of 3.5 is joined by one learner at a time",
    { unlatched: true, version: "3.5.35", members: [voter("a", { pod: young })] },
    ["latch c1", "add learner new1", "pod new1"],
  ],
  [
    "a seed of 3.2, which knows no learners, is joined by one voter at a time",
    { unlatched: true, version: "3.2.32", members: [voter("a", { pod: young })] },
    ["latch c1", "add voter new1", "pod new1"],
  ],
  [
    "a third voter of 3.2 waits until the second is healthy",
    { version: "3.2.32", members: [voter("a"), voter("b", { silent: true, pod: young })] },
    [],
  ],
  [
    "a seed that was evicted before it ever answered is made again",
    { unlatched: true, etcd: "nobody", members: [voter("a", { pod: ended })] },
    ["delete a"],
  ],
  [
    "a seed that keeps crashing before it ever answered is made again after a while",
    { unlatched: true, etcd: "silent", members: [voter("a", { pod: crashing(3 * minute) })] },
    ["delete a"],
  ],
  [
    "a seed that crashed a moment ago may recover",
    { unlatched: true, etcd: "silent", members: [voter("a", { pod: crashing(minute) })] },
    [],
    minute,
  ],
  [
    "a seed that cannot start because of a version that has been corrected is made again at once",
    {
      unlatched: true,
      etcd: "nobody",
      members: [
        voter("a", { pod: { ...young, version: "3.6.99", state: { t: "starting", problem: "ErrImagePull" } } }),
      ],
    },
    ["delete a"],
  ],
  [
    "a seed on a node that is gone is made again elsewhere",
    { unlatched: true, etcd: "silent", members: [voter("a", { pod: onSilentNode(2 * minute) })] },
    ["delete a by force"],
  ],
  [
    "a seed that is being deleted is waited for",
    { unlatched: true, etcd: "nobody", members: [voter("a", { pod: { ...ended, ...going } })] },
    [],
  ],
  ["a latched cluster without pods never gets a second seed", { etcd: "nobody" }, []],
  [
    "a cluster that the operator of 2018 called running never gets a second seed",
    { unlatched: true, status: { phase: "Running" }, etcd: "nobody" },
    [],
  ],
  [
    "several pods without an id are somebody's cluster, even when they have all ended",
    { unlatched: true, etcd: "nobody", members: [voter("a", { pod: ended }), voter("b", { pod: ended })] },
    [],
  ],
  ["a cluster of 2018 that answers is latched and carried on", { unlatched: true, members: three }, ["latch c1"]],
  [
    "a cluster of 2018 without quorum is latched and left alone",
    { unlatched: true, etcd: "noQuorum", members: [voter("a"), gone("b"), gone("c")] },
    ["latch c1"],
  ],
]);

check("learners", [
  [
    "a member that was added and has no pod gets that very pod",
    { members: [voter("a"), voter("b"), added("c", { pod: undefined })] },
    ["pod c"],
  ],
  [
    "several of them get theirs one after the other, for they would wait for each other",
    { members: [voter("a"), added("b", { pod: undefined }), added("c", { pod: undefined })] },
    ["pod b"],
  ],
  [
    "the second of them gets its pod when the first one answers",
    { members: [voter("a"), added("b", { pod: young }), added("c", { pod: undefined })] },
    [],
    250,
  ],
  [
    "all that are missing join before anybody is promoted, for etcd takes none for 5 s after a promotion",
    { size: 4, members: [voter("a"), learner("b"), learner("c")] },
    ["add learner new1", "pod new1"],
  ],
  [
    "nobody joins while another is starting, for they would wait for each other",
    { size: 4, members: [voter("a"), learner("b"), added("c", { pod: young })] },
    [],
    250,
  ],
  [
    "one that crashes does not keep others from joining",
    { size: 4, members: [voter("a"), learner("b"), added("c", { pod: crashing(1000) })] },
    ["add learner new1", "pod new1"],
  ],
  [
    "those that caught up are promoted together",
    { members: [voter("a"), learner("b"), learner("c")] },
    ["promote b", "promote c"],
  ],
  [
    "the one that is furthest is promoted first",
    { members: [voter("a"), learner("b", { raftIndex: 990 }), learner("c")] },
    ["promote c", "promote b"],
  ],
  [
    "one that has not caught up is looked at again soon",
    { members: [voter("a"), voter("b"), learner("c", { raftIndex: 500, pod: young })] },
    [],
    250,
  ],
  [
    "one that is within nine tenths of a long log is not close enough",
    { members: [voter("a", { raftIndex: 1_000_000 }), voter("b"), learner("c", { raftIndex: 950_000 })] },
    [],
  ],
  [
    "one whose process does not answer yet is looked at again soon",
    { members: [voter("a"), voter("b"), added("c", { pod: young })] },
    [],
    250,
  ],
  [
    "with 3.5 the next one joins when the first was promoted",
    { version: "3.5.35", members: [voter("a"), voter("b", { pod: young })] },
    ["add learner new1", "pod new1"],
  ],
  ["with 3.5 no second one joins before", { version: "3.5.35", members: [voter("a"), added("b", { pod: young })] }, []],
  [
    "one that started once and lost its pod is replaced",
    { members: [voter("a"), voter("b"), learner("c", { silent: true, pod: undefined })] },
    ["remove c"],
    0,
  ],
  [
    "one whose pod ended is replaced",
    { members: [voter("a"), voter("b"), added("c", { pod: ended })] },
    ["remove c", "delete c"],
  ],
  [
    "one that keeps crashing is replaced after a while",
    { members: [voter("a"), voter("b"), added("c", { pod: crashing(3 * minute) })] },
    ["remove c", "delete c"],
  ],
  [
    "one whose pod is being deleted before it ran gets another under the same name",
    { members: [voter("a"), voter("b"), added("c", { pod: { ...going, state: { t: "starting" } } })] },
    [],
  ],
  [
    "one whose list of members has changed before it ran gets another pod",
    {
      members: [
        voter("a"),
        voter("b"),
        added("c", { pod: { ...crashing(1000), joinsWith: urls("a", "b", "x", "c") } }),
      ],
    },
    ["delete c"],
  ],
  [
    "one whose list of members is still right is waited for",
    { members: [voter("a"), voter("b"), added("c", { pod: { ...crashing(1000), joinsWith: urls("c", "b", "a") } })] },
    [],
  ],
  [
    "one that could not be scheduled for long gets another pod, in case the spec is better now",
    { members: [voter("a"), voter("b"), added("c", { pod: { state: { t: "pending", problem: "Unschedulable" } } })] },
    ["delete c"],
  ],
  [
    "one that could not be scheduled yet is waited for",
    {
      members: [
        voter("a"),
        voter("b"),
        added("c", { pod: { ...young, state: { t: "pending", problem: "Unschedulable" } } }),
      ],
    },
    [],
    2 * minute,
  ],
  [
    "one that cannot be scheduled does not hold up the others",
    { members: [voter("a"), learner("b"), added("c", { pod: { state: { t: "pending", problem: "Unschedulable" } } })] },
    ["promote b"],
  ],
]);

check("members that are lost", [
  ["one whose pod was deleted is removed", { members: [voter("a"), voter("b"), gone("c")] }, ["remove c"], 0],
  ["and replaced by a learner", { members: [voter("a"), voter("b")] }, ["add learner new1", "pod new1"]],
  [
    "one whose pod is being deleted is removed while it still answers",
    { members: [voter("a"), voter("b"), voter("c", { pod: going })] },
    ["remove c"],
  ],
  [
    "a leader whose pod is being deleted hands over first",
    { leader: "c", members: [voter("a"), voter("b"), voter("c", { pod: going })] },
    ["lead a", "remove c"],
  ],
  [
    "with 3.2 leadership cannot be handed over",
    { version: "3.2.32", leader: "c", members: [voter("a"), voter("b"), voter("c", { pod: going })] },
    ["remove c"],
  ],
  [
    "of two voters the leaving one is removed before it is too late",
    { size: 2, leader: "b", members: [voter("a"), voter("b", { pod: going })] },
    ["remove b"],
  ],
  ["the only voter is never removed", { size: 1, members: [voter("a", { pod: going })] }, []],
  [
    "an evicted one is removed with its pod",
    { members: [voter("a"), voter("b"), voter("c", { silent: true, pod: ended })] },
    ["remove c", "delete c"],
  ],
  [
    "one that keeps crashing for longer than it may is removed with its pod",
    { members: [voter("a"), voter("b"), voter("c", { silent: true, pod: crashing(3 * minute) })] },
    ["remove c", "delete c"],
  ],
  [
    "how long it may is in the spec",
    {
      spec: { failover: { crashLoopAfterSeconds: 600 } },
      members: [voter("a"), voter("b"), voter("c", { silent: true, pod: crashing(3 * minute) })],
    },
    [],
    7 * minute,
  ],
  [
    "one that crashed a moment ago restarts in place",
    { members: [voter("a"), voter("b"), voter("c", { silent: true, pod: crashing(10_000) })] },
    [],
    110_000,
  ],
  [
    "one whose node has been silent for long is removed and its pod deleted by force",
    { members: [voter("a"), voter("b"), voter("c", { silent: true, pod: onSilentNode(2 * minute) })] },
    ["remove c", "delete c by force"],
  ],
  [
    "one whose node fell silent just now may come back",
    { members: [voter("a"), voter("b"), voter("c", { silent: true, pod: onSilentNode(30_000) })] },
    [],
    30_000,
  ],
  [
    "one that serves is not lost, whatever is said of its node",
    { members: [voter("a"), voter("b"), voter("c", { pod: onSilentNode(2 * minute) })] },
    [],
  ],
  [
    "one whose node is gone is replaced",
    { members: [voter("a"), voter("b"), voter("c", { silent: true, pod: { node: { t: "gone", name: "n" } } })] },
    ["remove c", "delete c by force"],
  ],
  [
    "a young pod on a node that nobody has heard of yet is waited for",
    { members: [voter("a"), voter("b"), added("c", { pod: { ...young, node: { t: "gone", name: "n" } } })] },
    [],
  ],
  [
    "one that just does not answer is waited for",
    { members: [voter("a"), voter("b"), voter("c", { silent: true })] },
    [],
    2000,
  ],
  [
    "of several the first goes first, each after a new look",
    { size: 5, members: [voter("a"), voter("b"), voter("c"), gone("d"), gone("e")] },
    ["remove d"],
    0,
  ],
  [
    "what is dead goes before what is leaving",
    { members: [voter("a"), voter("b", { pod: going }), gone("c")] },
    ["remove c"],
  ],
  [
    "a voter that never gave its name and has no pod may have voted, and does not come back empty",
    { version: "3.2.32", members: [voter("a"), voter("b"), gone("c", { unnamed: true })] },
    ["remove c"],
  ],
  [
    "one that has a volume is not lost with its pod",
    { members: [voter("a"), voter("b"), voter("c", { silent: true, pod: { ...ended, hasVolume: true } })] },
    [],
  ],
]);

check("what was done by hand", [
  [
    "a member removed by hand: its pod goes, and another joins after that",
    { members: [voter("a"), voter("b")], orphans: [{ name: "demo-c" }] },
    ["delete c"],
    0,
  ],
  [
    "a pod of no member that is going already is let go",
    { members: three, orphans: [{ name: "demo-x", ...going }] },
    [],
  ],
  [
    "a pod of no member that hangs on a lost node is deleted by force",
    { members: three, orphans: [{ name: "demo-x", ...going, ...onSilentNode(2 * minute) }] },
    ["delete x by force"],
  ],
  [
    "no pod is deleted while etcd cannot be asked",
    { etcd: "silent", members: three, orphans: [{ name: "demo-x" }] },
    [],
  ],
  // It has no name yet, so it is told by its id.
  [
    "a member of somebody else's that never started is removed",
    { members: [...three, voter("x", { foreign: true, unnamed: true })] },
    ["remove 78"],
  ],
  [
    "a member of somebody else's that runs is removed, too",
    { members: [...three, voter("x", { foreign: true })] },
    ["remove x"],
  ],
  [
    "but not when too few of ours would remain",
    { size: 1, members: [voter("a"), voter("x", { foreign: true }), voter("y", { foreign: true })] },
    [],
  ],
]);

check("fewer members", [
  [
    "the newest follower goes",
    { members: [...three, voter("d", { pod: young })], size: 3 },
    ["remove d", "delete d"],
    0,
  ],
  [
    "never the leader when another will do",
    { size: 2, leader: "c", members: [voter("a"), voter("b"), voter("c", { pod: young })] },
    ["remove b", "delete b"],
  ],
  [
    "one that is away goes before a newer one that serves",
    { size: 2, members: [voter("a"), voter("b", { silent: true }), voter("c", { pod: young })] },
    ["remove b", "delete b"],
  ],
  [
    "learners go first, and together",
    { size: 3, members: [...three, learner("d"), added("e", { pod: undefined })] },
    ["remove e", "remove d", "delete d"],
  ],
  ["from five to one, one after the other", { size: 1, members: five }, ["remove e", "delete e"], 0],
  ["from two to one", { size: 1, members: [voter("a"), voter("b")] }, ["remove b", "delete b"]],
  [
    "no healthy one goes while too few others are",
    {
      size: 4,
      members: [voter("a"), voter("b"), voter("c", { silent: true }), voter("d", { silent: true }), voter("e")],
      strangers: ["c", "d"],
    },
    [],
    2000,
  ],
  [
    "a decrease that overtakes an increase takes what was not finished",
    { size: 1, members: [voter("a"), learner("b"), added("c"), added("d", { pod: undefined }), added("e")] },
    ["remove d", "remove e", "delete e", "remove c", "delete c", "remove b", "delete b"],
  ],
  [
    "an increase that overtakes a decrease goes on from what is left",
    { size: 3, members: [voter("a"), voter("b")], orphans: [{ name: "demo-c", ...going }] },
    ["add learner new1", "pod new1"],
  ],
]);

check("more members", [
  [
    "join one after the other",
    { size: 7, members: three },
    ["add learner new1", "pod new1"],
  ],
  [
    "not while a voter is away that etcd would miss",
    { size: 5, members: [voter("a"), voter("b"), voter("c", { silent: true })] },
    [],
  ],
  [
    "while one of five is away, where etcd does not mind",
    { size: 6, members: [...five.slice(0, 4), voter("e", { silent: true })] },
    ["add learner new1", "pod new1"],
  ],
  [
    "not while one of five is away, where etcd minds",
    { size: 6, version: "3.5.20", members: [...five.slice(0, 4), voter("e", { silent: true })] },
    [],
  ],
  [
    "what the oldest member cannot do, the cluster cannot",
    { members: [voter("a", { version: "3.3.27" }), voter("b")] },
    ["add voter new1", "pod new1"],
  ],
]);

check("lost quorum", [
  [
    "nothing is taken from what is left",
    { etcd: "noQuorum", members: [voter("a"), gone("b"), voter("c", { silent: true, pod: ended })] },
    [],
    2000,
  ],
  [
    "nothing is taken from a cluster that does not answer at all",
    { etcd: "silent", members: [voter("a", { pod: crashing(9 * minute) }), voter("b", { pod: ended }), gone("c")] },
    [],
    2000,
  ],
  ["nothing is made when all pods are gone", { etcd: "nobody" }, []],
  [
    "a second voter that never ran gets its pod, which alone can bring the quorum back",
    { version: "3.2.32", etcd: "noQuorum", members: [voter("a"), gone("b", { unnamed: true })] },
    ["pod b"],
  ],
  [
    "and another when that has ended",
    { version: "3.2.32", etcd: "noQuorum", members: [voter("a"), voter("b", { unnamed: true, pod: ended })] },
    ["delete b"],
  ],
  [
    "a second voter that ran before does not come back empty",
    { version: "3.2.32", etcd: "noQuorum", members: [voter("a"), gone("b")] },
    [],
  ],
  [
    "nor a third one",
    {
      version: "3.2.32",
      etcd: "noQuorum",
      members: [voter("a"), voter("b", { silent: true }), gone("c", { unnamed: true })],
    },
    [],
  ],
]);

check("pods that answer as another cluster", [
  [
    "when they all do, nothing is built on them",
    { members: three.slice(0, 2), status: { clusterId: "beef" } },
    [],
    2000,
  ],
  [
    "when nobody knows which is right, nothing is built on either",
    { unlatched: true, members: three, strangers: ["x"], orphans: [{ name: "demo-x" }] },
    [],
  ],
  [
    "one of no member is left alone for a person to look at",
    { members: three, strangers: ["x"], orphans: [{ name: "demo-x" }] },
    [],
  ],
  [
    "one of a member is left alone, too",
    { members: [voter("a"), voter("b"), voter("c", { silent: true, pod: crashing(9 * minute) })], strangers: ["c"] },
    [],
  ],
]);
