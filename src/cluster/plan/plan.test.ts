// What is done about a cluster as a whole: left alone, begun, kept up, lost.
import {
  added,
  check,
  crashing,
  ended,
  five,
  gone,
  going,
  minute,
  onSilentNode,
  running,
  three,
  unchanged,
  voter,
  young,
  urls,
} from "../testing/plan-table.ts";
import { sampleNow } from "../testing/sample-world.ts";
import { sampleWorld } from "../testing/sample-world.ts";

check("a cluster that is to be left alone", [
  ["one that is being deleted", { change: { cluster: deleted() }, members: [voter("a"), gone("b"), voter("c")] }, []],
  ["one that is paused, whatever happened to it", { spec: { paused: true }, members: [voter("a"), gone("b")] }, []],
  [
    "one whose spec has problems, when nobody knows a spec that had none",
    { change: { problems: ["size 0 is none."] }, members: three.slice(0, 2) },
    [],
  ],
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
      unrecorded: true,
      etcd: "nobody",
      change: { peerService: undefined, clientService: undefined, budget: undefined },
    },
    ["peer service", "seed new1", "client service", "budget 2"],
  ],
  [
    "a Service that was deleted comes back",
    { members: three, change: { clientService: undefined } },
    ["client service"],
  ],
  [
    "a Service that was edited is set right, after what matters more",
    { members: [voter("a"), voter("b"), gone("c")], change: { peerService: { spec: { clusterIP: "10.1.1.1" } } } },
    ["remove c", "peer service"],
  ],
  [
    "a missing Service that a new pod needs is made for it, and not once more",
    { members: three.slice(0, 2), change: { peerService: undefined } },
    ["peer service", "add learner new1", "pod new1"],
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
  ["a new cluster gets one seed", { unrecorded: true, etcd: "nobody" }, ["seed new1"]],
  [
    "a seed that starts is waited for",
    { unrecorded: true, etcd: "nobody", members: [voter("a", { pod: { ...young, state: { t: "starting" } } })] },
    [],
    30_000,
  ],
  [
    "a seed that runs and does not answer yet is asked again in a moment",
    { unrecorded: true, etcd: "silent", members: [voter("a", { pod: { ...young, state: running } })] },
    [],
    200,
  ],
  [
    "a seed that answers is recorded before anything is built on it",
    { unrecorded: true, members: [voter("a", { raftIndex: 4, pod: young })] },
    ["latch c1", "add placeholder learner new1", "add placeholder learner new2", "pod new1", "pod new2"],
  ],
  [
    "a seed of 3.5 is joined by one learner at a time",
    { unrecorded: true, version: "3.5.35", members: [voter("a", { pod: young })] },
    ["latch c1", "add learner new1", "pod new1"],
  ],
  [
    "a seed of 3.2, which knows no learners, is joined by one voter at a time",
    { unrecorded: true, version: "3.2.32", members: [voter("a", { pod: young })] },
    ["latch c1", "add voter new1", "pod new1"],
  ],
  [
    "a third voter of 3.2 waits until the second is healthy",
    { version: "3.2.32", members: [voter("a"), voter("b", { silent: true, pod: young })] },
    [],
  ],
  [
    "a seed that was evicted before it ever answered is made again",
    { unrecorded: true, etcd: "nobody", members: [voter("a", { pod: ended })] },
    ["delete a"],
  ],
  [
    "a seed that keeps crashing before it ever answered is made again after a while",
    { unrecorded: true, etcd: "silent", members: [voter("a", { pod: crashing(3 * minute) })] },
    ["delete a"],
  ],
  [
    "a seed that was ready once is not made again, whatever its settings are: clients may have written to it",
    {
      unrecorded: true,
      etcd: "silent",
      members: [voter("a", { pod: { ...crashing(3 * minute), madeFrom: "others", readyOnce: true } })],
    },
    [],
  ],
  [
    "a seed that was ready once and whose pod has ended is made again, for its data is gone with it",
    { unrecorded: true, etcd: "nobody", members: [voter("a", { pod: { ...ended, readyOnce: true } })] },
    ["delete a"],
  ],
  [
    "a seed that crashed a moment ago may recover",
    { unrecorded: true, etcd: "silent", members: [voter("a", { pod: crashing(minute) })] },
    [],
    minute,
  ],
  [
    "a seed that cannot start because of a version that has been corrected is made again at once",
    {
      unrecorded: true,
      etcd: "nobody",
      members: [
        voter("a", { pod: { ...young, version: "3.6.99", state: { t: "starting", problem: "ErrImagePull" } } }),
      ],
    },
    ["delete a"],
  ],
  [
    "a seed that cannot start is made again at once when any of its settings was changed",
    {
      unrecorded: true,
      etcd: "nobody",
      members: [
        voter("a", { pod: { ...young, madeFrom: "others", state: { t: "starting", problem: "ErrImagePull" } } }),
      ],
    },
    ["delete a"],
  ],
  [
    "a seed that cannot start is made again after a while, before its kubelet waits for longer than a minute",
    {
      unrecorded: true,
      etcd: "nobody",
      spec: { failover: { crashLoopAfterSeconds: 600 } },
      members: [
        voter("a", {
          pod: { ...unchanged, createdAt: sampleNow - 2 * minute, state: { t: "starting", problem: "ErrImagePull" } },
        }),
      ],
    },
    ["delete a"],
  ],
  [
    "a seed that no node takes is left to the scheduler, however long it takes",
    {
      unrecorded: true,
      etcd: "nobody",
      members: [voter("a", { pod: { ...unchanged, state: { t: "pending", problem: "Unschedulable" } } })],
    },
    [],
    30_000,
  ],
  [
    "a seed that runs and has served nobody is made again when its settings were changed",
    {
      unrecorded: true,
      etcd: "silent",
      members: [voter("a", { pod: { madeFrom: "others", state: { t: "running", restarts: 0, unheard: true } } })],
    },
    ["delete a"],
  ],
  [
    "a seed that runs and may have served somebody is never made again for other settings",
    {
      unrecorded: true,
      etcd: "silent",
      members: [voter("a", { pod: { madeFrom: "others" } })],
    },
    [],
  ],
  [
    "a seed that runs with the settings of the spec is waited for",
    {
      unrecorded: true,
      etcd: "silent",
      members: [voter("a", { pod: { ...unchanged, state: { t: "running", restarts: 0, unheard: true } } })],
    },
    [],
  ],
  [
    "a seed on a node that is gone is made again elsewhere",
    { unrecorded: true, etcd: "silent", members: [voter("a", { pod: onSilentNode(2 * minute) })] },
    ["delete a by force"],
  ],
  [
    "a seed that is being deleted is waited for",
    { unrecorded: true, etcd: "nobody", members: [voter("a", { pod: { ...ended, ...going } })] },
    [],
  ],
  ["a recorded cluster without pods never gets a second seed", { etcd: "nobody" }, []],
  [
    "a cluster that etcd-operator 0.9 called running never gets a second seed",
    { unrecorded: true, status: { phase: "Running" }, etcd: "nobody" },
    [],
  ],
  [
    "several pods without an id are somebody's cluster, even when they have all ended",
    { unrecorded: true, etcd: "nobody", members: [voter("a", { pod: ended }), voter("b", { pod: ended })] },
    [],
  ],
  [
    "a cluster of etcd-operator 0.9 that answers is recorded and carried on",
    { unrecorded: true, members: three },
    ["latch c1"],
  ],
  [
    "an id in the status that is none is replaced by the cluster's own",
    { status: { clusterId: "is not an id" }, members: three },
    ["latch c1"],
  ],
  [
    "a member that answers without a quorum is no failed seed, whatever its settings are",
    {
      unrecorded: true,
      etcd: "noQuorum",
      members: [
        voter("a", { pod: { madeFrom: "others", state: { t: "running", restarts: 0, unheard: true } } }),
        gone("b"),
      ],
    },
    ["latch c1"],
  ],
  [
    "a cluster of etcd-operator 0.9 without quorum is recorded and left alone",
    { unrecorded: true, etcd: "noQuorum", members: [voter("a"), gone("b"), gone("c")] },
    ["latch c1"],
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
    "and another when the list of members has changed before it ran",
    {
      version: "3.2.32",
      etcd: "noQuorum",
      members: [voter("a"), voter("b", { unnamed: true, pod: { ...crashing(1000), joinsWith: urls("a", "b", "x") } })],
    },
    ["delete b"],
  ],
  [
    "a second voter that is starting is waited for",
    {
      version: "3.2.32",
      etcd: "noQuorum",
      members: [voter("a"), voter("b", { unnamed: true, pod: { ...young, joinsWith: urls("a", "b") } })],
    },
    [],
    250,
  ],
  [
    "a second voter that ran before does not come back empty",
    { version: "3.2.32", etcd: "noQuorum", members: [voter("a"), gone("b")] },
    [],
  ],
  [
    "nor one whose first voter does not answer, which may have more to tell",
    { version: "3.2.32", etcd: "noQuorum", members: [voter("a", { silent: true }), gone("b", { unnamed: true })] },
    [],
  ],
  [
    "nor one that is a learner, which brings back no quorum",
    { etcd: "noQuorum", members: [voter("a"), added("b", { pod: undefined })] },
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
    { unrecorded: true, members: three, strangers: ["x"], orphans: [{ name: "demo-x" }] },
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
