// Volumes that are there and are larger than the spec asks for, and how claims and backups are read.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { EtcdBackup } from "../../api/etcd-backup/etcd-backup.ts";
import type { PersistentVolumeClaim } from "../../kube/objects/kinds.ts";
import {
  cannotGrowAnnotation,
  claimLabel,
  clusterIdAnnotation,
  clusterUidAnnotation,
  homeAnnotation,
  imageAnnotation,
  peerSchemeAnnotation,
} from "../objects/claims.ts";
import { settingsAnnotation, versionAnnotation } from "../objects/member-pod.ts";
import { sampleClaim, sampleCluster, sampleClusterId } from "../testing/sample-world.ts";
import { claimProblems, inGi, leanClaim, observedClaim } from "./claims.ts";
import { lastBackupOf } from "./observe.ts";
import type { Claim } from "./world.ts";

describe("volumes do not shrink", () => {
  const found = (storage: string | undefined, ...claims: readonly Partial<Claim>[]): readonly string[] => {
    const resources = storage === undefined ? {} : { requests: { storage } };
    const cluster = sampleCluster({ spec: { pod: { persistentVolumeClaimSpec: { resources } } } });
    return claimProblems(
      cluster,
      claims.map((one, n) => sampleClaim(`demo-${n}`, one)),
    );
  };
  test("the largest one counts, and its size is said", () => {
    assert.deepEqual(found("4Gi", {}), []);
    assert.deepEqual(found("5Gi", {}), []);
    const [problem = "", ...more] = found("1Gi", {}, { requested: 6 * 2 ** 30 }, { requested: 2 ** 30 });
    assert.deepEqual(more, []);
    assert.match(problem, /requests\.storage is 1Gi, and there are volumes of 6Gi/);
  });
  test("one that is put aside, goes, or is not there yet counts for nothing", () => {
    for (const one of [{ role: "retired" }, { terminating: true }, { phase: "Pending" }, { phase: "Lost" }] as const)
      assert.deepEqual(found("1Gi", one), []);
  });
  test("nor does any where no size is asked for, or no volume", () => {
    assert.deepEqual(found(undefined, {}), []);
    assert.deepEqual(claimProblems(sampleCluster({}), [sampleClaim("demo-a")]), []);
  });
  test("sizes are written as people write them", () =>
    assert.deepEqual([2 ** 30, 3 * 2 ** 29, 5 * 2 ** 30, 2 ** 20 + 1].map(inGi), ["1Gi", "1536Mi", "5Gi", "1048577"]));
});

describe("a claim is read", () => {
  const annotations = {
    [clusterUidAnnotation]: "uid-of-demo",
    [homeAnnotation]: "shop/demo",
    [clusterIdAnnotation]: sampleClusterId,
    [versionAnnotation]: "3.6.16",
    [imageAnnotation]: "etcd:v3.6.16",
    [settingsAnnotation]: "{}",
    [peerSchemeAnnotation]: "https",
    [cannotGrowAnnotation]: "8Gi",
  };
  const whole: PersistentVolumeClaim = {
    metadata: {
      name: "demo-a",
      uid: "u",
      labels: { [claimLabel]: "retired" },
      annotations,
      deletionTimestamp: "2026-01-31T12:00:00Z",
      ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "x", uid: "y" }],
    },
    spec: { resources: { requests: { storage: "4Gi" } }, volumeName: "pv-1" },
    status: { phase: "Bound", capacity: { storage: "5Gi" } },
  };
  test("with all that is written on it, also through what the cache keeps", () => {
    for (const claim of [whole, leanClaim(whole)])
      assert.deepEqual(observedClaim(claim), {
        name: "demo-a",
        uid: "u",
        role: "retired",
        terminating: true,
        phase: "Bound",
        clusterUid: "uid-of-demo",
        hasHome: true,
        clusterId: sampleClusterId,
        release: { version: "3.6.16", image: "etcd:v3.6.16" },
        madeFrom: "{}",
        peers: "https",
        owned: true,
        requested: 4 * 2 ** 30,
        capacity: 5 * 2 ** 30,
        node: { t: "none" },
        cannotGrow: "8Gi",
      });
  });
  test("with nothing written on it", () =>
    assert.deepEqual(observedClaim({ metadata: { name: "demo-a", uid: "u" } }), {
      name: "demo-a",
      uid: "u",
      role: "current",
      terminating: false,
      phase: "Pending",
      hasHome: false,
      peers: "http",
      owned: false,
      requested: 0,
      capacity: 0,
      node: { t: "none" },
    }));
  test("with a phase of its volume, and a release that is whole", () => {
    const phaseOf = (phase: string) => observedClaim({ ...whole, status: { phase } }).phase;
    assert.deepEqual(["Bound", "Lost", "Pending", ""].map(phaseOf), ["Bound", "Lost", "Pending", "Pending"]);
    for (const name of [versionAnnotation, imageAnnotation]) {
      const { [name as keyof typeof annotations]: _, ...others } = annotations;
      assert.equal(observedClaim({ metadata: { name: "demo-a", annotations: others } }).release, undefined);
    }
  });
});

test("the newest backup is the one that was taken last, whichever EtcdBackup took it", () => {
  const backup = (name: string, path?: string, takenAt?: string): EtcdBackup =>
    ({ metadata: { name }, status: { lastBackup: { path, takenAt } } }) as EtcdBackup; // of which nothing else is read
  const [early, late] = ["2026-01-30T12:00:00Z", "2026-01-31T12:00:00Z"];
  const taken = [backup("a", "s3://b/1", early), backup("b", "s3://b/2", late), backup("c", "s3://b/3", early)];
  assert.deepEqual(lastBackupOf(taken), { by: "b", path: "s3://b/2", takenAt: late });
  assert.equal(lastBackupOf([backup("a"), backup("b", "", late), backup("c", "s3://b/3")]), undefined);
  assert.equal(lastBackupOf([]), undefined);
});
