// Restores in place with the clusters that they are for, through generated histories: EtcdRestores are deleted half way and
// brought back without their status, quotas come and go, operators die. What serves is replaced only when a person has asked
// for it and the first member will be admitted; then the cluster gets there, and nobody sees a revision twice.
// PROPERTY_RUNS=1000 plays that many new histories.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { EtcdCluster } from "../api/etcd-cluster/etcd-cluster.ts";
import { EtcdRestore } from "../api/etcd-restore/etcd-restore.ts";
import { getOrUndefined, unlessNotFound } from "../kube/client/get-or-undefined.ts";
import type { FinishedCall } from "../kube/testing/fake-api/calls.ts";
import { repeatAnnotation } from "../restore/plan/gates.ts";
import { volumesOf } from "./testing/happenings.ts";
import { backUp, bringAllBack, isOver, restoreInPlace } from "./testing/people.ts";
import { key, Stage } from "./testing/stage.ts";

type Happening =
  | { readonly t: "write"; readonly times: number }
  | { readonly t: "backUp" }
  /** By a person, who confirms it where that is asked for. */
  | { readonly t: "restore" }
  /** Somebody deletes the EtcdRestore, however far it is; a tool makes it again as it was, without its status. */
  | { readonly t: "deleteRestore" }
  | { readonly t: "bringBack" }
  /** Together with the cluster, from a backup of the namespace. */
  | { readonly t: "bringAllBack" }
  | { readonly t: "quota"; readonly of: "seed" | "claims" }
  | { readonly t: "allow" }
  | { readonly t: "crash" };

interface Step {
  readonly happening: Happening;
  readonly ms: number;
}

interface History {
  readonly size: number;
  readonly volumes: boolean;
  readonly steps: readonly Step[];
}

const steps: fc.Arbitrary<Step> = fc.record({
  happening: fc.oneof(
    fc.record({ t: fc.constant("write" as const), times: fc.integer({ min: 1, max: 5 }) }),
    fc.constant({ t: "backUp" as const }),
    { weight: 3, arbitrary: fc.constant({ t: "restore" as const }) },
    { weight: 2, arbitrary: fc.constant({ t: "deleteRestore" as const }) },
    { weight: 2, arbitrary: fc.constant({ t: "bringBack" as const }) },
    fc.constant({ t: "bringAllBack" as const }),
    fc.record({ t: fc.constant("quota" as const), of: fc.constantFrom("seed" as const, "claims" as const) }),
    fc.constant({ t: "allow" as const }),
    fc.constant({ t: "crash" as const }),
  ),
  ms: fc.constantFrom(0, 1_000, 2_500, 6_000, 30_000),
});

const histories: fc.Arbitrary<History> = fc.record({
  size: fc.constantFrom(1, 3),
  volumes: fc.boolean(),
  steps: fc.array(steps, { minLength: 3, maxLength: 10 }),
});

class Play {
  readonly stage = new Stage({ controllers: "all" });
  readonly #size: number;
  readonly #volumes: boolean;
  readonly #quotas = new Map<string, () => void>();
  /** The uids of EtcdRestores: those that a tool has made, those that clusters follow, those that came to their end. */
  readonly #broughtBack = new Set<string>();
  readonly #confirmed = new Set<string>();
  readonly #begun = new Set<string>();
  readonly #ended = new Set<string>();
  #highest = 0;
  #clusterId = "";
  readonly #failures: string[] = [];

  constructor({ size, volumes }: History) {
    this.#size = size;
    this.#volumes = volumes;
    this.stage.watch.allowAbsence();
    this.stage.api.onWrite((call) => this.#heard(call));
  }

  #heard({ kind, object }: FinishedCall): void {
    if (kind !== EtcdCluster.kind || object === undefined) return;
    // The server keeps them under this kind.
    const { uid = "", phase } = (object as EtcdCluster).status?.restore ?? {};
    if (phase === "Done") this.#ended.add(uid);
    if (phase !== "Stopping" || this.#begun.has(uid)) return;
    this.#begun.add(uid);
    if (this.#quotas.size > 0) this.#failures.push("members are stopped, and the first one will not be admitted");
    if (this.#ended.size > 0 && this.#broughtBack.has(uid) && !this.#confirmed.has(uid))
      this.#failures.push("an EtcdRestore that a tool brought back replaces newer data");
  }

  async play({ steps }: History): Promise<void> {
    const { stage } = this;
    stage.startOperator();
    await stage.createWhole(this.#size, "3.6.16", this.#volumes ? { pod: volumesOf("1Gi") } : {});
    for (let n = 0; n < 5; n += 1) await stage.write();
    await backUp(stage);
    await this.#pass(20_000);
    for (const { happening, ms } of steps) {
      await this.#happens(happening);
      await this.#pass(ms);
    }
    await this.#comeToRest();
  }

  async #happens(happening: Happening): Promise<void> {
    const { stage } = this;
    switch (happening.t) {
      case "write":
        for (let n = 0; n < happening.times; n += 1) await stage.write();
        return;
      // One that replaces the backup which a restore has proved ends that restore, in a sentence, with no members.
      case "backUp":
        if (await this.#isIdle()) await backUp(stage);
        return;
      case "restore":
        await restoreInPlace(stage);
        await this.#confirm();
        return;
      case "deleteRestore":
        await stage.api.delete(EtcdRestore, key).catch(unlessNotFound);
        return;
      case "bringBack": {
        const before = await this.#restore();
        if (before !== undefined && !isOver(before)) return;
        await restoreInPlace(stage);
        this.#broughtBack.add((await this.#restore())?.metadata?.uid ?? "");
        return;
      }
      case "bringAllBack": {
        const before = await this.#restore();
        // Without volumes there is no data to come back.
        if (!this.#volumes || before === undefined || !isOver(before)) return;
        await bringAllBack(stage, before);
        this.#broughtBack.add((await this.#restore())?.metadata?.uid ?? "");
        return;
      }
      case "quota":
        if (!this.#quotas.has(happening.of)) this.#quotas.set(happening.of, this.#refusal(happening.of));
        return;
      case "allow":
        this.#allow();
        return;
      case "crash":
        await stage.stopOperator();
        stage.startOperator();
    }
  }

  #refusal(of: "seed" | "claims"): () => void {
    if (of === "claims" && this.#volumes) return this.stage.rules.useUp("claims");
    const words = "exceeded quota: compute, requested: limits.cpu=9, used: limits.cpu=3, limited: limits.cpu=4";
    return this.stage.rules.forbid(
      (verb, kind, object) =>
        verb === "create" && kind.plural === "pods" && JSON.stringify(object).includes('"name":"restore"'),
      words,
    );
  }

  #allow(): void {
    for (const end of this.#quotas.values()) end();
    this.#quotas.clear();
  }

  #restore = (): Promise<EtcdRestore | undefined> => getOrUndefined(this.stage.api, EtcdRestore, key);

  /** A person who has asked for it means it. */
  async #confirm(): Promise<void> {
    const uid = (await this.#restore())?.metadata?.uid ?? "";
    if (uid === "" || this.#broughtBack.has(uid)) return;
    this.#confirmed.add(uid);
    const annotations = { [repeatAnnotation]: uid };
    await this.stage.api.mergePatch(EtcdRestore, key, { metadata: { annotations } });
  }

  async #pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 500) {
      await this.stage.pass(Math.min(500, left));
      await this.stage.write();
      this.#look();
    }
  }

  #look(): void {
    const { etcd } = this.stage.kubelet;
    if (etcd !== undefined) {
      const { revision } = etcd.store;
      if (etcd.clusterId !== this.#clusterId)
        assert.ok(revision > this.#highest, `revision ${revision} after ${this.#highest}`);
      this.#clusterId = etcd.clusterId;
      this.#highest = Math.max(this.#highest, revision);
    }
    assert.deepEqual(this.#failures, []);
  }

  /** Whatever its annotations still ask for. */
  async #isReady(): Promise<boolean> {
    const { stage } = this;
    const members = stage.kubelet.etcd?.members ?? [];
    const isWhole = members.length === this.#size && members.every(({ learner }) => !learner);
    return isWhole && (await stage.pods()).length === this.#size && (await stage.condition("Ready"))?.status === "True";
  }

  /** No restore is under way, unless it waits for a person. */
  async #isIdle(): Promise<boolean> {
    const restore = await this.#restore();
    const isStalled = restore?.status?.conditions?.some(({ type, status }) => type === "Stalled" && status === "True");
    if (restore !== undefined && !isOver(restore) && isStalled !== true) return false;
    return ((await this.stage.cluster()).status?.restore?.phase ?? "Done") === "Done";
  }

  async #comeToRest(): Promise<void> {
    const { stage } = this;
    this.#allow();
    const isAtRest = async (): Promise<boolean> => (await this.#isIdle()) && (await this.#isReady());
    for (let left = 600; !(await isAtRest()); left -= 1) {
      if (left === 0) assert.fail(`it does not come to rest; ${await stage.describe()}`);
      await this.#pass(500);
    }
    assert.ok(await stage.write());
    const { restore } = (await stage.cluster()).status ?? {};
    if (restore === undefined) return;
    const { snapshotPath = "", keptVolumes = "" } = restore;
    const { keys } = stage.kubelet.workers.backups;
    if (this.#volumes) assert.notEqual(keptVolumes, "", "nobody knows where the data is that was replaced");
    else
      assert.ok(
        keys.some((one) => snapshotPath.endsWith(one)),
        `nobody knows where the data is that was replaced: ${snapshotPath}`,
      );
  }
}

async function play(history: History): Promise<void> {
  const play = new Play(history);
  await using _stage = play.stage;
  await play.play(history);
}

const step = (happening: Happening, ms = 0): Step => ({ happening, ms });

test("an EtcdRestore that is deleted half way, or brought back, a quota, and one restore after another", async () => {
  const restored = step({ t: "restore" }, 60_000);
  const brought = [step({ t: "deleteRestore" }), step({ t: "bringBack" }, 60_000)];
  const scripts: readonly (readonly Step[])[] = [
    ...[2_500, 6_000, 8_500, 11_000].map((ms) => [step({ t: "restore" }, ms), step({ t: "deleteRestore" }, 30_000)]),
    [restored, step({ t: "write", times: 5 }), ...brought],
    [restored, step({ t: "backUp" }, 20_000), step({ t: "write", times: 5 }), ...brought],
    [step({ t: "quota", of: "seed" }), step({ t: "restore" }, 60_000), step({ t: "crash" }, 30_000)],
    [step({ t: "quota", of: "claims" }), step({ t: "restore" }, 60_000), step({ t: "allow" }, 30_000)],
    [restored, step({ t: "write", times: 5 }), step({ t: "bringAllBack" }, 60_000)],
    [restored, step({ t: "write", times: 5 }), restored, step({ t: "write", times: 5 }), restored],
  ];
  for (const volumes of [false, true]) for (const steps of scripts) await play({ size: 1, volumes, steps });
});

const asked = process.env["PROPERTY_RUNS"];
const sample = asked === undefined ? { numRuns: 15, seed: 1 } : { numRuns: Number(asked) };

test("what serves is replaced only where it is meant and can be finished, whatever happens", () =>
  fc.assert(fc.asyncProperty(histories, play), sample));
