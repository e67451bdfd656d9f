// What is done about single members: those that join, those that are lost, and what people do by hand.
import {
  added,
  check,
  crashing,
  ended,
  gone,
  going,
  learner,
  minute,
  homeless,
  onSilentNode,
  starting,
  three,
  urls,
  voter,
  young,
} from "../testing/plan-table.ts";
import { sampleNow } from "../testing/sample-world.ts";

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
    "nor while its pod takes long to start",
    {
      size: 4,
      members: [voter("a"), learner("b"), added("c", { pod: { ...starting, createdAt: sampleNow - 2 * minute } })],
    },
    ["promote b"],
  ],
  [
    "one that has run for long and has not joined does not keep others from joining",
    { size: 4, members: [voter("a"), learner("b"), added("c")] },
    ["add learner new1", "pod new1"],
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
    "beside a lone voter nobody is promoted while another is on its way, for of two voters none may fail",
    { members: [voter("a"), learner("b"), added("c", { pod: starting })] },
    [],
    250,
  ],
  [
    "one that has been on its way for a minute keeps nobody from being promoted",
    { members: [voter("a"), learner("b"), added("c", { pod: { ...starting, createdAt: sampleNow - minute } })] },
    ["promote b"],
  ],
  [
    "nor does one that cannot start",
    { members: [voter("a"), learner("b"), added("c", { pod: homeless })] },
    ["promote b"],
  ],
  [
    "one that never ran and has lost its pod gets another before the next one is added, which would wait for it",
    { members: [voter("a"), added("b", { pod: undefined })] },
    ["pod b"],
  ],
  [
    "nor is the next one added while its pod goes",
    { members: [voter("a"), added("b", { pod: { ...starting, ...going } })] },
    [],
  ],
  [
    "one whose pod was deleted before it ran keeps its place",
    { members: [voter("a"), voter("b"), added("c", { pod: { ...ended, ...going } })] },
    [],
  ],
  [
    "one whose name is known and that does not answer yet is promoted by etcd's word, where it is not needed to decide",
    { members: [voter("a"), voter("b"), learner("c", { silent: true, pod: young })] },
    ["promote c"],
    100,
  ],
  [
    "not where it would be needed: a lone voter waits for its answer",
    { size: 2, members: [voter("a"), learner("b", { silent: true, pod: young })] },
    [],
    100,
  ],
  [
    "not while too few others are healthy",
    {
      size: 4,
      members: [voter("a"), voter("b"), voter("c", { silent: true }), learner("d", { silent: true, pod: young })],
    },
    [],
  ],
  [
    "not when its node is silent",
    { members: [voter("a"), voter("b"), learner("c", { silent: true, pod: { ...young, ...onSilentNode(1000) } })] },
    [],
  ],
  [
    "not when it takes so long that its answer can be waited for",
    { members: [voter("a"), voter("b"), learner("c", { silent: true })] },
    [],
    2000,
  ],
  [
    "not when its process keeps exiting",
    { members: [voter("a"), voter("b"), learner("c", { silent: true, pod: { ...young, ...crashing(1000) } })] },
    [],
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
    "one that has nine tenths of a short log is close enough",
    { members: [voter("a"), voter("b"), learner("c", { raftIndex: 900 })] },
    ["promote c"],
  ],
  [
    "one that lacks as much of a long log as etcd keeps at hand is close enough",
    { members: [voter("a", { raftIndex: 100_000 }), voter("b"), learner("c", { raftIndex: 95_000 })] },
    ["promote c"],
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
    "one whose kubelet has not reported its process yet is looked for soon, too: the others may know it by now",
    { members: [voter("a"), voter("b"), added("c", { pod: starting })] },
    [],
    250,
  ],
  [
    "one whose pod could not start and is going is waited for without haste",
    {
      members: [
        voter("a"),
        voter("b"),
        added("c", { pod: { ...homeless, createdAt: sampleNow - 5 * minute, terminating: true } }),
      ],
    },
    [],
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
    "one that keeps crashing is replaced after two minutes",
    { members: [voter("a"), voter("b"), added("c", { pod: crashing(2 * minute) })] },
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
    "one that runs is left to join, though its list of members has changed",
    { members: [voter("a"), voter("b"), added("c", { pod: { ...young, joinsWith: urls("a", "b", "x", "c") } })] },
    [],
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
    "one that cannot be scheduled gets another pod at once when its settings were changed",
    {
      members: [
        voter("a"),
        voter("b"),
        added("c", { pod: { ...young, madeFrom: "others", state: { t: "pending", problem: "Unschedulable" } } }),
      ],
    },
    ["delete c"],
  ],
  [
    "one that runs unheard gets another pod when its settings were changed",
    {
      members: [
        voter("a"),
        voter("b"),
        added("c", { pod: { madeFrom: "others", state: { t: "running", restarts: 0, unheard: true } } }),
      ],
    },
    ["delete c"],
  ],
  [
    "members that serve are never made again for other settings",
    { members: [voter("a", { pod: { madeFrom: "others" } }), voter("b", { pod: { madeFrom: "others" } }), voter("c")] },
    [],
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
    "for so long as the spec says, and not a moment longer",
    { members: [voter("a"), voter("b"), voter("c", { silent: true, pod: onSilentNode(minute) })] },
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
  // It has no name yet, so it is known by its id.
  [
    "a member of somebody else's that never started is removed",
    { members: [...three, voter("x", { foreign: true, unnamed: true })] },
    ["remove 78"],
  ],
  [
    "and gets no pod, though a member is missing",
    { size: 4, members: [...three, added("x", { foreign: true })] },
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

const wrong = ".wrong.example";

check("members whose names are in another domain than the spec says", [
  [
    "a learner is replaced by one with the right name",
    { members: [voter("a"), voter("b"), added("c", { domain: wrong, pod: crashing(1000) })] },
    ["remove c", "delete c"],
  ],
  [
    "a learner is replaced by one of its names that is wrong",
    { members: [voter("a"), voter("b"), learner("c", { also: "http://demo-c.demo.shop.svc.wrong.example:2380" })] },
    ["remove c", "delete c"],
  ],
  [
    "a learner that an older operator named otherwise keeps its names",
    {
      members: [voter("a"), voter("b"), learner("c", { domain: wrong, also: "http://demo-c.elsewhere.example:2380" })],
    },
    ["promote c"],
  ],
  [
    "the only voter is given the right name before others join it",
    { members: [voter("a", { domain: wrong })] },
    ["address a"],
  ],
  [
    "the only voter is given the right name after the learners that have a wrong one are gone",
    { members: [voter("a", { domain: wrong }), added("b", { domain: wrong, pod: crashing(1000) })] },
    ["remove b", "delete b"],
  ],
  ["the only voter of one keeps its name", { size: 1, members: [voter("a", { domain: wrong })] }, []],
  [
    "voters that serve each other keep their names",
    { members: [voter("a", { domain: wrong }), voter("b", { domain: wrong }), voter("c", { domain: wrong })] },
    [],
  ],
]);
