import assert from "node:assert/strict";
import { test } from "node:test";
import type { PersistentVolume, PersistentVolumeClaim } from "kubernetes-types/core/v1.js";
import { parseQuantity, planStorage, provisioner, volumeObject } from "./plan.ts";

const claim = (over: {
  node?: string;
  volume?: string;
  storage?: string;
  provisioner?: string;
  deleted?: boolean;
}): PersistentVolumeClaim => ({
  metadata: {
    namespace: "default",
    name: "data",
    uid: "u1",
    annotations: {
      "volume.kubernetes.io/storage-provisioner": over.provisioner ?? provisioner,
      ...(over.node === undefined ? {} : { "volume.kubernetes.io/selected-node": over.node }),
    },
    ...(over.deleted === true ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {}),
  },
  spec: {
    storageClassName: "standard",
    resources: { requests: { storage: over.storage ?? "1Gi" } },
    ...(over.volume === undefined ? {} : { volumeName: over.volume }),
  },
});

const volume = (phase: string, storage = "1Gi"): PersistentVolume => {
  const made = volumeObject(
    {
      do: "provision",
      claim: { namespace: "default", name: "data", uid: "u1" },
      className: "standard",
      volume: "pvc-u1",
      node: "n1",
      bytes: parseQuantity(storage),
    },
    "/dev/loop0",
    parseQuantity(storage),
  );
  return { ...made, status: { phase } };
};

const table: { name: string; claims: PersistentVolumeClaim[]; volumes: PersistentVolume[]; plan: string[] }[] = [
  { name: "a claim that no pod uses yet waits", claims: [claim({})], volumes: [], plan: [] },
  { name: "a claim with a node gets a volume", claims: [claim({ node: "n1" })], volumes: [], plan: ["provision"] },
  {
    name: "a volume that was just made is not made again",
    claims: [claim({ node: "n1" })],
    volumes: [volume("Available")],
    plan: [],
  },
  {
    name: "a claim of a class with another provisioner is left alone",
    claims: [claim({ node: "n1", provisioner: "other" })],
    volumes: [],
    plan: [],
  },
  {
    name: "a claim that is being deleted gets nothing",
    claims: [claim({ node: "n1", deleted: true })],
    volumes: [],
    plan: [],
  },
  {
    name: "a claim that asks for more than its volume has makes it grow",
    claims: [claim({ volume: "pvc-u1", storage: "2Gi" })],
    volumes: [volume("Bound")],
    plan: ["grow"],
  },
  {
    name: "a bound claim of the right size needs nothing",
    claims: [claim({ volume: "pvc-u1" })],
    volumes: [volume("Bound")],
    plan: [],
  },
  {
    name: "a volume whose claim is gone is reclaimed",
    claims: [],
    volumes: [volume("Released")],
    plan: ["reclaim"],
  },
  {
    name: "a volume of somebody else is left alone",
    claims: [],
    volumes: [{ ...volume("Released"), metadata: { name: "pvc-u1" } }],
    plan: [],
  },
];

for (const row of table)
  test(row.name, () => {
    assert.deepEqual(
      planStorage(row.claims, row.volumes).map((action) => action.do),
      row.plan,
    );
  });

test("quantities are read as Kubernetes reads them", () => {
  assert.equal(parseQuantity("1Gi"), 2 ** 30);
  assert.equal(parseQuantity("1.5Mi"), 1.5 * 2 ** 20);
  assert.equal(parseQuantity("500M"), 5e8);
  assert.equal(parseQuantity("42"), 42);
  assert.equal(parseQuantity(undefined), 0);
});
