// What a cluster is asked for is taken back when it is of no use any more; and a view of the EtcdRestore from the past does
// nothing twice.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EtcdCluster } from "../api/etcd-cluster/etcd-cluster.ts";
import { restoreAnnotation } from "../api/etcd-cluster/restore-annotation.ts";
import { EtcdRestore } from "../api/etcd-restore/etcd-restore.ts";
import { Pod } from "../kube/objects/kinds.ts";
import { namespace } from "./testing/samples.ts";
import { Stage } from "./testing/stage.ts";

const key = { namespace, name: "demo" };

describe("the request on the cluster", () => {
  const requestOf = async (stage: Stage): Promise<string | undefined> =>
    (await stage.cluster()).metadata?.annotations?.[restoreAnnotation];

  test("names the cluster, and is taken back when the cluster has taken it up", async () => {
    await using stage = new Stage();
    stage.startOperator();
    await stage.make("cluster");
    await stage.make("restore");
    await stage.untilOver();
    const asked = stage.api.writes.find(
      ({ verb, kind, subresource }) => verb === "mergePatch" && kind === EtcdCluster.kind && subresource === "",
    );
    const request = asked?.object?.metadata?.annotations?.[restoreAnnotation]?.split("/");
    const uids = [(await stage.restore()).metadata?.uid, (await stage.cluster()).metadata?.uid];
    assert.deepEqual(request, ["demo", ...uids]);
    assert.equal(await requestOf(stage), undefined);
  });

  test("is taken back from a cluster that was made with it", async () => {
    await using stage = new Stage();
    stage.startOperator();
    await stage.make("restore", { clusterSpec: { size: 1 } });
    assert.equal((await stage.untilOver()).phase, "Succeeded");
    assert.equal(await requestOf(stage), undefined);
  });

  test("of an older release is taken back when its EtcdRestore is over, and nobody writes after that", async () => {
    await using stage = new Stage();
    await stage.make("cluster");
    await stage.make("restore");
    const { uid: clusterUid } = (await stage.cluster()).metadata ?? {};
    const { uid } = (await stage.restore()).metadata ?? {};
    const annotations = { [restoreAnnotation]: `demo/${uid}` };
    await stage.api.mergePatch(EtcdCluster, key, { metadata: { annotations } });
    const followed = { restore: { name: "demo", uid, phase: "Done" } };
    await stage.api.mergePatch(EtcdCluster, key, { status: followed }, { subresource: "status" });
    const status = { phase: "Succeeded", clusterUid, inPlace: true };
    await stage.api.mergePatch(EtcdRestore, key, { status }, { subresource: "status" });
    const life = stage.startOperator();
    await stage.pass(5_000);
    assert.equal(await requestOf(stage), undefined);
    assert.deepEqual(life.writes, ["patch EtcdCluster n/demo"]);
  });

  test("of an older release that the cluster has yet to take up is not written again", async () => {
    await using stage = new Stage();
    await stage.make("cluster", { paused: true });
    await stage.make("restore");
    const { uid: clusterUid } = (await stage.cluster()).metadata ?? {};
    const { uid } = (await stage.restore()).metadata ?? {};
    const annotations = { [restoreAnnotation]: `demo/${uid}` };
    await stage.api.mergePatch(EtcdCluster, key, { metadata: { annotations } });
    const status = { phase: "Restoring", clusterUid, inPlace: true, observedGeneration: 1 };
    await stage.api.mergePatch(EtcdRestore, key, { status }, { subresource: "status" });
    stage.startOperator();
    await stage.pass(5_000);
    assert.equal(await requestOf(stage), `demo/${uid}`);
    assert.match((await stage.status()).message ?? "", /is paused/);
  });

  test("of another EtcdRestore stays", async () => {
    await using stage = new Stage();
    stage.startOperator();
    await stage.make("cluster");
    await stage.make("restore");
    await stage.untilOver();
    const annotations = { [restoreAnnotation]: "demo/another" };
    await stage.api.mergePatch(EtcdCluster, key, { metadata: { annotations } });
    await stage.pass(15_000);
    assert.equal(await requestOf(stage), "demo/another");
  });
});

describe("an operator that starts after a restore with a view from before its end", () => {
  const kinds = [[EtcdRestore], [EtcdCluster], [Pod], [EtcdRestore, Pod], [EtcdRestore, EtcdCluster, Pod]] as const;
  for (const phase of [undefined, "Checking", "Saving", "Restoring"])
    for (const old of kinds)
      test(`of ${old.map(({ kind }) => kind).join(", ")}, as of ${phase ?? "its beginning"}, does nothing again`, async () => {
        await using stage = new Stage();
        await stage.make("cluster");
        await stage.make("restore");
        const past: (() => void)[] = [];
        const remember = (): void => {
          past.push(...old.map((kind) => stage.api.faults.showThePast({ verb: "list", kind, namespace })));
        };
        if (phase === undefined) remember();
        // At the very write, before anything else happens in that phase.
        stage.api.onWrite(({ kind, object }) => {
          // It is an EtcdRestore, as its name says.
          const isNow = kind === EtcdRestore.kind && (object as EtcdRestore).status?.phase === phase;
          if (isNow && past.length === 0) remember();
        });
        stage.startOperator();
        await stage.untilOver();
        await stage.stopOperator();
        const [jobs, seedings] = [stage.jobs.length, stage.seedings.length];
        const before = await stage.status();
        past.push(...old.map((kind) => stage.api.faults.holdWatches({ verb: "watch", kind })));
        const life = stage.startOperator();
        await stage.pass(60_000);
        assert.deepEqual([life.writes, stage.jobs.length, stage.seedings.length], [[], jobs, seedings]);
        for (const end of past) end();
        await stage.pass(15_000);
        assert.deepEqual([await stage.status(), stage.jobs.length], [before, jobs]);
      });
});
