// What is done about members that join at the same moment.
import { sampleNow } from "../testing/sample-world.ts";
import { added, check, homeless, learner, starting, three, urls, voter, young } from "../testing/plan-table.ts";
import type { MemberPod } from "../observe/world.ts";

const hidden = { placeholder: true } as const;
/** Its name is known, and its kubelet has not reported its address yet. */
const early = { silent: true, pod: starting } as const;
/** Its process has run for so long; its pod was made a minute ago. */
const runningFor = (ms: number): Partial<MemberPod> => ({
  createdAt: sampleNow - 61_000,
  state: { t: "running", restarts: 0, since: sampleNow - ms },
});
/** A member of a young cluster. */
const fresh = voter("a", { raftIndex: 9 });
const lagging = { ...hidden, raftIndex: 0, pod: runningFor(4000) } as const;
const together = ["add placeholder learner new1", "add placeholder learner new2", "pod new1", "pod new2"];

check("several that are missing join together", [
  ["two beside a lone one", { members: [fresh] }, together],
  [
    "not beside several voters: those may have served",
    { size: 5, members: [fresh, voter("b", { raftIndex: 9 }), voter("c", { raftIndex: 9 })] },
    ["add learner new1", "pod new1"],
  ],
  ["one alone can be found from the start", { size: 2, members: [fresh] }, ["add learner new1", "pod new1"]],
  [
    "not where only one learner is allowed at a time",
    { version: "3.5.35", members: [fresh] },
    ["add learner new1", "pod new1"],
  ],
  [
    "as the version that runs allows, whatever the spec asks for",
    { version: "3.5.35", members: [voter("a", { raftIndex: 9, version: "3.6.16", pod: { version: "3.6.16" } })] },
    together,
  ],
  [
    "not when they need a snapshot, which nobody could send them",
    { members: [voter("a", { raftIndex: 50 })] },
    ["add learner new1", "pod new1"],
  ],
  [
    "nor where snapshots are taken sooner",
    { members: [voter("a", { raftIndex: 9 })], spec: { etcd: { snapshotCount: 10 } } },
    ["add learner new1", "pod new1"],
  ],
  [
    "one was added before the operator died: both start now",
    { members: [fresh, added("b", { ...hidden, pod: undefined })] },
    ["add placeholder learner new1", "pod b", "pod new1"],
  ],
  [
    "both were added before the operator died",
    { members: [fresh, added("b", { ...hidden, pod: undefined }), added("c", { ...hidden, pod: undefined })] },
    ["pod b", "pod c"],
  ],
  [
    "one got its pod before the operator died: the other need not wait",
    { members: [voter("a"), added("b", { ...hidden, pod: starting }), added("c", { ...hidden, pod: undefined })] },
    ["pod c"],
  ],
]);

check("members that nobody can dial", [
  [
    "are left alone while they start",
    { members: [voter("a"), added("b", { ...hidden, pod: starting }), added("c", { ...hidden, pod: starting })] },
    [],
    100,
  ],
  [
    "are not promoted while one of them compares its list with etcd's",
    {
      size: 5,
      members: [...three, learner("d", { ...hidden, pod: young }), added("e", { ...hidden, pod: starting })],
    },
    [],
    100,
  ],
  [
    "are not added to meanwhile",
    { size: 5, members: [voter("a"), learner("b", hidden), added("c", { ...hidden, pod: starting })] },
    [],
  ],
  [
    "are waited for until they answer",
    { members: [voter("a"), learner("b", { ...hidden, ...early }), learner("c", { ...hidden, ...early })] },
    [],
  ],
  [
    "are not promoted by etcd's word: the others could not find them",
    { members: [voter("a"), voter("b"), learner("c", { ...hidden, silent: true, pod: young })] },
    [],
  ],
  [
    "get their votes when all have started, and each its address before the next",
    { members: [voter("a"), learner("b", { ...hidden, pod: young }), learner("c", { ...hidden, pod: young })] },
    ["promote b", "address b", "promote c", "address c"],
    100,
  ],
  [
    "and vote, because the operator died in between, get their addresses before anything else is done",
    {
      members: [voter("a"), voter("b", { ...hidden, pod: young }), learner("c", { ...hidden, pod: young })],
      orphans: [{}],
    },
    ["address b"],
    0,
  ],
  [
    "are such as long as one of their addresses is",
    {
      members: [voter("a"), learner("b", { ...hidden, pod: young, also: "http://demo-b.demo.shop.svc:2380" })],
      size: 2,
    },
    ["promote b", "address b"],
  ],
  [
    "do not wait for one that is held up",
    { members: [voter("a"), learner("b", { ...hidden, pod: young }), added("c", { ...hidden, pod: homeless })] },
    ["promote b", "address b"],
  ],
  [
    "of which one is held up with an older list: its pod is made again",
    {
      members: [
        voter("a"),
        voter("b", { pod: young }),
        added("c", { ...hidden, pod: { ...homeless, joinsWith: urls("a", "b", "c") } }),
      ],
    },
    ["delete c"],
  ],
  [
    "and never get all data are replaced by one that can be dialled",
    { members: [voter("a"), added("b", { ...hidden, pod: runningFor(6000) }), learner("c", lagging)] },
    ["remove b", "delete b"],
    0,
  ],
  [
    "and have lost their pods are replaced, when they would need a snapshot",
    { members: [voter("a"), added("b", { ...hidden, pod: undefined }), added("c", { ...hidden, pod: undefined })] },
    ["remove b"],
    0,
  ],
  [
    "are replaced one at a time, the next when the new one has started",
    {
      size: 3,
      members: [voter("a"), learner("c", { ...lagging, pod: runningFor(60_000) }), added("d", { pod: starting })],
    },
    [],
    100,
  ],
  [
    "get the time that a start takes, however long their images were on the way",
    { members: [voter("a"), added("b", { ...hidden, pod: runningFor(4000) }), learner("c", lagging)] },
    [],
    2000,
  ],
]);
