// Who goes first and who leads on, wherever one of several members is picked: those that can be missed most.
import { added, check, learner, going, onNodeOf, onSilentNode, three, voter, young } from "../testing/plan-table.ts";
import { settingsOf } from "../objects/settings.ts";
import { sampleCluster, type SampleMember } from "../testing/sample-world.ts";
import { doomed, kept, spec } from "../testing/volume-table.ts";

const unready = { pod: { ready: false } };
const behind = { raftIndex: 1000 };
const cordoned = (letter: string): Partial<SampleMember> => ({
  pod: { node: { t: "ready", name: `node-of-demo-${letter}`, cordoned: true } },
});
const [before, after] = [{}, { etcd: { snapshotCount: 500 } }].map((of) => ({
  madeFrom: settingsOf(sampleCluster({ spec: of }).spec),
}));
const made = (letter: string, pod: SampleMember["pod"]) => voter(letter, { pod });
/** It cannot move its leader. */
const old: Partial<SampleMember> = {
  version: "3.2.32",
  pod: { version: "3.2.32", image: "quay.io/coreos/etcd:v3.2.32", maxLearners: undefined },
  claim: { release: { version: "3.2.32", image: "quay.io/coreos/etcd:v3.2.32" } },
};
/** Far ahead of one that is behind. */
const ahead = (letter: string, more: Partial<SampleMember> = {}) => voter(letter, { raftIndex: 10_000, ...more });

check("of too many members one goes first that can be missed most", [
  [
    "the leader, too, when its volume goes with its pod: it hands over",
    { spec, size: 1, members: [doomed("a"), kept("b"), kept("c")] },
    ["lead b"],
  ],
  [
    "and goes when another leads",
    { spec, size: 1, leader: "b", members: [doomed("a"), kept("b"), kept("c")] },
    ["remove a", "delete a"],
  ],
  [
    "and goes at once where etcd cannot hand over",
    { spec, size: 1, version: "3.2.32", members: [doomed("a", old), kept("b", old), kept("c", old)] },
    ["remove a", "delete a"],
  ],
  [
    "one whose volume goes with its pod, before one whose node is silent",
    { spec, size: 2, members: [kept("a"), kept("b", { pod: onSilentNode(1000) }), doomed("c"), kept("d"), kept("e")] },
    ["remove c", "delete c"],
  ],
  [
    "one whose node is silent, before one that is not ready",
    { size: 3, members: [voter("a"), voter("b", unready), voter("c", { pod: onSilentNode(1000) }), voter("d")] },
    ["remove c", "delete c"],
  ],
  [
    "one that is not ready, before one that is behind",
    { size: 3, members: [ahead("a"), ahead("b", unready), voter("c", behind), ahead("d")] },
    ["remove b", "delete b"],
  ],
  [
    "one that is behind, before one on a cordoned node",
    { size: 3, members: [ahead("a"), voter("b", behind), ahead("c", cordoned("c")), ahead("d")] },
    ["remove b", "delete b"],
  ],
  [
    "one that is as far behind as etcd keeps entries at hand is not behind",
    { size: 3, members: [ahead("a"), voter("b", { raftIndex: 5000 }), ahead("c"), ahead("d", { pod: young })] },
    ["remove d", "delete d"],
  ],
  [
    "one on a cordoned node, before one that shares a node, and before the newest",
    {
      size: 3,
      members: [
        ...three.slice(0, 1),
        voter("b", cordoned("b")),
        voter("c"),
        voter("d", { pod: { ...onNodeOf("c"), ...young } }),
      ],
    },
    ["remove b", "delete b"],
  ],
  [
    "a learner that never answered, before a newer one that copies the data",
    { size: 4, members: [...three, learner("d", { pod: young }), added("e")] },
    ["remove e", "delete e"],
  ],
  [
    "a leader on a cordoned node hands over, and goes",
    { size: 3, members: [voter("a", cordoned("a")), voter("b"), voter("c"), voter("d")] },
    ["lead b"],
  ],
]);

check("of several that could lead, one leads that stays", [
  [
    "not one on a doomed volume, when the leader is being deleted",
    { spec, members: [voter("a", { pod: going }), doomed("b"), kept("c")] },
    ["lead c", "remove a"],
  ],
  [
    "not one that is not ready, is behind, or is on a node that is silent or cordoned",
    {
      size: 5,
      members: [
        ahead("a", { pod: going }),
        ahead("b", unready),
        voter("c", behind),
        ahead("d", { pod: onSilentNode(1000) }),
        ahead("e", cordoned("e")),
        ahead("f"),
      ],
    },
    ["lead f", "remove a"],
  ],
  [
    "the one with the least against it, when there is something against each",
    { members: [ahead("a", { pod: going }), ahead("b", unready), ahead("c", cordoned("c"))] },
    ["lead c", "remove a"],
  ],
]);

check("of several that are replaced", [
  [
    "one that is dead goes before one that still serves",
    {
      size: 5,
      members: [
        voter("a"),
        voter("b", { pod: going }),
        voter("c", { silent: true, pod: going }),
        voter("d"),
        voter("e"),
      ],
    },
    ["remove c"],
  ],
  [
    "one on a doomed volume goes first that is not ready",
    {
      spec,
      members: [kept("a"), doomed("b"), doomed("c", { pod: { ready: false } }), kept("d"), kept("e")],
      leader: "a",
      size: 4,
    },
    ["remove c", "delete c"],
  ],
  [
    "one on a cordoned node gives way first when all get other settings",
    {
      spec: { etcd: { snapshotCount: 500 } },
      members: [made("a", before), made("b", before), made("c", { ...before, ...cordoned("c").pod }), made("d", after)],
    },
    ["remove c", "delete c"],
  ],
]);
