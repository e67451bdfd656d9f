// Every gate of a roll holds up an ordinary change, and never what cures the very thing that it waits for.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { settingsOf } from "../objects/settings.ts";
import type { ImageCheck, MemberPod } from "../observe/world.ts";
import { crashing, homeless, learner, voter } from "../testing/plan-table.ts";
import { type SampleMember, type SampleWorld, sampleCluster, sampleNow, sampleWorld } from "../testing/sample-world.ts";
import { assess } from "./assess.ts";
import { type GateName, gates } from "./gates.ts";
import type { Roll } from "./roll.ts";

const GiB = 2 ** 30;
const imageOf = (version: string): string => `quay.io/coreos/etcd:v${version}`;
const madeFrom = (spec: object): string => settingsOf(sampleCluster({ spec }).spec);
const rolled = (sample: SampleWorld): Roll => assess(sampleWorld(sample), sampleNow).roll;

/** Settings that give no database more room. */
const plain = { etcd: { snapshotCount: 7 } };
const quota = { etcd: { quotaBackendBytes: 4 * GiB } };
const before = madeFrom({});
/** Made from nothing in particular: whatever the spec says by now is another setting. */
const of = (letter: string, more: Partial<SampleMember> = {}): SampleMember =>
  voter(letter, { ...more, pod: { madeFrom: before, ...more.pod } });
const three = (more: Partial<SampleMember> = {}): SampleMember[] => [of("a"), of("b"), of("c", more)];
const volumes = (storage: string, storageClassName = "usual") => ({
  pod: {
    persistentVolumeClaimSpec: {
      accessModes: ["ReadWriteOnce"],
      storageClassName,
      resources: { requests: { storage } },
    },
  },
});

const changedFrom = { version: "3.6.15", image: imageOf("3.6.15"), restarts: 0 };
const silent = { silent: true } as const;
const full = { says: { dbSize: 1.99 * GiB } };
const gone: Partial<MemberPod> = { state: { t: "starting", problem: "ImagePullBackOff" } };
const failed: ImageCheck = {
  name: "check",
  uid: "u",
  createdAt: sampleNow,
  terminating: false,
  node: "node-of-demo-b",
  image: imageOf("3.6.16"),
  state: { t: "failed", problem: "exit code 1" },
};
const rejected = (letter: string): ImageCheck => ({
  ...failed,
  name: `check-${letter}`,
  node: `node-of-demo-${letter}`,
  state: { t: "rejected", problem: "OutOfpods" },
});
const old = (letter: string, more: Partial<SampleMember> = {}): SampleMember =>
  of(letter, {
    version: "3.6.15",
    ...more,
    pod: { version: "3.6.15", image: imageOf("3.6.15"), ...more.pod },
  });

interface Case {
  /** An ordinary change, which waits; what is said of it. */
  readonly holdsUp: SampleWorld;
  readonly says: RegExp;
  /** What may never wait for it: a world each, in which the change of the member goes first. */
  readonly cures: Readonly<Record<string, readonly [world: SampleWorld, first: string]>>;
}

const roomMade = (disease: Partial<SampleMember>): Case["cures"] => ({
  "a larger quota": [{ spec: quota, members: three(disease) }, "b replace"],
  "a larger quota, on volumes": [
    { spec: { ...quota, ...volumes("4Gi") }, members: withClaims({ ...disease }, volumes("4Gi")) },
    "b recreate",
  ],
  "another compaction": [{ spec: { etcd: { autoCompactionRetention: "1" } }, members: three(disease) }, "b replace"],
  "a larger volume, where it cannot grow": [
    { spec: volumes("8Gi"), members: withClaims(disease, volumes("4Gi"), { cannotGrow: "8Gi" }) },
    "b replace",
  ],
  "a larger quota, though another version is not prepared for": [
    { version: "3.7.3", spec: quota, members: three(disease).map(of36) },
    "b replace",
  ],
});

const of36 = (member: SampleMember): SampleMember => ({
  ...member,
  version: "3.6.16",
  storage: "3.6.0",
  pod: { version: "3.6.16", image: imageOf("3.6.16"), ...member.pod },
});

function withClaims(disease: Partial<SampleMember>, spec: object, claim: object = {}): SampleMember[] {
  const made = { madeFrom: madeFrom(spec) };
  return ["a", "b", "c"].map((letter) =>
    voter(letter, {
      ...(letter === "c" && disease),
      pod: { ...made, ...(letter === "c" && disease.pod) },
      claim: { ...made, requested: 4 * GiB, ...claim, ...(letter === "c" && disease.claim) },
    }),
  );
}

const table: Readonly<Record<GateName, Case>> = {
  image: {
    holdsUp: { members: [old("a"), old("b"), old("c")], change: { imageChecks: [failed] } },
    says: /cannot be used on node-of-demo-b/,
    cures: {
      "a larger quota for a full database": [
        {
          spec: quota,
          members: [old("a"), old("b"), of("c", { version: "3.6.15", ...full })],
        },
        "b replace",
      ],
    },
  },
  untried: {
    holdsUp: { members: [old("a"), old("b"), old("c")], change: { imageChecks: ["a", "b", "c"].map(rejected) } },
    says: /until quay.io\/coreos\/etcd:v3.6.16 can be tried on node-of-demo-., which took no pod for that \(OutOfpods\)/,
    cures: {
      "the member on another node": [
        { members: [old("a"), old("b"), old("c")], change: { imageChecks: ["a", "b"].map(rejected) } },
        "c inPlace",
      ],
      "other settings": [
        {
          spec: plain,
          members: [old("a"), old("b"), old("c")],
          change: { imageChecks: ["a", "b", "c"].map(rejected) },
        },
        "b replace",
      ],
    },
  },
  changing: {
    holdsUp: { spec: plain, members: three({ version: "3.6.15", pod: { changedFrom } }) },
    says: /demo-c to serve again after the change/,
    cures: {
      "the image that it had": [
        {
          version: "3.6.15",
          members: [
            old("a"),
            old("b"),
            of("c", { ...silent, pod: { version: "3.6.16", image: imageOf("3.6.16"), changedFrom, ...crashing(9) } }),
          ],
        },
        "c inPlace",
      ],
    },
  },
  unhealthy: {
    holdsUp: { spec: plain, members: three(silent) },
    says: /demo-c to be healthy/,
    cures: {
      "an image that can be had, for one whose own cannot": [
        {
          spec: { repository: "mirror.example/etcd" },
          members: three({ ...silent, pod: gone }),
        },
        "c inPlace",
      ],
      "other settings, for one that crashes on its volume": [
        { spec: { ...plain, ...volumes("4Gi") }, members: withClaims({ ...silent, pod: crashing(9) }, volumes("4Gi")) },
        "c recreate",
      ],
      "another place, for one that finds none for its volume": [
        {
          spec: { pod: { ...volumes("4Gi").pod, nodeSelector: { disk: "fast" } } },
          members: withClaims({ ...silent, pod: homeless }, volumes("4Gi")),
        },
        "c recreate",
      ],
      "other settings, for one that runs and does not serve": [
        { spec: { ...plain, ...volumes("4Gi") }, members: withClaims(silent, volumes("4Gi")) },
        "c recreate",
      ],
    },
  },
  doomed: {
    holdsUp: {
      spec: { ...plain, ...volumes("4Gi") },
      members: withClaims({ claim: { terminating: true } }, volumes("4Gi")),
    },
    says: /demo-c to be replaced on another volume/,
    cures: {
      "other settings, for a voter that crashes on its volume": [
        {
          size: 4,
          spec: { ...plain, ...volumes("4Gi") },
          members: [
            ...withClaims({ ...silent, pod: crashing(9) }, volumes("4Gi")),
            voter("d", { claim: { terminating: true } }),
          ],
        },
        "c recreate",
      ],
    },
  },
  joining: {
    holdsUp: { size: 4, spec: plain, members: [...three(), learner("d")] },
    says: /demo-d to join/,
    cures: {
      "other settings, for a voter that crashes on its volume": [
        {
          size: 4,
          spec: { ...plain, ...volumes("4Gi") },
          members: [...withClaims({ ...silent, pod: crashing(9) }, volumes("4Gi")), learner("d")],
        },
        "c recreate",
      ],
    },
  },
  size: {
    holdsUp: { size: 4, spec: plain, members: three() },
    says: /has its 4 members/,
    cures: {
      "other settings, for a voter that crashes on its volume": [
        {
          size: 4,
          spec: { ...plain, ...volumes("4Gi") },
          members: withClaims({ ...silent, pod: crashing(9) }, volumes("4Gi")),
        },
        "c recreate",
      ],
    },
  },
  corrupt: {
    holdsUp: { spec: { ...plain, ...volumes("4Gi") }, members: withClaims({ alarm: "corrupt" }, volumes("4Gi")) },
    says: /CORRUPT.* `kubectl etcd ctl demo alarm disarm`/,
    cures: {
      "a new member in the place of the corrupt one": [
        { spec: plain, members: three({ alarm: "corrupt" }) },
        "c replace",
      ],
    },
  },
  noSpace: {
    holdsUp: { spec: plain, members: three({ alarm: "noSpace" }) },
    says: /until the database has room.* disarms/,
    cures: roomMade({ alarm: "noSpace" }),
  },
  full: {
    holdsUp: { spec: plain, members: three(full) },
    says: /until the database of demo-c has room/,
    cures: roomMade(full),
  },
  lag: {
    holdsUp: { spec: plain, members: [of("a", { raftIndex: 9000 }), of("b", { raftIndex: 9000 }), voter("c")] },
    says: /demo-c to catch up/,
    cures: {
      "other settings for the one that is behind": [
        { spec: plain, members: [of("a", { raftIndex: 9000 }), of("b", { raftIndex: 9000 }), of("c")] },
        "c replace",
      ],
    },
  },
  preparation: {
    holdsUp: { version: "3.7.3", spec: plain, members: three().map(of36) },
    says: /snapshot of its log/,
    cures: {
      "a larger quota for a full database": [
        { version: "3.7.3", spec: quota, members: three(full).map(of36) },
        "b replace",
      ],
    },
  },
};

for (const [name, { holdsUp, says, cures }] of Object.entries(table) as [GateName, Case][])
  describe(`the gate "${name}"`, () => {
    test("holds up what can wait, and says what for", () => {
      const { waits, first } = rolled(holdsUp);
      assert.match(waits ?? first?.because ?? "nothing", says);
      assert.ok(gates[name].because.length > 10 && gates[name].cure.length > 10);
    });
    for (const [cure, [world, change]] of Object.entries(cures))
      test(`lets through ${cure}`, () => {
        const { changes, waits, first } = rolled(world);
        const [next] = changes;
        assert.equal(next && `${next.instance.member.name.replace("demo-", "")} ${next.how}`, change);
        assert.deepEqual([waits, first], [undefined, undefined]);
      });
  });

test("every gate has a cure", () => assert.deepEqual(Object.keys(table), Object.keys(gates)));

test("more room is urgent where a database is full, and waits for what etcd must be brought to where none is", () => {
  const first = (dbSize: number): string | undefined => {
    const members = ["a", "b", "c"].map((letter) =>
      of(letter, {
        version: "3.7.3",
        storage: "3.7.0",
        says: { dbSize },
        claim: {},
        pod: { version: "3.7.3", image: imageOf("3.7.3") },
      }),
    );
    return rolled({ version: "3.6.16", spec: quota, members }).first?.t;
  };
  assert.equal(first(1024), "enableDowngrade");
  assert.equal(first(2 * GiB), undefined);
});
