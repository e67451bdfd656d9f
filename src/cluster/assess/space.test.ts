// What is reported about room: near the quota, in a volume without room for a second copy, and of a quota that is too large.
import assert from "node:assert/strict";
import { test } from "node:test";
import { three, voter } from "../testing/plan-table.ts";
import { sampleClaim, sampleWorld } from "../testing/sample-world.ts";
import { pressureOf, quotaToMake, spaceOf } from "./space.ts";

const GiB = 2 ** 30;

interface Room {
  readonly size: number;
  readonly quota: number;
  /** Absent: there are no volumes. */
  readonly volume?: number;
  /** What was reported before. */
  readonly before?: string;
}

const rows: [string, Room, string | undefined][] = [
  ["a file below four fifths of the quota is nothing to tell", { size: 0.79, quota: 1 }, undefined],
  ["a file above it is told", { size: 0.81, quota: 1 }, "DatabaseNearQuota"],
  [
    "what was told is told until there is more room",
    { size: 0.75, quota: 1, before: "DatabaseNearQuota" },
    "DatabaseNearQuota",
  ],
  ["and not any longer", { size: 0.69, quota: 1, before: "DatabaseNearQuota" }, undefined],
  ["a volume with room for two copies is nothing to tell", { size: 1, quota: 4, volume: 10 }, undefined],
  ["a volume without room for a second copy is told", { size: 2, quota: 4, volume: 4 }, "NoRoomToDefragment"],
  ["a quota that would leave no room is told", { size: 0.1, quota: 2, volume: 4 }, "QuotaTooLarge"],
  ["without volumes there is no such thing", { size: 0.1, quota: 2 }, undefined],
];

for (const [what, { size, quota, volume, before }, wanted] of rows)
  test(what, () => {
    const says = { dbSize: size * GiB, dbSizeQuota: quota * GiB };
    const claim = volume === undefined ? {} : { claim: { capacity: volume * GiB } };
    const condition = { type: "DiskPressure", status: "True", reason: before ?? "" };
    const status = before === undefined ? {} : { conditions: [condition] };
    assert.equal(pressureOf(sampleWorld({ members: [voter("a", { says, ...claim })], status }))?.reason, wanted);
  });

const MiB = 2 ** 20;
const claimOf = (storage: string) => ({
  pod: { persistentVolumeClaimSpec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } } } },
});
type Sample = Parameters<typeof sampleWorld>[0];

const quotas: [string, Sample, number | undefined][] = [
  ["of etcd's default without a volume", {}, undefined],
  ["of etcd's default in a volume that has room for it", { spec: claimOf("5Gi") }, undefined],
  ["that leaves room for a copy and the raft log in a smaller one", { spec: claimOf("1Gi") }, 268],
  ["of a quarter where the volume is tiny", { spec: claimOf("256Mi") }, 64],
  [
    "that was asked for, whatever fits",
    { spec: { ...claimOf("1Gi"), etcd: { quotaBackendBytes: 8 * GiB } } },
    undefined,
  ],
  [
    "that a variable sets, whatever fits",
    {
      spec: {
        pod: { ...claimOf("1Gi").pod, etcdEnv: [{ name: "ETCD_QUOTA_BACKEND_BYTES", value: "1" }] },
      },
    },
    undefined,
  ],
  [
    "that fits the volume there is while a larger one is asked for",
    { spec: claimOf("2Gi"), members: [voter("a", { claim: { capacity: GiB }, says: { dbSizeQuota: 1 } })] },
    268,
  ],
  [
    "of the others, whose database may be larger than what fits",
    { spec: claimOf("1Gi"), members: [voter("a", { says: { dbSizeQuota: 2 * GiB } })] },
    undefined,
  ],
  [
    "of the others as the status has it, while none answers",
    { spec: claimOf("1Gi"), status: { dbQuota: 500 * MiB } },
    500,
  ],
];
for (const [what, sample, wanted] of quotas)
  test(`a member is made with a quota ${what}`, () => {
    const world = sampleWorld({ members: [], ...sample });
    const quota = quotaToMake(world.cluster, world);
    assert.equal(quota === undefined ? undefined : Math.floor(quota / MiB), wanted);
  });

test("the smallest volume counts of those that members have: none that is put aside, and none whose size nobody knows", () => {
  const claims = [
    sampleClaim("demo-a", { capacity: 8 * GiB }),
    sampleClaim("demo-b", { capacity: 6 * GiB }),
    sampleClaim("demo-c", { capacity: 0 }),
    sampleClaim("demo-x", { capacity: GiB, role: "retired" }),
  ];
  assert.equal(spaceOf(sampleWorld({ members: three, change: { claims } }))?.volume, 6 * GiB);
  assert.equal(spaceOf(sampleWorld({ members: three, change: { claims: claims.slice(2) } }))?.volume, undefined);
});
