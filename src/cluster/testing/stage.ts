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
import { ApiError } from "../../kube/client/errors.ts";
import type { NewEvent } from "../../kube/objects/event-object.ts";
import { Node, PersistentVolumeClaim, Pod, PodDisruptionBudget, Secret, Service } from "../../kube/objects/kinds.ts";
import { silent } from "../../kube/process/log.ts";
import type { Key } from "../../kube/objects/objects.ts";
import type { Registry } from "../../kube/process/metrics.ts";
import { RuntimeObserver } from "../../kube/process/runtime-observer.ts";
import { SimulatedClock } from "../../kube/testing/simulated-clock.ts";
import { FakeApi } from "../../kube/testing/fake-api/fake-api.ts";
import { TransportError } from "../../transport/errors.ts";
import type { Signer } from "../context.ts";
import { clusterController } from "../controller.ts";
import { isImageCheck } from "../objects/image-check.ts";
import { quorum } from "../assess/seats.ts";
import { rotateCaAnnotation, secretName, type SecretUse } from "../objects/tls.ts";
import { withoutFlag } from "./container.ts";
import { Watch } from "./invariants.ts";
import { type Admission, apiDuring, type Fate, Life, memberDuring } from "./life.ts";
import { Kubelet } from "./kubelet.ts";

/** Of the one cluster there is. */
export const key: Key = { namespace: "default", name: "demo" };
export const beganAt = Date.parse("2026-01-01T00:00:00Z");
const stepMs = 500;
/** etcd takes no more members for a while after a change. */
const settleMs = 6_000;

type Forbidden = (...asked: Parameters<Admission["check"]>) => boolean;

interface Running {
  readonly life: Life;
  readonly ended: Promise<unknown>;
  readonly observer: RuntimeObserver;
}

export interface StageOptions {
  /** For clusters whose certificates are made; see signer.ts. */
  readonly signer?: Signer;
  /** Gives numbers from 0 up to 1, for what etcd leaves to chance. Without it etcd leaves nothing to chance. */
  readonly random?: () => number;
}

export class Stage implements AsyncDisposable {
  readonly clock = new SimulatedClock();
  readonly api: FakeApi;
  readonly kubelet: Kubelet;
  /** What must never happen. */
  readonly watch: Watch;
  /** Of all operators so far, in order. */
  readonly writes: string[] = [];
  /** The Events of all operators so far. */
  readonly told: NewEvent[] = [];
  /** Whether new pods get all the flags that an operator wrote, or those of one that knew fewer. */
  podsAreMade: "asWritten" | "withoutMaxLearners" = "asWritten";
  readonly #forbidden = new Set<{ readonly forbidden: Forbidden; readonly words: string }>();
  readonly #signer: Signer | undefined;
  #running: Running | undefined;

  constructor({ random, signer }: StageOptions = {}) {
    this.#signer = signer;
    const { clock } = this;
    this.api = new FakeApi({
      kinds: [
        ...fakeKinds,
        { kind: Pod, graceful: true },
        { kind: PersistentVolumeClaim },
        { kind: Service },
        { kind: PodDisruptionBudget },
        { kind: Secret },
        { kind: Node },
        { kind: Secret },
      ],
      clock,
      date: () => new Date(this.now()),
    });
    this.kubelet = new Kubelet({ api: this.api, clock, now: this.now, ...(random && { random }) });
    this.watch = new Watch(this.kubelet, this.api, clock);
  }

  /** The time of day in milliseconds. */
  now = (): number => beganAt + this.clock.now();

  /** A new process, with nothing but what it reads. */
  startOperator(fate: Fate = { t: "lives" }): Life {
    assert.ok(this.#running === undefined, "one operator runs already");
    const { clock } = this;
    const life = new Life(fate, this.watch.witness);
    const api = apiDuring(life, this.api, this.#admission);
    const observer = new RuntimeObserver(silent);
    const { controller, informers } = clusterController({
      api,
      scope: { t: "namespaces", names: [key.namespace] },
      members: { at: (endpoint) => memberDuring(life, this.kubelet.at(endpoint)) },
      presenter: (endpoint) => life.read(() => this.kubelet.presented(endpoint)),
      ...(this.#signer && { signer: this.#signer }),
      events: { record: (_kind, _object, what) => void this.told.push(what) },
      observer,
      workerImage: () => "etcd-operator:test",
      clock,
      now: this.now,
    });
    const ended = Promise.all([
      ...informers.map((informer) => informer.run(life.signal)),
      controller.run(api, life.signal),
    ]);
    this.#running = { life, ended, observer };
    return life;
  }

  /** It has died, and nobody has noticed yet. */
  get isOperatorOver(): boolean {
    return this.#running?.life.isOver === true;
  }

  /** Whether it died already or not. */
  async stopOperator(): Promise<void> {
    const running = this.#running;
    assert.ok(running);
    running.life.end();
    await running.ended;
    this.writes.push(...running.life.writes);
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
    const annotations = await this.#checkedRestore(name, true);
    await this.api.mergePatch(EtcdCluster, key, { metadata: { annotations } });
  }

  /** A cluster that begins with the data of a backup. */
  async createRestored(size: number, version = "3.6.16"): Promise<void> {
    const annotations = await this.#checkedRestore("from-backup", false);
    await this.api.create(EtcdCluster, { metadata: { ...key, annotations }, spec: { size, version } });
  }

  async #checkedRestore(name: string, inPlace: boolean): Promise<Record<string, string>> {
    const store = { backupStorageType: "S3", s3: { path: "bucket/backup" } } as const;
    const spec = { etcdCluster: { name: key.name }, ...store };
    const made = await this.api.create(EtcdRestore, { metadata: { ...key, name }, spec });
    const backup = { path: "bucket/backup", sha256: "0".repeat(64), revision: 7 };
    const status = { key: "backup", backup, inPlace };
    await this.api.mergePatch(EtcdRestore, { ...key, name }, { status }, { subresource: "status" });
    return { [restoreAnnotation]: formatRestoreRequest({ name, uid: made.metadata?.uid ?? "" }) };
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
    return this.#forbid((verb, of) => verb === "create" && of.kind === kind.kind, `exceeded quota: ${kind.plural}`);
  }

  /** Operators label no pod any more, as if a policy forbade it. */
  refuseLabels(): () => void {
    const isLabel: Forbidden = (verb, { kind }, body) =>
      verb === "mergePatch" && kind === Pod.kind && JSON.stringify(body).includes('"labels"');
    return this.#forbid(isLabel, "admission webhook denied the request: labels are fixed");
  }

  #forbid(forbidden: Forbidden, words: string): () => void {
    const rule = { forbidden, words };
    this.#forbidden.add(rule);
    return () => this.#forbidden.delete(rule);
  }

  readonly #admission: Admission = {
    check: (...asked) => {
      for (const { forbidden, words } of this.#forbidden)
        if (forbidden(...asked)) throw new ApiError(403, "Forbidden", `${asked[1].plural} is forbidden: ${words}`);
    },
    change: (kind, object) => {
      const isOld = kind.kind === Pod.kind && this.podsAreMade === "withoutMaxLearners";
      return isOld ? withoutFlag(object, "max-learners") : object;
    },
  };

  /** A client writes to one that its Service sends it to; false when that one does not take it. */
  async write(who = 0): Promise<boolean> {
    const ready = (await this.pods()).filter(isReady);
    const { podIP } = ready[who % Math.max(1, ready.length)]?.status ?? {};
    if (podIP === undefined) return false;
    try {
      await this.kubelet.asApplication(podIP).put("key", String(this.clock.now()));
      return true;
    } catch (error) {
      if (error instanceof EtcdError || error instanceof TransportError) return false;
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

  /** Of the member that comes first by name, under its running pod. */
  async deleteClaim(): Promise<void> {
    const [name = ""] = await this.podNames();
    await this.api.delete(PersistentVolumeClaim, { ...key, name });
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
      this.watch.look();
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
    const claims = new Set((await this.api.list(PersistentVolumeClaim)).items.map(({ metadata }) => metadata?.name));
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

  /** Of the operator that runs now, to be read after its end, too. */
  get registry(): Registry {
    assert.ok(this.#running);
    return this.#running.observer.metrics.registry;
  }

  /** Of the running operator's metrics, the sample of this name and these labels; 0 when there is none. */
  metric(sample: string): number {
    const lines = this.#running?.observer.metrics.registry.text().split("\n") ?? [];
    return Number(lines.find((line) => line.startsWith(`${sample} `))?.slice(sample.length) ?? 0);
  }

  cluster = (): Promise<EtcdCluster> => this.api.get(EtcdCluster, key);

  condition = async (type: string) => conditionOf(await this.cluster(), type);

  /** Of members. */
  async pods(): Promise<Pod[]> {
    return (await this.api.list(Pod)).items.filter((pod) => !isImageCheck(pod));
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
      latched: cluster.status?.clusterId === this.kubelet.etcd?.clusterId,
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
