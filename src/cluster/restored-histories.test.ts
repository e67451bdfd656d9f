// The first members of a restored cluster through generated histories: from the moment at which the old members are stopped
// until the new ones serve, pods and claims are deleted, pods are evicted, nodes are lost, quotas have room for some of them,
// caches fall behind, the EtcdRestore is deleted, and operators die after any of their writes. The data is that of the backup
// and what clients have written since; no second cluster is made from the backup in the place of one that can come back.
// PROPERTY_RUNS=1000 plays that many new histories.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { EtcdCluster } from "../api/etcd-cluster/etcd-cluster.ts";
import { EtcdRestore } from "../api/etcd-restore/etcd-restore.ts";
import type { FakeEtcd } from "../etcd/testing/fake-etcd.ts";
import { getOrUndefined, unlessNotFound } from "../kube/client/get-or-undefined.ts";
import { PersistentVolumeClaim, Pod } from "../kube/objects/kinds.ts";
import type { FinishedCall } from "../kube/testing/fake-api/calls.ts";
import { repeatAnnotation } from "../restore/plan/gates.ts";
import { quorum } from "./assess/instances.ts";
import { plannedBeginning } from "./objects/first-members.ts";
import { restoreContainer } from "../worker/pod.ts";
import { volumesOf } from "./testing/happenings.ts";
import type { Fate } from "./testing/life.ts";
import { backUp, isOver, restoreInPlace } from "./testing/people.ts";
import { key, Stage } from "./testing/stage.ts";
import { type Cached, deafTo } from "./testing/views.ts";

type Happening =
  | { readonly t: "nothing" | "deletePods" | "revive" | "allow" | "hear" | "deleteRestore" }
  | { readonly t: "deletePod" | "evict" | "silence" | "kill" | "deleteClaim" | "deleteBoth"; readonly who: number }
  /** Counts the pods of first members, and no others; 0: of none. */
  | { readonly t: "quota"; readonly roomFor: number }
  | { readonly t: "deaf"; readonly to: Cached }
  | { readonly t: "operator"; readonly fate: Fate }
  /** It ends, and nobody takes over for so long. */
  | { readonly t: "noOperator"; readonly forMs: number };

interface Step {
  readonly happening: Happening;
  readonly ms: number;
}

interface History {
  readonly size: number;
  readonly volumes: boolean;
  /** What becomes of the operator that finds the request. */
  readonly first: Fate;
  readonly steps: readonly Step[];
}

const of = <const T extends string>(t: T) => fc.constant(t);
const write = fc.integer({ min: 1, max: 12 });
const fates: fc.Arbitrary<Fate> = fc.oneof(
  fc.record({ t: of("lives") }),
  fc.record({ t: of("dies"), after: write }),
  fc.record({ t: of("losesAnswer"), of: write }),
);
const happenings: fc.Arbitrary<Happening> = fc.oneof(
  fc.record({ t: fc.constantFrom("nothing", "deletePods", "revive", "allow", "hear", "deleteRestore") }),
  {
    weight: 4,
    arbitrary: fc.record({
      t: fc.constantFrom("deletePod", "evict", "silence", "kill", "deleteClaim", "deleteBoth"),
      who: fc.nat(5),
    }),
  },
  fc.record({ t: of("quota"), roomFor: fc.nat(2) }),
  fc.record({ t: of("deaf"), to: fc.constantFrom<Cached>("pods", "claims", "clusters", "restores") }),
  { weight: 2, arbitrary: fc.record({ t: of("operator"), fate: fates }) },
  fc.record({ t: of("noOperator"), forMs: fc.constantFrom(2_000, 10_000, 60_000) }),
);
const histories: fc.Arbitrary<History> = fc.record({
  size: fc.constantFrom(1, 3, 3, 5),
  volumes: fc.boolean(),
  first: fates,
  steps: fc.array(
    fc.record({ happening: happenings, ms: fc.constantFrom(0, 100, 500, 1_000, 2_500, 6_000, 30_000, 150_000) }),
    { minLength: 2, maxLength: 10 },
  ),
});

const inBackup = "before the backup";
const later = "after the backup";
/** Longer than any patience that an operator has with a member, several times over. */
const restWithinMs = 20 * 60_000;
/** In which a person gives a restore time. */
const patienceMs = 3 * 60_000;

class Play {
  readonly stage = new Stage({ controllers: "all" });
  readonly #size: number;
  readonly #volumes: boolean;
  readonly #ends = new Map<string, () => void>();
  /** In the cluster that the status describes now: those that clients had an answer from. */
  readonly #served = new Set<FakeEtcd>();
  #attempt = "";
  #value = "";
  readonly #failures: string[] = [];

  constructor({ size, volumes }: History) {
    this.#size = size;
    this.#volumes = volumes;
    this.stage.watch.allowLoss();
    this.stage.api.onWrite((call) => this.#heard(call));
  }

  /** A second attempt is begun. */
  #heard({ kind, object }: FinishedCall): void {
    if (kind !== EtcdCluster.kind || object === undefined) return;
    const cluster = object as EtcdCluster; // the server keeps them under this kind
    const attempt = plannedBeginning({ status: cluster.status ?? {} } as never)?.beginning?.attempt;
    const named = attempt === undefined ? "" : `${cluster.status?.restore?.uid} ${attempt}`;
    const isAnother = attempt !== undefined && attempt > 0 && named !== this.#attempt;
    this.#attempt = named;
    const { etcd } = this.stage.kubelet;
    if (!isAnother || etcd === undefined || !this.#served.has(etcd)) return;
    const left = etcd.members.filter(({ id }) => etcd.hasData(id)).length;
    if (left >= quorum(etcd.members.length))
      this.#failures.push(`the members begin again, and ${left} of ${etcd.members.length} had what clients wrote`);
  }

  async play({ steps, first }: History): Promise<void> {
    const { stage } = this;
    stage.startOperator();
    await stage.createWhole(this.#size, "3.6.16", this.#volumes ? { pod: volumesOf("1Gi") } : {});
    await this.#put(inBackup);
    await backUp(stage);
    await stage.pass(20_000);
    await this.#put(later);
    await restoreInPlace(stage);
    const isBegun = async (): Promise<boolean> => (await stage.cluster()).status?.restore !== undefined;
    await stage.until("the restore begins", isBegun);
    await this.#replaceOperator(first);
    for (const { happening, ms } of steps) {
      await this.#happens(happening);
      await this.#pass(ms);
    }
    await this.#comeToRest();
  }

  async #put(name: string): Promise<void> {
    const { etcd } = this.stage.kubelet;
    const url = etcd?.members.find(({ id }) => id === etcd.leader)?.clientUrls[0];
    assert.ok(etcd !== undefined && url !== undefined);
    await etcd.at(url).put(name, "there");
  }

  async #happens(happening: Happening): Promise<void> {
    const { stage } = this;
    const { api, kubelet } = stage;
    const name = "who" in happening ? kubelet.pods[happening.who % Math.max(1, kubelet.pods.length)] : undefined;
    const remove = (kind: typeof Pod | typeof PersistentVolumeClaim, one: string): Promise<unknown> =>
      api.delete<Pod | PersistentVolumeClaim>(kind, { ...key, name: one }).catch(unlessNotFound);
    switch (happening.t) {
      case "nothing":
        return;
      case "deletePods":
        for (const { metadata } of await stage.pods()) await remove(Pod, metadata?.name ?? "");
        return;
      case "deletePod":
      case "deleteBoth": {
        // Also one that is held back, of which no kubelet knows.
        const pods = await stage.podNames();
        const one = pods[happening.who % Math.max(1, pods.length)];
        if (one !== undefined) await remove(Pod, one);
        if (one !== undefined && happening.t === "deleteBoth") await remove(PersistentVolumeClaim, one);
        return;
      }
      case "deleteClaim": {
        const { items } = await api.list(PersistentVolumeClaim, { namespace: key.namespace });
        const one = items[happening.who % Math.max(1, items.length)]?.metadata?.name;
        if (one !== undefined) await remove(PersistentVolumeClaim, one);
        return;
      }
      case "evict":
        return name === undefined ? undefined : kubelet.evict(name);
      case "silence":
        return name === undefined ? undefined : kubelet.silence(name);
      case "kill":
        return name === undefined ? undefined : kubelet.kill(name, { forMs: 30_000 });
      case "revive":
        return kubelet.revive();
      case "quota":
        return this.#begin("quota", () => this.#quota(happening.roomFor));
      case "allow":
        return this.#end("quota");
      case "deaf":
        return this.#begin(`deaf to ${happening.to}`, () => deafTo(api, happening.to));
      case "hear":
        return this.#end("deaf");
      case "deleteRestore":
        await api.delete(EtcdRestore, key).catch(unlessNotFound);
        return;
      case "operator":
        return this.#replaceOperator(happening.fate);
      case "noOperator":
        await stage.stopOperator();
        await this.#pass(happening.forMs);
        stage.startOperator();
    }
  }

  #quota(roomFor: number): () => void {
    return this.stage.rules.forbid((verb, kind, object) => {
      if (verb !== "create" || kind.plural !== "pods") return false;
      const pod = object as Pod; // as its kind says
      return isFirst(pod) && this.#firstPods >= roomFor;
    }, "exceeded quota: pods");
  }

  #firstPods = 0;
  #attendedAt = 0;

  #begin(what: string, begin: () => () => void): void {
    if (!this.#ends.has(what)) this.#ends.set(what, begin());
  }

  #end(kind: string): void {
    for (const [what, end] of this.#ends) {
      if (!what.startsWith(kind)) continue;
      end();
      this.#ends.delete(what);
    }
  }

  async #replaceOperator(fate: Fate): Promise<void> {
    await this.stage.stopOperator();
    this.stage.startOperator(fate);
  }

  /** Clients write all the while. */
  async #pass(ms: number): Promise<void> {
    const { stage } = this;
    for (let left = ms; left > 0; left -= 500) {
      await stage.pass(Math.min(500, left));
      const value = String(stage.clock.now());
      if (await stage.write()) await this.#acknowledged(value);
      this.#firstPods = (await stage.pods()).filter(isFirst).length;
      assert.deepEqual(this.#failures, [], await stage.describe());
      if (stage.isOperatorOver) await this.#replaceOperator({ t: "lives" });
    }
  }

  async #acknowledged(value: string): Promise<void> {
    const { etcd } = this.stage.kubelet;
    if (etcd === undefined) return;
    this.#value = value;
    this.#served.add(etcd);
    assert.ok(etcd.store.get(inBackup), "what the backup holds is not there");
    const phase = (await this.stage.cluster()).status?.restore?.phase;
    if (phase !== undefined && phase !== "Stopping") assert.equal(etcd.store.get(later), undefined);
  }

  async #comeToRest(): Promise<void> {
    const { stage } = this;
    this.#end("");
    stage.kubelet.revive();
    stage.kubelet.mend();
    await this.#replaceOperator({ t: "lives" });
    const deadline = stage.clock.now() + restWithinMs;
    while (!(await this.#isAtRest())) {
      assert.ok(stage.clock.now() < deadline, `it does not come to rest; ${await stage.describe()}`);
      await this.#pass(500);
      await this.#attend();
    }
    const { etcd } = stage.kubelet;
    assert.ok(etcd);
    await this.#pass(10_000);
    assert.ok(await this.#isAtRest(), `it did not stay so; ${await stage.describe()}`);
    assert.ok(etcd.store.get(inBackup), "what the backup holds is not there");
    assert.equal(etcd.store.get(later), undefined);
    assert.equal(Buffer.from(etcd.store.get("key")?.value ?? []).toString(), this.#value);
  }

  /** One that has lost its data is restored once more, by a person who is told so, and who is patient. */
  async #attend(): Promise<void> {
    const { stage } = this;
    if (stage.clock.now() - this.#attendedAt < patienceMs) return;
    this.#attendedAt = stage.clock.now();
    const { reason } = (await stage.condition("Ready")) ?? {};
    const restore = await getOrUndefined(stage.api, EtcdRestore, key);
    const isLost = reason === "QuorumLost" || reason === "DataLost";
    if (!isLost && !(restore?.status?.phase === "Failed" && (await stage.isWithoutData()))) return;
    if (restore !== undefined && !isOver(restore)) await stage.api.delete(EtcdRestore, key);
    await restoreInPlace(stage);
    const uid = (await stage.api.get(EtcdRestore, key)).metadata?.uid ?? "";
    await stage.api.mergePatch(EtcdRestore, key, { metadata: { annotations: { [repeatAnnotation]: uid } } });
  }

  async #isAtRest(): Promise<boolean> {
    const { stage } = this;
    const restore = await getOrUndefined(stage.api, EtcdRestore, key);
    const members = stage.kubelet.etcd?.members ?? [];
    const isWhole = members.length === this.#size && members.every(({ learner }) => !learner);
    const isDone = (await stage.cluster()).status?.restore?.phase === "Done";
    return (
      isWhole &&
      isDone &&
      (restore === undefined || isOver(restore)) &&
      (await stage.pods()).length === this.#size &&
      (await stage.condition("Ready"))?.status === "True"
    );
  }
}

const isFirst = ({ spec }: Pod): boolean =>
  spec?.initContainers?.some(({ name }) => name === restoreContainer) === true;

async function play(history: History): Promise<void> {
  const play = new Play(history);
  await using _stage = play.stage;
  await play.play(history);
}

const asked = process.env["PROPERTY_RUNS"];
const sample = asked === undefined ? { numRuns: 15, seed: 1 } : { numRuns: Number(asked) };

const step = (happening: Happening, ms: number): Step => ({ happening, ms });

describe("a cluster that is restored has the data of the backup and what was written since", () => {
  test("whatever happens to its first members before they serve", () =>
    fc.assert(fc.asyncProperty(histories, play), sample));

  test("when an operator that does not see its pods come up has no patience with them, while clients write", () =>
    play({
      size: 1,
      volumes: false,
      first: { t: "dies", after: 7 },
      steps: [
        step({ t: "deaf", to: "pods" }, 100),
        step({ t: "operator", fate: { t: "losesAnswer", of: 10 } }, 500),
        step({ t: "noOperator", forMs: 2_000 }, 150_000),
      ],
    }));
});
