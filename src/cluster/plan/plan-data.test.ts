// What is done about members that may come back, or have come back, without their data, and about members that
// contradict each other.
import { added, check, gone, learner, starting, three, voter, young } from "../testing/plan-table.ts";
import { sampleNow } from "../testing/sample-world.ts";
import type { MemberPod } from "../observe/world.ts";

const open: Partial<MemberPod> = { guard: "open" };
const inherited: Partial<MemberPod> = { guard: "none" };
const withoutData = (guard: MemberPod["guard"]): Partial<MemberPod> => ({
  guard,
  state: {
    t: "crashing",
    since: sampleNow - 1000,
    exitedAt: sampleNow - 1,
    restarts: 1,
    problem: "Error",
    withoutData: true,
  },
});

check("once a member has started, it does not start without its data", [
  ["a seed that serves", { size: 1, members: [voter("a", { pod: open })] }, ["guard a"]],
  [
    "a seed that answers for the first time, before anything is built on it",
    { size: 1, unrecorded: true, members: [voter("a", { pod: open })] },
    ["guard a", "latch c1"],
  ],
  [
    "a learner before it gets its vote",
    { members: [voter("a"), voter("b"), learner("c", { pod: { ...open, ...young } })] },
    ["guard c", "promote c"],
  ],
  [
    "one that etcd knows by name, though it does not answer yet",
    { members: [voter("a"), voter("b"), learner("c", { silent: true, pod: { ...open, ...starting } })] },
    ["guard c"],
  ],
  [
    "one that has yet to start must be able to",
    { members: [voter("a"), voter("b"), added("c", { pod: { ...open, ...starting } })] },
    [],
  ],
  [
    "one whose flags cannot be changed is left as it is",
    { members: [voter("a", { pod: inherited }), ...three.slice(1)] },
    [],
  ],
  [
    "one that is being deleted needs no guard",
    { members: [...three.slice(0, 2), voter("c", { pod: { ...open, terminating: true } })] },
    ["remove c"],
  ],
]);

check("a member without its data", [
  [
    "that its guard keeps from starting is replaced at once",
    { members: [voter("a"), voter("b"), voter("c", { silent: true, pod: withoutData("closed") })] },
    ["remove c", "delete c"],
    0,
  ],
  [
    "and has yet to start for the first time is only waited for: it finds nobody to join yet",
    { members: [voter("a"), voter("b"), added("c", { silent: true, pod: withoutData("open") })] },
    [],
  ],
  [
    "that came back and answers is replaced, and its vote counts for nothing",
    { members: [voter("a"), voter("b"), voter("c", { wiped: true })] },
    ["remove c", "delete c"],
  ],
  [
    "is not removed when the others could not decide without it",
    { members: [voter("a"), gone("b"), voter("c", { wiped: true })] },
    [],
  ],
  [
    "is removed before one that is only leaving",
    { size: 5, members: [...three, voter("d", { pod: { terminating: true } }), voter("e", { wiped: true })] },
    ["remove e", "delete e"],
  ],
]);

check("members that contradict each other", [
  [
    "follow different leaders: nothing is removed until they agree",
    { members: [voter("a"), voter("b", { follows: "b" }), gone("c")], rivals: ["a", "b"] },
    [],
    500,
  ],
  [
    "and agree at a second look: what is lost is replaced",
    { members: [voter("a"), voter("b", { follows: "b" }), gone("c")], rivals: [] },
    ["remove c"],
  ],
  [
    "of which one has lost its data: that one goes, for it is known to be wrong",
    { members: [voter("a"), voter("b"), voter("c", { wiped: true, follows: "c" })], rivals: ["a", "c"] },
    ["remove c", "delete c"],
  ],
  [
    "a pod that is not on the list and answers as one of the cluster is no orphan",
    { members: three, answering: ["d"], orphans: [{ name: "demo-d" }] },
    [],
  ],
  [
    "a pod that is not on the list and says nothing is one",
    { members: three, orphans: [{ name: "demo-d" }] },
    ["delete d"],
  ],
]);

check("a member whose kubelet speaks of a crash loop", [
  [
    "and that has not run since the time was up keeps its data: what it lacks may be an image or a Secret",
    {
      members: [
        voter("a"),
        voter("b"),
        voter("c", {
          silent: true,
          pod: {
            state: {
              t: "crashing",
              since: sampleNow - 600_000,
              exitedAt: sampleNow - 599_000,
              restarts: 1,
              problem: "x",
            },
          },
        }),
      ],
    },
    [],
  ],
  [
    "and that ran and exited again after the time was up is replaced",
    {
      members: [
        voter("a"),
        voter("b"),
        voter("c", {
          silent: true,
          pod: {
            state: { t: "crashing", since: sampleNow - 600_000, exitedAt: sampleNow - 1000, restarts: 6, problem: "x" },
          },
        }),
      ],
    },
    ["remove c", "delete c"],
  ],
]);
