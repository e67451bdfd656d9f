// Backups with the clusters that they are of, and with real workers on a store in memory: clusters are made again under
// their name, members lag or are alone, clocks differ, two namespaces share a path. Whatever happens, what was proved of a
// cluster stays until a newer one of the same cluster is proved, and nobody gets what is not theirs.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { EtcdBackup } from "../api/etcd-backup/etcd-backup.ts";
import { EtcdCluster } from "../api/etcd-cluster/etcd-cluster.ts";
import { EtcdError } from "../etcd/errors.ts";
import type { EtcdMember } from "../etcd/member.ts";
import { FakeEtcd } from "../etcd/testing/fake-etcd.ts";
import { silent } from "../kube/process/log.ts";
import { systemClock } from "../kube/clock.ts";
import { MemoryStore } from "../store/testing/memory-store.ts";
import { chooseKey } from "../worker/jobs/kept/choose.ts";
import { parseMetadata, type Metadata } from "../worker/jobs/kept/metadata.ts";
import { WorkerFailure } from "../worker/program/failure.ts";
import type { JobContext } from "../worker/program/job-context.ts";
import { key, Stage } from "./testing/stage.ts";

const url = "http://m0.demo.default.svc:2379";
const path = "etcd/backup";
const maxBackups = 2;
const theirs = { namespace: "other", name: key.name };

type Happening =
  | { readonly t: "write"; readonly keys: number }
  | { readonly t: "backup" }
  | { readonly t: "lag"; readonly by: number }
  | { readonly t: "alone" }
  | { readonly t: "clock"; readonly hours: number }
  | { readonly t: "again" }
  | { readonly t: "others" }
  | { readonly t: "release" };

const happenings: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ t: "backup" as const }) },
  { weight: 2, arbitrary: fc.record({ t: fc.constant("write" as const), keys: fc.integer({ min: 1, max: 5 }) }) },
  fc.record({ t: fc.constant("lag" as const), by: fc.integer({ min: 0, max: 4 }) }),
  fc.constant({ t: "alone" as const }),
  fc.record({ t: fc.constant("clock" as const), hours: fc.integer({ min: -5, max: 5 }) }),
  fc.constant({ t: "again" as const }),
  fc.constant({ t: "others" as const }),
  fc.constant({ t: "release" as const }),
);

/** One etcd after another under the same name, and what is wrong with the member that answers. */
class Play {
  readonly stage = new Stage();
  readonly store = new MemoryStore(() => this.stage.now());
  skewHours = 0;
  #lag = 0;
  #isAlone = false;
  #made = 0;
  #asked = 0;
  #etcd = this.#makeEtcd();
  /** Revisions that were proved, by cluster id. */
  readonly proved = new Map<string, number[]>();
  /** When the last snapshot was taken, by the clock of its worker. */
  #takenAt = 0;
  readonly released = new Set<string>();

  #makeEtcd(): FakeEtcd {
    this.#made += 1;
    return new FakeEtcd(
      { name: "m0", peerUrl: "http://m0.fake:2380", clientUrl: url },
      { token: `${this.#made}`, now: () => this.stage.clock.now() },
    );
  }

  async begin(): Promise<void> {
    this.stage.workers.world = {
      store: this.store,
      memberAt: () => this.#member(),
      skewMs: () => this.skewHours * 3600_000,
    };
    this.stage.startOperator();
    await this.#makeCluster();
    await this.write(6);
    await this.stage.create({
      etcdEndpoints: null as never,
      clusterRef: { name: "demo" },
      backupPolicy: { schedule: "0 0 1 1 *", maxBackups },
    });
  }

  async #makeCluster(): Promise<void> {
    const metadata = { namespace: key.namespace, name: "demo" };
    await this.stage.api.create(EtcdCluster, { metadata, spec: { size: 1 } });
    const status = { clientEndpoints: [url] };
    await this.stage.api.mergePatch(EtcdCluster, metadata, { status }, { subresource: "status" });
  }

  #member(): EtcdMember {
    const real = this.#etcd.at(url);
    const [lag, isAlone] = [this.#lag, this.#isAlone];
    const changes: Partial<EtcdMember> = {
      status: async (call) => {
        const status = await real.status(call);
        return { ...status, revision: Math.max(1, status.revision - lag) };
      },
      snapshot: async (onChunk, call) => {
        this.#takenAt = this.stage.now() + this.skewHours * 3600_000;
        return await real.snapshot(onChunk, call);
      },
      ...(isAlone && {
        health: async () => ({ t: "unhealthy", error: new EtcdError("timeout", "range", "timed out") }) as const,
      }),
    };
    return new Proxy(real, { get: (target, name) => Reflect.get({ ...changes }, name) ?? Reflect.get(target, name) });
  }

  async write(keys: number): Promise<void> {
    for (let n = 0; n < keys; n += 1) await this.#etcd.at(url).put(`key/${n}`, "value");
  }

  async happens(happening: Happening): Promise<void> {
    switch (happening.t) {
      case "write":
        return await this.write(happening.keys);
      case "lag":
        this.#lag = happening.by;
        return;
      case "alone":
        this.#isAlone = !this.#isAlone;
        return;
      case "clock":
        this.skewHours = happening.hours;
        return;
      case "again":
        await this.stage.api.delete(EtcdCluster, { namespace: key.namespace, name: "demo" });
        this.#etcd = this.#makeEtcd();
        await this.#makeCluster();
        return;
      case "others":
        return this.#storeTheirs();
      case "release": {
        const problem = await this.stage.condition("Problem");
        const at = / releaseBefore to (\S+?):/.exec(problem?.message ?? "")?.[1];
        if (at === undefined) return;
        for (const one of this.backups()) if (momentOf(one) < Date.parse(at)) this.released.add(one.key);
        return await this.stage.edit({ backupPolicy: { releaseBefore: at } });
      }
      case "backup":
        return await this.backup();
    }
  }

  /** Another namespace uses the same path: an object, and an upload that is under way. */
  #storeTheirs(): void {
    const time = new Date(this.stage.now()).toISOString();
    const stamp = time.slice(0, 19).replace("T", "-");
    const made = `${path}_v999_${stamp}`;
    const [one] = this.backups();
    if (one === undefined || this.store.objects.has(made)) return;
    const cluster = { namespace: "other", name: "demo", uid: "theirs" };
    const metadata = {
      ...one,
      key: made,
      owner: theirs,
      cluster,
      clusterId: "theirs",
      revision: 999,
      snapshotAt: time,
    };
    this.store.objects.set(made, { bytes: Buffer.from("theirs"), modified: this.stage.now() });
    this.store.objects.set(`${made}.json`, { bytes: Buffer.from(JSON.stringify(metadata)), modified: 0 });
    const upload = `${path}_v2_v1_${stamp}`;
    const claim = { formatVersion: 1, key: upload, unfinished: true, owner: theirs };
    this.store.leftovers.push(upload);
    this.store.objects.set(`${upload}.json`, { bytes: Buffer.from(JSON.stringify(claim)), modified: 0 });
  }

  async backup(): Promise<void> {
    const uploads = this.store.leftovers.length;
    const own = this.#keysOf(key.namespace);
    const others = this.#keysOf(theirs.namespace);
    const was = (await this.stage.status()).history?.length ?? 0;
    const first = (await this.stage.status()).history?.[0]?.id;
    this.#asked += 1;
    await this.stage.pass(1_000);
    await this.stage.ask(`${this.#asked}`);
    await this.stage.until("a backup", async () => {
      const { history = [], run } = await this.stage.status();
      return run === undefined && (history.length > was || history[0]?.id !== first);
    });
    const { succeeded, Reason } = await this.stage.status();
    assert.ok(succeeded, Reason);
    assert.equal(this.store.leftovers.length, uploads, "uploads of others go on");
    assert.deepEqual(this.#keysOf(theirs.namespace), others, "backups of others stay");
    if (this.#isAlone)
      for (const one of own) assert.ok(this.store.objects.has(one), `${one} went for one of a member without a quorum`);
    await this.#assertKept();
    await this.#assertChoice();
  }

  /** The best proved backups of each etcd are there, unless a person has given them up, and doubts are reported. */
  async #assertKept(): Promise<void> {
    const own = this.backups();
    const { lastBackup } = await this.stage.status();
    const last = own.find((one) => lastBackup?.path === `bucket/${one.key}`);
    assert.ok(last, "the last backup is there");
    assert.ok(
      momentOf(last) >= this.#takenAt && momentOf(last) >= Date.parse(last.takenAt),
      "its time is a later bound",
    );
    this.proved.set(last.clusterId, [...(this.proved.get(last.clusterId) ?? []), last.revision]);
    for (const [id, revisions] of this.proved) {
      if (this.released.size > 0) continue;
      const left = own.filter((one) => one.clusterId === id).map(({ revision }) => revision);
      assert.deepEqual(best(left), best(revisions), `of ${id} the best are gone: ${JSON.stringify(own)}`);
    }
    const counted = own.filter((one) => !this.released.has(one.key));
    const isDoubtful = counted.some((one) => one.clusterId !== last.clusterId || one.revision > last.revision);
    const problem = await this.stage.condition("Problem");
    assert.equal(problem?.reason, isDoubtful || this.#isAlone ? "PruningStopped" : "None");
  }

  /** By EtcdBackup: one of its own, the best of its cluster; or none, in words. Never from after the time that was asked for. */
  async #assertChoice(): Promise<void> {
    const before = new Date(this.stage.now()).toISOString();
    for (const limit of [{}, { before }]) {
      const choice = { t: "newest", path, owner: key, ...limit } as const;
      const chosen = await chooseKey(choice, this.store, this.#reader()).catch((error: unknown) => {
        assert.ok(error instanceof WorkerFailure, String(error));
        return undefined;
      });
      const own = this.backups();
      const isOne = new Set(own.map(({ clusterId }) => clusterId)).size === 1;
      if (chosen === undefined) {
        assert.ok(!isOne || "before" in limit, "there is no doubt about which one is meant");
        continue;
      }
      const found = own.find((one) => one.key === chosen);
      assert.ok(found, `${chosen} is not ours`);
      if ("before" in limit) assert.ok(momentOf(found) < Date.parse(before), `${chosen} is from after ${before}`);
      else {
        assert.ok(isOne, "there was a choice between clusters");
        assert.equal(found.revision, Math.max(...own.map(({ revision }) => revision)));
      }
    }
  }

  #reader(): JobContext {
    return {
      log: silent,
      clock: systemClock,
      signal: new AbortController().signal,
      time: this.stage.now,
      openStore: async () => this.store,
      members: { at: () => this.#member() },
      etcdutl: "",
      scratch: "",
      scratchBytes: 0,
      restoring: "allowed",
      place: () => ({ address: "", search: [] }),
    };
  }

  #described(): Metadata[] {
    return [...this.store.objects].flatMap(([at, { bytes }]) => {
      const found = at.endsWith(".json") ? parseMetadata(Buffer.from(bytes).toString()) : undefined;
      return found === undefined || !this.store.objects.has(found.key) ? [] : [found];
    });
  }

  backups = (): Metadata[] => this.#described().filter(({ owner }) => owner?.namespace === key.namespace);

  #keysOf = (namespace: string): string[] =>
    this.#described()
      .filter(({ owner }) => owner?.namespace === namespace)
      .map((one) => one.key);
}

const momentOf = ({ snapshotAt, takenAt }: Metadata): number => Date.parse(snapshotAt ?? takenAt);

const best = (revisions: readonly number[]): number[] => revisions.toSorted((a, b) => b - a).slice(0, maxBackups);

async function play(script: readonly Happening[]): Promise<void> {
  const play = new Play();
  await using _stage = play.stage;
  await play.begin();
  for (const happening of script) await play.happens(happening);
  assert.ok(await play.stage.api.get(EtcdBackup, key));
}

const backup: Happening = { t: "backup" };

test("a cluster that is made again, a lagging member, one that is alone, others at the same path, other clocks", async () => {
  const scripts: readonly (readonly Happening[])[] = [
    [backup, { t: "write", keys: 2 }, backup, { t: "again" }, backup, backup, backup, { t: "release" }, backup],
    [backup, { t: "write", keys: 2 }, backup, { t: "lag", by: 4 }, backup, backup, backup],
    [backup, { t: "alone" }, backup, backup, backup, { t: "alone" }, backup],
    [backup, { t: "others" }, { t: "write", keys: 1 }, backup, backup],
    [{ t: "clock", hours: 3 }, backup, { t: "write", keys: 1 }, backup, { t: "clock", hours: -3 }, ...writes(4)],
  ];
  for (const script of scripts) await play(script);
});

function writes(times: number): Happening[] {
  return Array.from({ length: times }, (): Happening[] => [{ t: "write", keys: 1 }, backup]).flat();
}

test("what was proved stays until more is proved, whatever happens", { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(happenings, { minLength: 4, maxLength: 14 }), async (script) =>
      play([backup, ...script]),
    ),
    { numRuns: 20, endOnFailure: true },
  );
});
