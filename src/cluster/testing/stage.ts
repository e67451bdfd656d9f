// The whole controller on an in-memory Kubernetes with an in-memory etcd, in simulated time: operators come and go, one
// at a time, and what must never happen to the cluster is asserted as time passes and at each write of an operator.
import assert from "node:assert/strict";
import { EtcdCluster, type EtcdClusterSpec } from "../../api/etcd-cluster/etcd-cluster.ts";
import {
  formatRestoreRequest,
  restoreAnnotation,
  restoreRequestOf,
} from "../../api/etcd-cluster/restore-annotation.ts";
import { EtcdRestore } from "../../api/etcd-restore/etcd-restore.ts";
import { fakeKinds } from "../../api/testing/fake-kinds.ts";
import { EtcdError } from "../../etcd/errors.ts";
import type { Member } from "../../etcd/member.ts";
import type { NewEvent } from "../../kube/objects/event-object.ts";
import { Node, PersistentVolumeClaim, Pod, PodDisruptionBudget, Secret, Service } from "../../kube/objects/kinds.ts";
import type { Key } from "../../kube/objects/objects.ts";
import type { Registry } from "../../kube/process/metrics.ts";
import { SimulatedClock } from "../../kube/testing/simulated-clock.ts";
import { FakeApi } from "../../kube/testing/fake-api/fake-api.ts";
import { makeAuthority, makeLeaf } from "../../tls/make.ts";
import { TransportError } from "../../transport/errors.ts";
import type { Signer } from "../context.ts";
import { isImageCheck } from "../objects/image-check.ts";
import { quorum } from "../assess/instances.ts";
import { rotateCaAnnotation, secretName, type SecretUse } from "../objects/tls.ts";
import { type Forbidden, type PodChange, Rules } from "./admission.ts";
import { Watch } from "./invariants.ts";
import { apiDuring, type Fate, Life } from "./life.ts";
import { Kubelet } from "./kubelet/kubelet.ts";
import { type Build, Operator, presentBuild } from "./operator.ts";
import { protectionFinalizer } from "./kubelet/protection.ts";
import { isWorker } from "./workers.ts";

/** Identifies the one cluster there is. */
export const key: Key = { namespace: "default", name: "demo" };
export const beganAt = Date.parse("2026-01-01T00:00:00Z");
const stepMs = 500;
/** etcd takes no more members for a while after a change. */
const settleMs = 6_000;

export interface StageOptions {
  /** Hands out certificates that were made before, or that live for minutes; see signer.ts. Without it they are made. */
  readonly signer?: Signer;
  /** Gives numbers from 0 up to 1, for what etcd leaves to chance. Without it etcd leaves nothing to chance. */
  readonly random?: () => number;
  /** Which of them operators run; by default only that of clusters, the others then being played by the test. */
  readonly controllers?: "clusters" | "all";
  /** Those that operators manage, beside that of the cluster. */
  readonly namespaces?: readonly string[];
}

export class Stage implements AsyncDisposable {
  readonly clock = new SimulatedClock();
  readonly api: FakeApi;
  readonly kubelet: Kubelet;
  /** What must never happen. */
  readonly watch: Watch;
  /** Writes of all operators so far, in order. */
  readonly writes: string[] = [];
  /** The Events of all operators so far. */
  readonly recorded: NewEvent[] = [];
  /** What stands between operators and the API server. */
  readonly rules: Rules = new Rules();
  readonly #options: StageOptions;
  #running: Operator | undefined;
  /** Those that have lost their lease and run on. */
  readonly #former = new Set<Operator>();

  constructor(options: StageOptions = {}) {
    this.#options = options;
    const { clock } = this;
    const { random } = options;
    this.api = new FakeApi({
      kinds: [
        ...fakeKinds,
        { kind: Pod, graceful: true },
        { kind: PersistentVolumeClaim, finalizers: [protectionFinalizer] },
        { kind: Service },
        { kind: PodDisruptionBudget },
        { kind: Secret },
        { kind: Node },
        { kind: Secret },
      ],
      clock,
      date: () => new Date(this.now()),
    });
    const { namespace } = key;
    this.kubelet = new Kubelet({ api: this.api, clock, now: this.now, namespace, ...(random && { random }) });
    this.watch = new Watch(this.kubelet, this.api, clock, namespace);
    this.watch.restores.isWhole = options.controllers === "all";
  }

  /** The time of day in milliseconds. */
  now = (): number => beganAt + this.clock.now();

  /** A new process, with nothing but what it reads, on a node whose clock is this number of milliseconds fast. */
  startOperator(fate: Fate = { t: "lives" }, fastBy = 0, build: Build = presentBuild): Life {
    assert.ok(this.#running === undefined, "one operator runs already");
    const { clock, kubelet } = this;
    const { controllers = "clusters", namespaces = [], signer = { makeAuthority, makeLeaf } } = this.#options;
    const life = new Life(fate, this.watch.witness);
    this.#running = new Operator({
      life,
      api: apiDuring(life, this.api, this.rules),
      clock,
      now: () => this.now() + fastBy,
      namespaces: [key.namespace, ...namespaces],
      controllers,
      // To make one takes real time, for which simulated time stands still.
      signer: {
        makeAuthority: (...asked) => clock.standStillFor(signer.makeAuthority(...asked)),
        makeLeaf: (...asked) => clock.standStillFor(signer.makeLeaf(...asked)),
      },
      events: { record: (_kind, _object, what) => void this.recorded.push(what) },
      at: (endpoint) => kubelet.at(endpoint),
      presented: kubelet.presented,
      build,
    });
    return life;
  }

  /** Another process has the lease; the one that had it has not ended yet. */
  overtakeOperator(fate?: Fate): Life {
    const running = this.#running;
    assert.ok(running);
    running.life.fence();
    this.#former.add(running);
    this.#running = undefined;
    return this.startOperator(fate);
  }

  /** It has died, and nobody has noticed yet. */
  get isOperatorOver(): boolean {
    return this.#running?.life.isOver === true;
  }

  /** Whether it died already or not. */
  async stopOperator(): Promise<void> {
    const running = this.#running;
    assert.ok(running);
    for (const operator of [...this.#former, running]) {
      await operator.end();
      this.writes.push(...operator.life.writes);
    }
    this.#former.clear();
    this.#running = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#running !== undefined) await this.stopOperator();
  }

  // What people do

  async create(size: number, version = "3.6.16", more: Partial<EtcdClusterSpec> = {}): Promise<void> {
    await this.api.create(EtcdCluster, { metadata: { ...key }, spec: { size, version, ...more } });
  }

  /** Until it is whole, and etcd is ready for the next change. */
  async createWhole(size: number, version?: string, more?: Partial<EtcdClusterSpec>): Promise<void> {
    await this.create(size, version, more);
    await this.untilSettled(size);
  }

  /** With all that it owned, while no operator runs. */
  async deleteCluster(): Promise<void> {
    assert.ok(this.#running === undefined, "an operator would heal it");
    // Pods first: of what goes as garbage the kubelet hears nothing here.
    for (const { metadata } of await this.pods()) await this.api.delete(Pod, { ...key, name: metadata?.name ?? "" });
    await this.api.delete(EtcdCluster, key);
    this.kubelet.etcd = undefined;
    await this.clock.advance(2_000);
    assert.deepEqual(await this.pods(), []);
  }

  async resize(size: number): Promise<void> {
    await this.edit({ size });
  }

  /** What is set to null is taken away. */
  async edit(spec: object): Promise<void> {
    await this.api.mergePatch(EtcdCluster, key, { spec });
  }

  /** Asks for the data of a backup, as the controller of EtcdRestores does once it has found it good. */
  async restore(name = key.name): Promise<void> {
    const { metadata } = await this.cluster();
    const annotations = await this.#checkedRestore(name, metadata?.uid);
    await this.api.mergePatch(EtcdCluster, key, { metadata: { annotations } });
  }

  /** A cluster that begins with the data of a backup. */
  async createRestored(size: number, version = "3.6.16"): Promise<void> {
    const annotations = await this.#checkedRestore("from-backup", undefined);
    await this.api.create(EtcdCluster, { metadata: { ...key, annotations }, spec: { size, version } });
  }

  /** `cluster`: the uid of the one that is replaced; undefined: one is made. */
  async #checkedRestore(name: string, cluster: string | undefined): Promise<Record<string, string>> {
    const store = { backupStorageType: "S3", s3: { path: "bucket/backup" } } as const;
    const spec = { etcdCluster: { name: key.name }, ...store };
    const made = await this.api.create(EtcdRestore, { metadata: { ...key, name }, spec });
    const takenAt = new Date(this.now()).toISOString();
    const kept = { key: "backup", takenAt, clusterId: "1", members: 3 };
    const { sha256, revision } = this.kubelet.workers.backups.keep({ revision: 7, history: new Map() }, kept);
    const backup = { path: "bucket/backup", sha256, revision };
    const target = cluster === undefined ? { inPlace: false } : { inPlace: true, clusterUid: cluster };
    const status = { phase: "Restoring", key: "backup", backup, ...target };
    await this.api.mergePatch(EtcdRestore, { ...key, name }, { status }, { subresource: "status" });
    return { [restoreAnnotation]: formatRestoreRequest({ name, uid: made.metadata?.uid ?? "", cluster }) };
  }

  /** It is replaced by that of a backup, and has yet to be made from it. */
  async isWithoutData(): Promise<boolean> {
    const { restore } = (await this.cluster()).status ?? {};
    return restore?.phase === "Seeding";
  }

  /** Somebody asks for the data of a backup, and it is not there yet. */
  async isRestoring(): Promise<boolean> {
    const { items } = await this.api.list(EtcdRestore, { namespace: key.namespace });
    const { restore } = (await this.cluster()).status ?? {};
    const isUnderWay = items.some(({ status }) => status?.phase !== "Succeeded" && status?.phase !== "Failed");
    const isAlone = this.#options.controllers !== "all";
    return (isUnderWay && !isAlone) || restore?.phase === "Stopping" || restore?.phase === "Seeding";
  }

  /** Asks for other CAs. */
  async rotate(what: string): Promise<void> {
    await this.api.mergePatch(EtcdCluster, key, { metadata: { annotations: { [rotateCaAnnotation]: what } } });
  }

  /** Its members have the certificates that were made last, and trust nothing else; without TLS: there is nothing to say. */
  async isCertified(): Promise<boolean> {
    const { metadata, spec } = await this.cluster();
    if (spec.TLS?.auto !== true) return true;
    const secrets = (await this.api.list(Secret)).items;
    const of = (use: SecretUse): Secret | undefined =>
      secrets.find((secret) => secret.metadata?.name === secretName({ metadata: key }, use));
    const asked = metadata?.annotations?.[rotateCaAnnotation];
    const isCurrent = (ca: SecretUse, leaf: SecretUse, file: string): boolean => {
      const [authority, kept] = [of(ca), of(leaf)];
      const trusted = kept?.data?.[file];
      return (
        authority?.metadata?.annotations?.[rotateCaAnnotation] === asked && trusted === authority?.data?.["ca.crt"]
      );
    };
    const condition = await this.condition("CertificatesValid");
    return (
      isCurrent("peer-ca", "peer", "peer-ca.crt") &&
      isCurrent("client-ca", "server", "server-ca.crt") &&
      isCurrent("client-ca", "client", "ca.crt") &&
      condition?.reason === "Valid"
    );
  }

  /** Operators make no object of this kind any more, as if a quota were used up, until the answer is called. */
  refuse(kind: typeof Pod | typeof Service | typeof PodDisruptionBudget): () => void {
    return this.rules.refuse(kind);
  }

  /** Changes pods that an operator makes or changes. */
  set webhook(change: PodChange) {
    this.rules.also = change;
  }

  /** Operators label no pod any more, as if a policy forbade it. */
  refuseLabels(): () => void {
    const isLabel: Forbidden = (verb, { kind }, body) =>
      verb === "mergePatch" && kind === Pod.kind && JSON.stringify(body).includes('"labels"');
    return this.rules.forbid(isLabel, "admission webhook denied the request: labels are fixed");
  }

  /** A client writes to one that its Service sends it to; false when that one does not take it. */
  async write(who = 0): Promise<boolean> {
    const ready = (await this.pods()).filter(isReady);
    const { podIP } = ready[who % Math.max(1, ready.length)]?.status ?? {};
    if (podIP === undefined) return false;
    try {
      await this.kubelet.asApplication(podIP).put("key", String(this.clock.now()));
      return true;
    } catch (error) {
      // Nobody can dial with a key that does not belong to its certificate, as in a Secret that somebody damaged.
      const isUnusable = error instanceof Error && error.message.includes("key values mismatch");
      if (isUnusable || error instanceof EtcdError || error instanceof TransportError) return false;
      throw error;
    }
  }

  /** The one that leads, or another; its name is the answer. */
  async deletePod(which: "leader" | "follower"): Promise<string> {
    const { etcd } = this.kubelet;
    const victim = etcd?.members.find(({ id }) => (id === etcd.leader) === (which === "leader"));
    assert.ok(victim);
    await this.api.delete(Pod, { ...key, name: victim.name });
    return victim.name;
  }

  /** Acts on the member that comes first by name, under its running pod. */
  async deleteClaim(): Promise<void> {
    const [name = ""] = await this.podNames();
    await this.api.delete(PersistentVolumeClaim, { ...key, name });
  }

  /** Deletes the claims of all members at once; they serve on. */
  async deleteClaims(): Promise<void> {
    for (const name of await this.podNames()) await this.api.delete(PersistentVolumeClaim, { ...key, name });
  }

  /** As many pods, and the data in them, as no operator can make good; the names of those that stay are the answer. */
  async loseMajority(): Promise<string[]> {
    const names = await this.podNames();
    const lost = names.splice(0, quorum(names.length));
    this.watch.allowLoss();
    for (const name of lost) await this.api.delete(Pod, { ...key, name });
    return names;
  }

  // Time

  /** Passes so much of it, looking at the cluster again and again. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= stepMs) {
      await this.clock.advance(Math.min(stepMs, left));
      this.watch.check();
    }
  }

  /** Until it is so, by a deadline of its own time. */
  async until(what: string, holds: () => boolean | Promise<boolean>, withinMs = 180_000): Promise<void> {
    const deadline = this.clock.now() + withinMs;
    while (!(await holds())) {
      if (this.clock.now() >= deadline) assert.fail(`${what}: not within ${withinMs} ms; ${await this.describe()}`);
      await this.pass(stepMs);
    }
  }

  /** Until the operator's life is over, or the cluster is whole. */
  async untilOverOrWhole(size: number): Promise<"over" | "whole"> {
    const life = this.#running?.life;
    assert.ok(life);
    await this.until("an end", async () => life.isOver || (await this.isWhole(size)), 900_000);
    return life.isOver ? "over" : "whole";
  }

  untilWhole = (size: number): Promise<void> => this.until(`${size} healthy voters`, () => this.isWhole(size));

  async untilSettled(size: number): Promise<void> {
    await this.untilWhole(size);
    await this.pass(settleMs);
  }

  // What is there

  async isWhole(size: number): Promise<boolean> {
    const cluster = await this.cluster();
    const ready = conditionOf(cluster, "Ready");
    const members = this.kubelet.etcd?.members ?? [];
    const there = await this.pods();
    const pods = there.map(({ metadata }) => metadata);
    const { items } = await this.api.list(PersistentVolumeClaim);
    const kept = items.filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
    const claims = new Set(kept.map(({ metadata }) => metadata?.name));
    const usesVolume = ({ spec }: Pod): boolean => spec?.volumes?.some((v) => v.persistentVolumeClaim) === true;
    const isSound = ({ name, learner }: Member): boolean =>
      !learner && pods.some((pod) => pod?.name === name && pod.deletionTimestamp === undefined);
    if (!(await this.isCertified())) return false;
    const asked = restoreRequestOf(cluster);
    const { restore } = cluster.status ?? {};
    if (asked !== undefined && (asked.uid !== restore?.uid || restore.phase !== "Done")) return false;
    return (
      ready?.status === "True" &&
      ready.observedGeneration === cluster.metadata?.generation &&
      members.length === size &&
      members.every(isSound) &&
      there.every((pod) => !usesVolume(pod) || claims.has(pod.metadata?.name)) &&
      pods.length === size
    );
  }

  /** Metrics of the operator that runs now, to be read after its end, too. */
  get registry(): Registry {
    assert.ok(this.#running);
    return this.#running.observer.metrics.registry;
  }

  /** The sample of this name and these labels in the running operator's metrics; 0 when there is none. */
  metric(sample: string): number {
    const lines = this.#running?.observer.metrics.registry.text().split("\n") ?? [];
    return Number(lines.find((line) => line.startsWith(`${sample} `))?.slice(sample.length) ?? 0);
  }

  cluster = (): Promise<EtcdCluster> => this.api.get(EtcdCluster, key);

  condition = async (type: string) => conditionOf(await this.cluster(), type);

  /** Pods of members. */
  async pods(): Promise<Pod[]> {
    const { items } = await this.api.list(Pod, { namespace: key.namespace });
    return items.filter((pod) => !isImageCheck(pod) && !isWorker(pod));
  }

  /** Pods that try an image. */
  async imageChecks(): Promise<Pod[]> {
    return (await this.api.list(Pod)).items.filter(isImageCheck);
  }

  async podNames(): Promise<string[]> {
    return (await this.pods()).map(({ metadata }) => metadata?.name ?? "").toSorted();
  }

  async describe(): Promise<string> {
    const pods = (await this.pods()).map(({ metadata, status }) => `${metadata?.name} ${status?.phase}`);
    const members = this.kubelet.etcd?.members.map(({ name, learner }) => `${name}${learner ? " (learner)" : ""}`);
    const ready = await this.condition("Ready");
    const writes = [...this.writes, ...(this.#running?.life.writes ?? [])].slice(-12);
    return `pods ${pods.join(", ")}; members ${members?.join(", ")}; ${ready?.message}; last writes: ${writes.join(", ")}`;
  }

  /** All that a person could tell one such cluster from another by, but for names, times and what grows by itself. */
  async state(): Promise<object> {
    const [cluster, pods, claims, services, budgets] = await Promise.all([
      this.cluster(),
      this.pods(),
      this.api.list(PersistentVolumeClaim),
      this.api.list(Service),
      this.api.list(PodDisruptionBudget),
    ]);
    const {
      revision: _r,
      dbSize: _d,
      clusterId: _c,
      leader: _l,
      clientSecretChecksum: _s,
      certificates = [],
      conditions = [],
      ...status
    } = cluster.status ?? {};
    const names = await this.podNames();
    const state = {
      spec: cluster.spec,
      status: {
        ...status,
        conditions: conditions.map(({ type, status, reason }) => ({ type, status, reason })),
        certificates: certificates.map(({ use }) => use),
      },
      recorded: cluster.status?.clusterId === this.kubelet.etcd?.clusterId,
      members: names.map((name) => this.kubelet.etcd?.members.find((member) => member.name === name)?.learner),
      pods: pods
        .map(({ metadata, spec }) => ({ labels: metadata?.labels, volumes: spec?.volumes }))
        // Names are left to chance; one that was restored has more volumes.
        .toSorted((a, b) => (a.volumes?.length ?? 0) - (b.volumes?.length ?? 0)),
      claims: claims.items
        .map(({ metadata, spec }) => ({
          isMembers: names.includes(metadata?.name ?? ""),
          labels: { ...metadata?.labels, etcd_node: "" },
          annotations: metadata?.annotations,
          spec,
        }))
        .toSorted((a, b) => Number(a.isMembers) - Number(b.isMembers)),
      services: services.items.map(({ metadata, spec }) => ({ name: metadata?.name, spec })),
      budgets: budgets.items.map(({ metadata, spec }) => ({ name: metadata?.name, spec })),
    };
    const { clusterId, restore } = cluster.status ?? {};
    const ids = [cluster.metadata?.uid ?? "", clusterId ?? "", restore?.uid ?? ""].filter((id) => id !== "");
    const nameless = names.reduce((text, name) => text.replaceAll(name, "MEMBER"), JSON.stringify(state));
    const idless = ids.reduce((text, id) => text.replaceAll(id, "ID"), nameless);
    // That of the cluster before, on volumes that a restore has kept.
    return JSON.parse(idless.replaceAll(/(cluster-id":")[0-9a-f]+/g, "$1EARLIER")) as object;
  }
}

const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True") === true;

const conditionOf = ({ status }: EtcdCluster, wanted: string) =>
  status?.conditions?.find(({ type }) => type === wanted);
