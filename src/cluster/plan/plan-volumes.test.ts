// Members that keep their data in volumes of their own: what is done when their pods, their claims or both are gone.
import { settingsOf } from "../objects/settings.ts";
import {
  check,
  crashing,
  ended,
  going,
  gone,
  homeless,
  learner,
  minute,
  onSilentNode,
  added,
  three,
  voter,
  young,
} from "../testing/plan-table.ts";
import { freshClaim, sampleClaim, sampleCluster, sampleNow } from "../testing/sample-world.ts";
import { pod, spec, madeFrom, noted, kept, podless, doomed, exited } from "../testing/volume-table.ts";

const copies = ["a", "b"].map((l) => ({ name: `demo-${l}`, uid: `uid-of-${l}`, of: "warehouse/demo" }));
const all = [kept("a"), kept("b"), kept("c")];
const otherCount = { ...spec, etcd: { snapshotCount: 500 } };

check("a member whose pod is gone and whose volume is there", [
  ["comes back on it", { spec, members: [kept("a"), kept("b"), podless("c")] }, ["pod c on its volume in 3.6.16"], 100],
  [
    "comes back with others that are gone",
    { spec, members: [kept("a"), kept("b"), kept("c"), podless("d"), podless("e")], size: 5 },
    ["pod d on its volume in 3.6.16", "pod e on its volume in 3.6.16"],
  ],
  [
    "comes back without a quorum",
    { spec, etcd: "noQuorum", members: [kept("a"), podless("b"), podless("c")] },
    ["pod b on its volume in 3.6.16", "pod c on its volume in 3.6.16"],
  ],
  [
    "comes back when nobody is left to be asked, also where nobody has written down who voted",
    { spec, etcd: "nobody", members: [podless("a"), podless("b"), podless("c")] },
    ["pod a on its volume in 3.6.16", "pod b on its volume in 3.6.16", "pod c on its volume in 3.6.16"],
  ],
  [
    "comes back in the version that it ran last when the spec asks for another minor meanwhile",
    { spec, version: "3.7.3", etcd: "nobody", members: [podless("a"), podless("b"), podless("c")] },
    ["pod a on its volume in 3.6.16", "pod b on its volume in 3.6.16", "pod c on its volume in 3.6.16"],
  ],
  [
    "comes back in the others' version in the middle of an upgrade",
    {
      spec,
      version: "3.7.3",
      members: [
        kept("a", {
          pod: { version: "3.7.3", image: "quay.io/coreos/etcd:v3.7.3" },
          version: "3.7.3",
          claim: { release: { version: "3.7.3", image: "quay.io/coreos/etcd:v3.7.3" } },
        }),
        kept("b", { pod: { version: "3.6.16", image: "quay.io/coreos/etcd:v3.6.16" }, version: "3.6.16" }),
        podless("c"),
      ],
      status: { raftLogVersion: "3.6" },
    },
    ["pod c on its volume in 3.7.3"],
  ],
  [
    "does not come back in a version that its data must not be taken to",
    {
      spec,
      version: "3.5.35",
      members: [
        ...["a", "b"].map((letter) =>
          kept(letter, {
            version: "3.5.35",
            claim: { release: { version: "3.5.35", image: "quay.io/coreos/etcd:v3.5.35" } },
          }),
        ),
        podless("c", { claim: { release: { version: "3.4.23", image: "quay.io/coreos/etcd:v3.4.23" } } }),
      ],
    },
    ["pod c on its volume in 3.4.23"],
  ],
  [
    "is waited for while its pod is being deleted, and nobody else is disturbed",
    { spec, members: [kept("a"), kept("b"), kept("c", { pod: going })] },
    [],
  ],
  [
    "gets another pod when its pod has ended",
    { spec, members: [kept("a"), kept("b"), kept("c", { silent: true, pod: ended })] },
    ["delete c"],
  ],
  [
    "is not made again where etcd says that it was removed",
    {
      spec,
      etcd: "noQuorum",
      members: [kept("a"), podless("b")],
      change: { claims: [sampleClaim("demo-a", noted), sampleClaim("demo-b", noted), sampleClaim("demo-x", noted)] },
    },
    ["pod b on its volume in 3.6.16"],
  ],
  [
    "is not made again when it was retired",
    {
      spec,
      etcd: "nobody",
      members: [podless("a"), podless("b")],
      change: { claims: [sampleClaim("demo-a", noted), sampleClaim("demo-b", { ...noted, role: "retired" })] },
    },
    ["pod a on its volume in 3.6.16"],
  ],
]);

check("a member that waits for a node", [
  [
    "is waited for as long as its volume can be used on another",
    {
      spec,
      members: [
        kept("a"),
        kept("b"),
        kept("c", { silent: true, pod: { ...homeless, createdAt: sampleNow - 60 * minute, node: { t: "none" } } }),
      ],
    },
    [],
  ],
  [
    "is replaced when its volume was local to one that is gone, after a while",
    {
      spec,
      members: [
        kept("a"),
        kept("b"),
        kept("c", {
          silent: true,
          pod: { ...homeless, createdAt: sampleNow - 2 * minute, node: { t: "none" } },
          claim: { node: { t: "gone", name: "n" } },
        }),
      ],
    },
    ["remove c", "delete c", "retire claim c"],
  ],
  [
    "is waited for until then",
    {
      spec,
      members: [
        kept("a"),
        kept("b"),
        kept("c", {
          silent: true,
          pod: { ...homeless, node: { t: "none" } },
          claim: { node: { t: "gone", name: "n" } },
        }),
      ],
    },
    [],
    minute,
  ],
]);

check("a member whose volume is lost is replaced through the quorum", [
  ["when its claim is gone with its pod", { spec, members: [kept("a"), kept("b"), gone("c")] }, ["remove c"]],
  [
    "when its pod is deleted after its claim, and while it still serves",
    { spec, members: [kept("a"), kept("b"), doomed("c", { pod: going })] },
    ["remove c"],
  ],
  [
    "when its process does not run and its claim is being deleted",
    { spec, members: [kept("a"), kept("b"), doomed("c", { silent: true, pod: homeless })] },
    ["remove c", "delete c"],
  ],
  [
    "when its process has ended for too long: its kubelet does not start it on a claim that is being deleted",
    { spec, members: [kept("a"), kept("b"), doomed("c", { silent: true, pod: exited(3 * minute) })] },
    ["remove c", "delete c"],
  ],
  [
    "when its volume is lost",
    { spec, members: [kept("a"), kept("b"), kept("c", { silent: true, claim: { phase: "Lost" } })] },
    ["remove c", "delete c", "retire claim c"],
  ],
  [
    "when it is empty",
    {
      spec,
      members: [
        kept("a"),
        kept("b"),
        kept("c", {
          silent: true,
          pod: {
            state: {
              t: "crashing",
              since: sampleNow - 1000,
              exitedAt: sampleNow,
              restarts: 1,
              problem: "exit",
              withoutData: true,
            },
          },
        }),
      ],
    },
    ["remove c", "delete c", "retire claim c"],
  ],
  [
    "when etcd cannot open it",
    { spec, members: [kept("a"), kept("b"), kept("c", { silent: true, pod: crashing(3 * minute) })] },
    ["remove c", "delete c", "retire claim c"],
  ],
  [
    "when its node is lost",
    { spec, members: [kept("a"), kept("b"), kept("c", { silent: true, pod: onSilentNode(2 * minute) })] },
    ["remove c", "delete c by force", "retire claim c"],
  ],
  [
    "when it can be used on a lost node only",
    {
      spec,
      members: [
        kept("a"),
        kept("b"),
        kept("c", {
          silent: true,
          pod: { ...homeless, node: { t: "none" } },
          claim: { node: { t: "silent", name: "n", since: sampleNow - 2 * minute } },
        }),
      ],
    },
    ["remove c", "delete c", "retire claim c"],
  ],
  [
    "and its claim is deleted with it where that is asked for",
    {
      spec: { ...spec, volumeRetention: { whenMemberRemoved: "Delete" } },
      members: [kept("a"), kept("b"), kept("c", { silent: true, claim: { phase: "Lost" } })],
    },
    ["remove c", "delete c", "delete claim c"],
  ],
  [
    "and never without a quorum",
    {
      spec,
      etcd: "noQuorum",
      members: [
        kept("a"),
        kept("b", { silent: true, claim: { phase: "Lost" } }),
        kept("c", { silent: true, pod: crashing(3 * minute) }),
      ],
    },
    [],
  ],
]);

check("what is written on claims", [
  ["is left alone when it is right", { spec, members: all }, []],
  [
    "says that a member has started, before anything else is done",
    { spec, members: [kept("a"), kept("b"), voter("c", { claim: { fresh: true }, pod: { madeFrom, guard: "open" } })] },
    ["guard c", "note on claim c"],
  ],
  [
    "follows the version that the member serves in",
    {
      spec,
      version: "3.6.17",
      members: [
        ...all.slice(0, 2),
        kept("c", { version: "3.6.17", pod: { version: "3.6.17", image: "quay.io/coreos/etcd:v3.6.17" } }),
      ].map((m) => ({
        ...m,
        version: "3.6.17",
        pod: { ...m.pod, version: "3.6.17", image: "quay.io/coreos/etcd:v3.6.17" },
      })),
    },
    ["note on claim a", "note on claim b", "note on claim c"],
  ],
  [
    "gives them to the EtcdCluster where they are to go with it",
    {
      spec: { ...spec, volumeRetention: { whenClusterDeleted: "Delete" } },
      members: [kept("a", { claim: { owned: true } }), kept("b"), kept("c")],
    },
    ["own claim b", "own claim c"],
  ],
  [
    "of a member that was removed is that it is retired",
    {
      spec,
      members: all,
      change: {
        claims: [...["a", "b", "c"].map((l) => sampleClaim(`demo-${l}`, noted)), sampleClaim("demo-d", noted)],
      },
    },
    ["retire claim d"],
  ],
  [
    "of a member that may have been removed stays while nobody can say",
    {
      spec,
      etcd: "noQuorum",
      members: [kept("a"), kept("b", { silent: true }), kept("c", { silent: true })],
      change: {
        claims: [...["a", "b", "c"].map((l) => sampleClaim(`demo-${l}`, noted)), sampleClaim("demo-d", noted)],
      },
    },
    [],
  ],
]);

check("claims that an older operator made", [
  [
    "get the namespace and name of their cluster written on them",
    { spec, members: [kept("a"), kept("b"), kept("c", { claim: { hasHome: false } })] },
    ["note on claim c"],
  ],
]);

check("volumes that are to be larger", [
  [
    "grow while they are in use",
    { spec: { pod: pod("8Gi") }, members: all },
    ["grow claim a to 8Gi", "grow claim b to 8Gi", "grow claim c to 8Gi"],
  ],
  [
    "are replaced where they cannot: one joins first",
    { spec: { pod: pod("8Gi") }, members: ["a", "b", "c"].map((l) => kept(l, { claim: { cannotGrow: "8Gi" } })) },
    ["add learner new1", "pod new1"],
  ],
  [
    "are not replaced where pods are changed by hand only",
    {
      spec: { pod: pod("8Gi"), updateStrategy: "OnDelete" },
      members: ["a", "b", "c"].map((l) => kept(l, { claim: { cannotGrow: "8Gi" } })),
    },
    [],
  ],
]);

check("members that are changed", [
  [
    "get another pod on their volumes for another setting, followers first",
    { spec: { ...spec, etcd: { snapshotCount: 500 } }, members: all },
    ["delete b"],
  ],
  [
    "hand over before the leader's pod goes",
    {
      spec: { ...spec, etcd: { snapshotCount: 500 } },
      members: [
        kept("a"),
        ...["b", "c"].map((l) =>
          kept(l, {
            pod: { madeFrom: settingsOf(sampleCluster({ spec: { ...spec, etcd: { snapshotCount: 500 } } }).spec) },
            claim: { madeFrom: settingsOf(sampleCluster({ spec: { ...spec, etcd: { snapshotCount: 500 } } }).spec) },
          }),
        ),
      ],
    },
    ["lead b"],
  ],
  [
    "wait for one that is not back",
    { spec: otherCount, members: [kept("a"), kept("b"), kept("c", { silent: true, pod: young })] },
    [],
  ],
  [
    "begin with one that runs and has not served for long: the settings may be why",
    { spec: otherCount, members: [kept("a"), kept("b"), kept("c", { silent: true })] },
    ["delete c"],
  ],
  [
    "are given to one that runs and does not serve without a quorum, too",
    { spec: otherCount, etcd: "silent", members: [kept("a"), kept("b"), kept("c")] },
    ["delete a"],
  ],
  [
    "are replaced to get volumes",
    { spec, members: three.map((m) => ({ ...m, pod: { madeFrom: settingsOf(sampleCluster({}).spec) } })) },
    ["add learner new1", "pod new1"],
  ],
  ["are replaced to lose them", { members: all }, ["add learner new1", "pod new1"]],
  [
    "are replaced to get another kind of volume",
    { spec: { pod: pod("4Gi", { storageClassName: "fast" }) }, members: all },
    ["add learner new1", "pod new1"],
  ],
]);

check("a member that never ran", [
  [
    "gets a new pod like any other",
    { spec, members: [kept("a"), kept("b"), added("c", { pod: undefined, claim: { fresh: true } })] },
    ["pod c"],
  ],
  [
    "is a learner like any other",
    { spec, members: [kept("a"), kept("b"), learner("c", { claim: noted, pod: { madeFrom } })] },
    ["promote c"],
  ],
]);

check("volumes of an earlier cluster of the same name", [
  [
    "are taken over by a new one",
    {
      spec,
      unrecorded: true,
      etcd: "nobody",
      change: { leftClaims: ["x", "y"].map((l) => sampleClaim(`demo-${l}`, { clusterUid: "old" })) },
    },
    ["adopt claim x", "adopt claim y"],
  ],
  [
    "are put to use when they are taken over",
    { spec, unrecorded: true, etcd: "nobody", change: { claims: ["x", "y"].map((l) => sampleClaim(`demo-${l}`)) } },
    ["pod x on its volume in 3.6.16", "pod y on its volume in 3.6.16"],
  ],
  [
    "do not stop one that asks for no volumes",
    { unrecorded: true, etcd: "nobody", change: { leftClaims: [sampleClaim("demo-x", { clusterUid: "old" })] } },
    ["seed new1"],
  ],
  [
    "of different clusters stop one that would have to choose",
    {
      spec,
      unrecorded: true,
      etcd: "nobody",
      change: {
        leftClaims: [sampleClaim("demo-x", { clusterUid: "old" }), freshClaim("demo-y", { clusterUid: "older" })],
      },
    },
    [],
  ],
  [
    "are taken over with that of a member which had yet to start, and that one first: it says only to which others it belongs",
    {
      spec,
      unrecorded: true,
      etcd: "nobody",
      change: {
        leftClaims: [sampleClaim("demo-x", { clusterUid: "old" }), freshClaim("demo-y", { clusterUid: "old" })],
      },
    },
    ["adopt claim y", "adopt claim x"],
  ],
  [
    "are taken over when that of a member which had yet to start already is",
    {
      spec,
      unrecorded: true,
      etcd: "nobody",
      change: { claims: [freshClaim("demo-y")], leftClaims: [sampleClaim("demo-x", { clusterUid: "old" })] },
    },
    ["adopt claim x"],
  ],
]);

check("copies of the volumes of a cluster in another namespace", [
  [
    "are not taken over, and nothing is begun beside them",
    { spec, unrecorded: true, etcd: "nobody", change: { foreignClaims: copies } },
    [],
  ],
  [
    "are not taken over with others that were left behind",
    {
      spec,
      unrecorded: true,
      etcd: "nobody",
      change: { foreignClaims: copies, leftClaims: [sampleClaim("demo-x", { clusterUid: "old" })] },
    },
    [],
  ],
  [
    "are not taken over where the status was copied, too",
    { spec, etcd: "nobody", change: { foreignClaims: copies } },
    [],
  ],
  [
    "do not stop one that asks for no volumes",
    { unrecorded: true, etcd: "nobody", change: { foreignClaims: copies } },
    ["seed new1"],
  ],
  [
    "do not stop one that has data of its own",
    { spec, members: [kept("a"), kept("b"), podless("c")], change: { foreignClaims: copies } },
    ["pod c on its volume in 3.6.16"],
  ],
  [
    "that members run on are left alone, with their pods, while they have a quorum",
    { spec, unrecorded: true, members: ["a", "b", "c"].map((l) => kept(l, { elsewhere: "warehouse" })) },
    [],
  ],
  [
    "that members run on get no pods, and are not written on, while they have none",
    {
      spec,
      etcd: "noQuorum",
      members: [kept("a", { elsewhere: "warehouse" }), podless("b", { elsewhere: "warehouse" })],
      size: 1,
    },
    [],
  ],
]);
