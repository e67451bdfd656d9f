// The operator is upgraded under clusters of every kind, and rolled back: what the earlier one left settled is settled for this
// one, and the other way round. The earlier one is the real one, as it was built then.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { EtcdCluster, type EtcdClusterSpec } from "../api/etcd-cluster/etcd-cluster.ts";
import { isJsonObject } from "../api/schema/complete.ts";
import { PersistentVolumeClaim, Pod, PodDisruptionBudget, Secret, Service } from "../kube/objects/kinds.ts";
import type { Kind, KubeObject } from "../kube/objects/objects.ts";
import { earlierBuild } from "./testing/earlier/load.ts";
import { type Build, presentBuild } from "./testing/operator.ts";
import { Stage } from "./testing/stage.ts";
import { signerFor } from "./testing/tls/signer.ts";

const earlier = earlierBuild();

interface Case {
  readonly what: string;
  readonly size?: number;
  readonly version?: string;
  readonly spec?: Partial<EtcdClusterSpec>;
  /** An edit of the spec once it is whole. */
  readonly edit?: object;
}

const volume = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
const resources = { requests: { cpu: "100m", memory: "128Mi" }, limits: { memory: "256Mi" } };

const cases: readonly Case[] = [
  { what: "plain" },
  { what: "of one member", size: 1 },
  { what: "of five", size: 5 },
  { what: "of etcd 3.7", version: "3.7.3" },
  { what: "of etcd 3.5", version: "3.5.35" },
  { what: "of etcd 3.4", version: "3.4.45" },
  { what: "of etcd 3.2", version: "3.2.13" },
  { what: "without a version", version: "" },
  { what: "with made certificates", spec: { TLS: { auto: true } } },
  { what: "with made certificates and etcd 3.4", version: "3.4.45", spec: { TLS: { auto: true } } },
  { what: "with volumes", spec: { pod: { persistentVolumeClaimSpec: volume } } },
  {
    what: "with volumes, certificates and resources",
    spec: { TLS: { auto: true }, pod: { persistentVolumeClaimSpec: volume, resources } },
  },
  {
    what: "with settings of many kinds",
    spec: {
      etcd: { quotaBackendBytes: 2 ** 30, autoCompactionRetention: "1", extraArgs: ["--heartbeat-interval=200"] },
      pod: {
        labels: { team: "storage" },
        annotations: { "example.com/note": "kept" },
        antiAffinity: true,
      },
    },
  },
  { what: "that is paused", edit: { paused: true } },
  { what: "whose version is refused", edit: { version: "3.4.45" } },
  { what: "whose spec is wrong", edit: { etcd: { extraArgs: ["--no-such-flag=1"] } } },
  { what: "that has grown", size: 1, edit: { size: 3 } },
  { what: "changed by hand", spec: { updateStrategy: "OnDelete" } },
];

/** All that Kubernetes holds of a cluster, by kind and name. */
async function objectsIn({ api }: Stage): Promise<Map<string, KubeObject>> {
  const lists = await Promise.all(
    [EtcdCluster, Pod, PersistentVolumeClaim, Service, PodDisruptionBudget, Secret].map(
      async (kind: Kind<KubeObject>) =>
        (await api.list(kind)).items.map((object) => [`${kind.kind} ${object.metadata?.name}`, object] as const),
    ),
  );
  return new Map(lists.flat());
}

/** The fields that differ, as in `Pod metadata.uid`. An object that came or went differs in its uid. */
function changesBetween(before: ReadonlyMap<string, KubeObject>, after: ReadonlyMap<string, KubeObject>): string[] {
  const changed = [...new Set([...before.keys(), ...after.keys()])].flatMap((name) => {
    const paths = pathsBetween(before.get(name), after.get(name), "");
    return paths.map((field) => `${name.split(" ")[0]} ${field}`);
  });
  return [...new Set(changed)].filter((one) => !bookkeeping.test(one)).toSorted();
}

const bookkeeping = / metadata\.(resourceVersion|managedFields|generation)/;

function pathsBetween(a: unknown, b: unknown, at: string): string[] {
  if (isDeepStrictEqual(a, b)) return [];
  if (Array.isArray(a) && Array.isArray(b) && a.length === b.length)
    return a.flatMap((one, index) => pathsBetween(one, b[index], `${at}[]`));
  if (!isJsonObject(a) || !isJsonObject(b)) return [at];
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((name) =>
    pathsBetween(a[name], b[name], at === "" ? name : `${at}.${name.replace("etcd.database.coreos.com/", "")}`),
  );
}

interface Done {
  readonly changes: readonly string[];
  readonly events: readonly string[];
  /** To the list of etcd's members and the like. */
  readonly ofEtcd: readonly string[];
  /** After the first minute. */
  readonly later: readonly string[];
}

/** What one operator process does in ten minutes. */
async function doneBy(build: Build, stage: Stage): Promise<Done> {
  const before = await objectsIn(stage);
  const events = stage.recorded.length;
  const life = stage.startOperator({ t: "lives" }, 0, build);
  await stage.pass(60_000);
  const early = life.writes.length;
  await stage.pass(540_000);
  await stage.stopOperator();
  return {
    changes: changesBetween(before, await objectsIn(stage)),
    events: stage.recorded.slice(events).map(({ reason, note }) => `${reason}: ${note}`),
    ofEtcd: life.writes.filter((write) => !/^(create|replace|apply|patch|delete) /.test(write)),
    later: life.writes.slice(early),
  };
}

/** What an upgrade from then writes once, and why. Nothing of it restarts or replaces anything. */
const notedByUpgrade: Readonly<Record<string, string>> = {
  "EtcdCluster status.highestRevision": "new field",
  "EtcdCluster status.certificates[].notBefore": "new field",
  "EtcdCluster status.conditions[].message": "sizes in words in DiskPressure",
  "EtcdCluster status.conditions[].lastUpdateTime": "with the message",
  "PersistentVolumeClaim metadata.annotations.cluster": "the EtcdCluster that a volume belongs to",
  "Pod metadata.annotations.anchors-client": "which CA a member was started with",
  "Pod metadata.annotations.anchors-peer": "the same for its peers",
  "Pod metadata.annotations.settings": "digests in place of the values of etcdEnv",
};

/** What a rollback to then writes: it does not know some fields, and says some things in other words. */
const notedByRollback: Readonly<Record<string, string>> = {
  "EtcdCluster status.highestRevision": "removed",
  "EtcdCluster status.certificates[].notBefore": "removed",
  "EtcdCluster status.conditions[].message": "sizes in bytes in DiskPressure",
  "EtcdCluster status.conditions[].lastUpdateTime": "with the message",
};

const seen = { upgrade: new Set<string>(), rollback: new Set<string>() };

async function upgradeDoes(stage: Stage): Promise<Done> {
  const done = await doneBy(presentBuild, stage);
  for (const change of done.changes) seen.upgrade.add(change);
  return { ...done, changes: done.changes.filter((change) => !(change in notedByUpgrade)) };
}

async function rollbackDoes(stage: Stage): Promise<Done> {
  const done = await doneBy(earlier, stage);
  for (const change of done.changes) seen.rollback.add(change);
  return { ...done, changes: done.changes.filter((change) => !(change in notedByRollback)) };
}

const nothing: Done = { changes: [], events: [], ofEtcd: [], later: [] };

async function settledBy(build: Build, { size = 3, version, spec, edit = {} }: Case): Promise<Stage> {
  const stage = new Stage();
  stage.startOperator({ t: "lives" }, 0, build);
  await stage.createWhole(size, version, spec);
  await stage.edit(edit);
  await stage.pass(60_000);
  await stage.stopOperator();
  return stage;
}

describe(`the operator of ${earlier.commit.slice(0, 8)} is upgraded to this one`, () => {
  for (const one of cases)
    test(`a settled cluster ${one.what} is left as it is, and by a rollback`, async () => {
      await using stage = await settledBy(earlier, one);
      assert.deepEqual(await upgradeDoes(stage), nothing, "upgraded");
      assert.deepEqual(await rollbackDoes(stage), nothing, "rolled back");
    });
});

describe(`this operator is rolled back to that of ${earlier.commit.slice(0, 8)}`, () => {
  for (const one of cases.filter(({ version }) => version !== ""))
    test(`a settled cluster ${one.what} is left as it is, and by the next upgrade`, async () => {
      await using stage = await settledBy(presentBuild, one);
      assert.deepEqual(await rollbackDoes(stage), nothing, "rolled back");
      assert.deepEqual(await upgradeDoes(stage), nothing, "upgraded again");
    });

  test("a cluster without a version, of which the earlier one wants another, serves and is healed in its own", async () => {
    await using stage = await settledBy(presentBuild, { what: "", version: "" });
    const { changes, events, ...done } = await rollbackDoes(stage);
    assert.deepEqual(done, { ofEtcd: [], later: [] });
    assert.ok(
      changes.every((change) => change.startsWith("EtcdCluster status.")),
      changes.join(", "),
    );
    assert.match(events.join(" "), /^Version Refused: Members run 3\.6\.16, and 3\.2\.13 is wanted\./);
    stage.startOperator({ t: "lives" }, 0, earlier);
    const lost = await stage.deletePod("follower");
    await stage.until("another takes its place", async () => {
      const names = await stage.podNames();
      return (
        names.length === 3 &&
        !names.includes(lost) &&
        stage.kubelet.etcd?.members.every(({ learner }) => !learner) === true
      );
    });
    await stage.stopOperator();
    stage.startOperator();
    await stage.untilSettled(3);
    assert.equal((await stage.cluster()).status?.currentVersion, "3.6.16");
  });
});

const withVariables: Case = {
  what: "with variables",
  spec: { pod: { etcdEnv: [{ name: "ETCD_MAX_REQUEST_BYTES", value: "2097152" }] } },
};

test("a cluster with variables is left as it is; a rollback, which knows no digests, replaces its members in turn", async () => {
  await using stage = await settledBy(earlier, withVariables);
  assert.deepEqual(await upgradeDoes(stage), nothing);
  const before = await stage.podNames();
  stage.startOperator({ t: "lives" }, 0, earlier);
  await stage.until("all are replaced", async () => (await stage.podNames()).every((name) => !before.includes(name)));
  await stage.untilSettled(3);
  await stage.stopOperator();
  assert.deepEqual(await upgradeDoes(stage), nothing);
});

/** The same code under another version. */
const nextBuild: Build = { ...presentBuild, image: "etcd-operator:next" };

describe("this operator is upgraded to the same code under another version, in another image", () => {
  for (const one of [...cases, withVariables])
    test(`a settled cluster ${one.what} costs no write at all`, async () => {
      await using stage = await settledBy(presentBuild, one);
      assert.deepEqual(await doneBy(nextBuild, stage), nothing);
    });
});

/** The API server has the CRDs of then: it drops the fields that those do not have. */
const onOlderCrds: Build = {
  ...presentBuild,
  api: (api) => ({
    ...api,
    mergePatch: (kind, key, patch, options) =>
      api.mergePatch(kind, key, kind.kind === EtcdCluster.kind ? pruned(patch) : patch, options),
  }),
};

function pruned(patch: object): object {
  const newFields = new Set(["highestRevision", "notBefore"]);
  return JSON.parse(
    JSON.stringify(patch, (name, value: unknown) => (newFields.has(name) ? undefined : value)),
  ) as object;
}

describe("this operator with the CRDs of the one before it", () => {
  for (const one of cases)
    test(`leaves a settled cluster ${one.what} as it is`, async () => {
      await using stage = await settledBy(earlier, one);
      const { changes, later, ...done } = await doneBy(onOlderCrds, stage);
      assert.deepEqual(done, { events: [], ofEtcd: [] });
      assert.deepEqual(
        changes.filter((change) => !(change in notedByUpgrade)),
        [],
      );
      // It asks for a new field of each certificate whenever it looks at the cluster, and gets none.
      const asksAgain = one.spec?.TLS?.auto === true;
      assert.deepEqual([...new Set(later)], asksAgain ? ["patch EtcdCluster default/demo"] : []);
      assert.ok(later.length <= 540 / 10, `${later.length} writes in nine minutes`);
    });
});

/** What is under way when the operator is replaced. */
interface UnderWay {
  readonly what: string;
  readonly size?: number;
  readonly version?: string;
  readonly spec?: Partial<EtcdClusterSpec>;
  readonly begins: (stage: Stage) => Promise<unknown>;
  /** How many members there are in the end, if not three. */
  readonly ends?: number;
  /** The write after which it is replaced: each so manieth, or with MATRIX=all each. */
  readonly every: number;
}

const onVolumes = { pod: { persistentVolumeClaimSpec: volume } };
const underWay: readonly UnderWay[] = [
  { what: "creation", size: 0, begins: (stage) => stage.create(3), every: 3 },
  {
    what: "creation with certificates and volumes",
    size: 0,
    begins: (stage) => stage.create(3, "3.6.16", { TLS: { auto: true }, ...onVolumes }),
    every: 13,
  },
  { what: "growth", size: 1, begins: (stage) => stage.resize(3), every: 3 },
  { what: "shrinking", size: 3, ends: 1, begins: (stage) => stage.resize(1), every: 2 },
  { what: "the replacement of a member", begins: (stage) => stage.deletePod("leader"), every: 2 },
  { what: "an upgrade of etcd", version: "3.5.35", begins: (stage) => stage.edit({ version: "3.6.16" }), every: 9 },
  {
    what: "an upgrade of etcd with volumes and certificates",
    version: "3.6.16",
    spec: { TLS: { auto: true }, ...onVolumes },
    begins: (stage) => stage.edit({ version: "3.7.3" }),
    every: 11,
  },
  { what: "a downgrade of etcd", version: "3.7.3", begins: (stage) => stage.edit({ version: "3.6.16" }), every: 11 },
  { what: "a change of settings", begins: (stage) => stage.edit({ etcd: { snapshotCount: 5000 } }), every: 11 },
  {
    what: "a change of settings with volumes",
    spec: onVolumes,
    begins: (stage) => stage.edit({ etcd: { snapshotCount: 5000 } }),
    every: 9,
  },
  { what: "turning on certificates", begins: (stage) => stage.edit({ TLS: { auto: true } }), every: 60 },
  {
    what: "another CA",
    spec: { TLS: { auto: true } },
    begins: (stage) => stage.rotate("once"),
    every: 150,
  },
];

/** The first process ends after its write of this number, and the second finishes; false: it had finished before. */
async function finishedBy([first, second]: readonly [Build, Build], one: UnderWay, after: number): Promise<boolean> {
  const { size = 3, version, spec, ends = 3 } = one;
  await using stage = new Stage({ signer: signerFor() });
  if (size > 0) {
    stage.startOperator({ t: "lives" }, 0, first);
    await stage.createWhole(size, version, spec);
    await stage.stopOperator();
  }
  const life = stage.startOperator({ t: "dies", after }, 0, first);
  await one.begins(stage);
  await stage.untilOverOrWhole(ends);
  const { isOver } = life;
  await stage.stopOperator();
  stage.startOperator({ t: "lives" }, 0, second);
  await stage.untilWhole(ends);
  await stage.pass(30_000);
  // It serves whoever the Service sends there.
  for (const who of [0, 1, 2]) assert.ok(await stage.write(who), `client ${who} cannot write`);
  return isOver;
}

const isMatrix = process.env["MATRIX"] === "all";

describe("an operator that is replaced half way", () => {
  const changes: readonly (readonly [string, readonly [Build, Build]])[] = [
    ["by an upgrade", [earlier, presentBuild]],
    ["by a rollback", [presentBuild, earlier]],
  ];
  for (const [how, builds] of changes)
    for (const one of underWay)
      test(`${how} in ${one.what} has its work finished`, async () => {
        const every = isMatrix ? 1 : one.every;
        const from = Math.ceil(every / 2);
        let after = from;
        while (await finishedBy(builds, one, after)) after += every;
        assert.ok(after > from, "nothing was half way");
      });
});

test("every change that is expected is seen, so that none is expected in vain", () => {
  assert.deepEqual(
    [...seen.upgrade].filter((change) => change in notedByUpgrade).toSorted(),
    Object.keys(notedByUpgrade).toSorted(),
  );
  assert.deepEqual(
    [...seen.rollback].filter((change) => change in notedByRollback).toSorted(),
    Object.keys(notedByRollback).toSorted(),
  );
});
