// All the nodes of an in-memory Kubernetes: pods get a node and an address and run, and what runs in them are members of
// an in-memory etcd, which start and end as the real ones do. Tests kill processes, wipe their data, starve them, evict
// their pods and silence their nodes.
import { isAccessRefusal } from "../../etcd/login.ts";
import type { EtcdMember } from "../../etcd/member.ts";
import type { Login } from "../../etcd/login.ts";
import type { Endpoint } from "../../etcd/members.ts";
import { type Booted, FakeEtcd } from "../../etcd/testing/fake-etcd.ts";
import { type Clock, pause } from "../../kube/clock.ts";
import { isConflict, isNotFound } from "../../kube/client/errors.ts";
import { Node, PersistentVolumeClaim, Pod } from "../../kube/objects/kinds.ts";
import { type Key, keyOf, secondsTime } from "../../kube/objects/objects.ts";
import type { FinishedCall } from "../../kube/testing/fake-api/calls.ts";
import type { FakeApi } from "../../kube/testing/fake-api/fake-api.ts";
import { memberUrl } from "../objects/endpoints.ts";
import { isImageCheck } from "../objects/image-check.ts";
import { etcdContainer } from "../objects/member-pod.ts";
import type { PresentedCertificate } from "../../etcd/presented-certificate.ts";
import { backOff, times } from "./kubelet-times.ts";
import { containerOf, flagsOf, initialCluster, memoryLimit, versionIn } from "./container.ts";
import { type Disk, Disks } from "./disks.ts";
import { type Doing, type Ended, podStatus } from "./pod-status.ts";
import { ClusterSecrets, presentedBy, type ProcessTls, takes, whyApart } from "./process-tls.ts";

/** No two members share one, as long as there are not more of them. */
const nodes = 8;

export interface KubeletOptions {
  readonly api: FakeApi;
  readonly clock: Clock;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** For what etcd leaves to chance; see FakeClusterOptions. */
  readonly random?: () => number;
}

/** The container of one pod. */
interface Container {
  readonly key: Key;
  readonly uid: string;
  readonly address: string;
  readonly node: string;
  doing: Doing;
  image: string;
  restarts: number;
  ended: Ended | undefined;
  disk: Disk;
  ready: boolean;
  started: boolean;
  /** Since when its readiness probe fails; undefined: it passes. */
  failsSince: number | undefined;
  /** It is to go. */
  going: boolean;
  /** Its pod ended for good. */
  evicted: boolean;
  /** Of its process. */
  tls: ProcessTls | undefined;
  /** What keeps a container from being started, as ErrImagePull. */
  heldUp: string | undefined;
  /** Its process ends at once until then. */
  brokenUntil: number;
  /** Its next start, so that an earlier one that was asked for is forgotten. */
  attempt: number;
}

const nobody = new FakeEtcd({
  name: "nobody",
  peerUrl: "http://nobody.example:2380",
  clientUrl: "http://nobody.example:2379",
});

export class Kubelet {
  /** Of the seed that ran last. */
  etcd: FakeEtcd | undefined;
  /** How often a cluster was begun: once, for one EtcdCluster. */
  seeds = 0;
  /** Told when a pod begins a cluster. */
  onSeed: (pod: Pod) => void = () => undefined;
  /** Told when a voter that ran before begins again with an empty log. */
  onEmptyVoter: (pod: Pod) => void = () => undefined;
  /** How often one ended at once because it was given another list of members than etcd has. */
  misled = 0;
  /** Every etcd that has less memory than this, in bytes, is killed as soon as it runs. */
  memoryNeeded = 0;
  /** What went wrong in the kubelet itself, which a test must not miss. */
  readonly failures: unknown[] = [];
  readonly secrets: ClusterSecrets;
  readonly #options: KubeletOptions;
  readonly #api: FakeApi;
  readonly #clock: Clock;
  /** By uid. */
  readonly #containers = new Map<string, Container>();
  readonly #disks: Disks;
  /** The uid of the pod that began the cluster. */
  #seed: string | undefined;
  /** Nodes that the API server knows: they join when they get their first pod. */
  readonly #joined = new Set<string>();
  readonly #silent = new Set<string>();
  /** Those whose pods are gone and that run on, on nodes that nobody hears of. */
  readonly #unseen = new Set<Container>();
  #addresses = 0;
  #looking = false;

  constructor(options: KubeletOptions) {
    this.#options = options;
    this.#api = options.api;
    this.#clock = options.clock;
    this.#disks = new Disks(options.api);
    this.secrets = new ClusterSecrets(() => options.clock.now());
    options.api.onWrite((write) => {
      this.secrets.heard(write);
      this.#heard(write);
    });
  }

  /** Whoever listens there, and takes a client that comes like this. */
  at(endpoint: Pick<Endpoint, "url" | "tls" | "login">): EtcdMember {
    const container = this.#listening(endpoint.url);
    const isTaken = container?.tls === undefined || takes(container.tls, endpoint);
    return isTaken && container !== undefined ? this.#process(container, endpoint.login) : nobody.at(endpoint.url);
  }

  /** As an application comes, with the Secret that is there for it, if it needs one. */
  asApplication(address: string): EtcdMember {
    const container = this.#listening(memberUrl(address));
    if (container?.tls?.speaks.client !== true) return this.at({ url: memberUrl(address) });
    const {
      "tls.crt": cert = "",
      "tls.key": key = "",
      "ca.crt": ca = "",
    } = this.secrets.files("demo-client-tls") ?? {};
    return this.at({ url: memberUrl(address, "https"), tls: { ca, identity: { cert, key } } });
  }

  presented = ({ url }: Pick<Endpoint, "url">): Promise<PresentedCertificate | undefined> => {
    const { tls, node = "" } = this.#listening(url) ?? {};
    const isReached = tls !== undefined && !this.#silent.has(node);
    return Promise.resolve(isReached ? presentedBy(tls, Number(new URL(url).port)) : undefined);
  };

  /** Members that run and could not connect to each other. */
  get apart(): string[] {
    const running = [...this.#containers.values()].filter(({ doing, going }) => doing.t === "running" && !going);
    return running.flatMap((from) =>
      running.flatMap((to) => {
        const why = from === to || !from.tls || !to.tls ? undefined : whyApart(from.tls, to.tls);
        return why === undefined ? [] : [`${from.key.name} and ${to.key.name}: ${why}`];
      }),
    );
  }

  #listening(url: string): Container | undefined {
    const { hostname } = new URL(url);
    const all = [...this.#containers.values(), ...this.#unseen];
    return all.find(({ address }) => address === hostname);
  }

  #process({ address }: Container, login?: Login): EtcdMember {
    return (this.etcd ?? nobody).at(memberUrl(address), login);
  }

  // What a test does to it

  /** Its process ends and is started again with its data. `forMs`: it ends again and again until then. */
  kill(name: string, { forMs = 0, reason = "Error" }: { forMs?: number; reason?: Ended["reason"] } = {}): void {
    const container = this.#named(name);
    if (container === undefined || container.going || container.evicted) return;
    container.brokenUntil = Math.max(container.brokenUntil, this.#clock.now() + forMs);
    this.#end(container, "kept", { reason, words: "", at: this.#options.now() });
  }

  /** Its process ends, its data is gone, and it is started again. */
  wipe(name: string): void {
    const container = this.#named(name);
    if (container === undefined || container.going || container.evicted) return;
    container.disk.data = undefined;
    this.#end(container, "gone", { reason: "Error", words: "", at: this.#options.now() });
  }

  /** Its process ends, and for this reason there is no other one, until `mend`. */
  holdUp(name: string, reason: string): void {
    const container = this.#named(name);
    if (container === undefined || container.going || container.evicted) return;
    container.heldUp = reason;
    this.#end(container, "kept", { reason: "Error", words: "", at: this.#options.now() });
  }

  /** Whatever keeps containers from starting and processes from running is over. */
  mend(): void {
    this.memoryNeeded = 0;
    for (const container of this.#containers.values()) {
      container.brokenUntil = 0;
      if (container.heldUp === undefined) continue;
      container.heldUp = undefined;
      this.#startSoon(container, times.firstRestart);
    }
  }

  /** Its pod ends for good, and its data with it. */
  async evict(name: string): Promise<void> {
    const container = this.#named(name);
    if (container === undefined || container.going || container.evicted) return;
    container.evicted = true;
    container.ready = false;
    this.#leave(container);
    const status = { phase: "Failed", reason: "Evicted", containerStatuses: null, conditions: null };
    await this.#api.mergePatch(Pod, container.key, { status }, { subresource: "status" });
  }

  /** Nothing is heard of the node of this pod, and its processes hear nothing. */
  silence(name: string): void {
    const node = this.#named(name)?.node;
    if (node === undefined || this.#silent.has(node)) return;
    this.#silent.add(node);
    for (const container of this.#on(node)) this.#setState(container, "isolated");
    this.#clock.after(times.nodeGrace, () => {
      if (this.#silent.has(node)) this.#attend(this.#writeNode(node, "Unknown"));
    });
  }

  /** Every node is heard of again. */
  revive(): void {
    const nodes = [...this.#silent];
    this.#silent.clear();
    for (const container of this.#unseen) this.#leave(container);
    this.#unseen.clear();
    for (const node of nodes) {
      this.#attend(this.#writeNode(node, "True"));
      for (const container of this.#on(node)) {
        this.#setState(container, "running");
        this.#attend(container.going ? this.#vanish(container) : this.#publish(container));
      }
    }
  }

  // What is there

  /** The names of the pods that there are, going ones too. */
  get pods(): readonly string[] {
    return [...this.#containers.values()].map(({ key }) => key.name);
  }

  /** It has data and cannot be started. */
  isHeldUp(name: string): boolean {
    const container = this.#named(name);
    if (container === undefined || this.#silent.has(container.node)) return false;
    return container.heldUp !== undefined && container.disk.data !== undefined && !container.going;
  }

  /** Every process has run, and its data outlives its pod. */
  get allKeepTheirData(): boolean {
    const all = [...this.#containers.values()];
    return all.length > 0 && all.every(({ disk }) => disk.claim !== undefined && !disk.unclaimed && disk.data);
  }

  /** One that nobody told to go. */
  stays(name: string): boolean {
    const container = this.#named(name);
    return container !== undefined && !container.going && !container.evicted;
  }

  // What it does by itself

  #heard({ kind, verb, object }: FinishedCall): void {
    if (kind === PersistentVolumeClaim.kind && verb === "delete") this.#unclaim(object?.metadata?.uid ?? "");
    if (kind !== Pod.kind || object === undefined) return;
    const pod = object as Pod; // the server keeps pods under this kind
    const container = this.#containers.get(pod.metadata?.uid ?? "");
    if (isImageCheck(pod)) return this.#attend(this.#tryImage(pod, verb));
    if (verb === "create") return this.#schedule(pod);
    if (container === undefined) return;
    if (verb === "delete") return this.#attend(this.#deleted(container));
    if (container.tls !== undefined && !this.#silent.has(container.node)) this.secrets.bring(pod, container.tls);
    // The last gate was opened.
    if (container.ready && isOpen(pod) && !isTrue(pod, "Ready")) this.#attend(this.#publish(container));
    const { image, resources } = containerOf(pod) ?? {};
    if (image !== undefined && image !== container.image) this.#changeImage(container, image);
    else if (resources?.limits?.["memory"] !== undefined) this.#attend(this.#publish(container));
  }

  /** A small pod that prints the version of the program in its image, and ends. */
  async #tryImage(pod: Pod, verb: FinishedCall["verb"]): Promise<void> {
    const key = keyOf(pod);
    const { uid = "" } = pod.metadata ?? {};
    if (verb === "delete") return this.#api.delete(Pod, key, { uid, gracePeriodSeconds: 0 });
    if (verb !== "create") return;
    const image = containerOf(pod)?.image ?? "";
    const status = isMissing(image)
      ? {
          phase: "Pending",
          containerStatuses: [{ name: etcdContainer, state: { waiting: { reason: "ErrImagePull" } } }],
        }
      : { phase: "Succeeded" };
    this.#api.logs.set(uid, `etcd Version: ${versionIn(pod)}\nGit SHA: Not provided\n`);
    await pause(this.#clock, times.start, new AbortController().signal);
    const live = await this.#api.get(Pod, key).catch(unlessNotFound);
    if (live?.metadata?.uid === uid) await this.#api.mergePatch(Pod, key, { status }, { subresource: "status" });
  }

  #schedule(pod: Pod): void {
    this.#addresses += 1;
    const container: Container = {
      key: keyOf(pod),
      uid: pod.metadata?.uid ?? "",
      address: `10.0.${Math.floor(this.#addresses / 250)}.${(this.#addresses % 250) + 1}`,
      node: this.#emptiestNode(),
      doing: { t: "waiting", reason: "ContainerCreating" },
      image: containerOf(pod)?.image ?? "",
      restarts: 0,
      ended: undefined,
      disk: { data: undefined, claim: undefined, unclaimed: false },
      ready: false,
      started: false,
      failsSince: undefined,
      going: false,
      evicted: false,
      tls: undefined,
      heldUp: undefined,
      brokenUntil: 0,
      attempt: 0,
    };
    this.#containers.set(container.uid, container);
    this.#clock.after(times.schedule, () => this.#attend(this.#bind(container)));
    this.#startSoon(container, times.schedule + times.start);
    this.#lookSoon();
  }

  async #bind(container: Container): Promise<void> {
    if (container.going) return;
    if (!this.#joined.has(container.node)) {
      this.#joined.add(container.node);
      await this.#api.create(Node, { metadata: { name: container.node } });
    }
    await this.#api.mergePatch(Pod, container.key, { spec: { nodeName: container.node } });
  }

  // Volumes

  #unclaim(uid: string): void {
    const disk = this.#disks.unclaim(uid);
    const isInUse = [...this.#containers.values()].some((container) => container.disk === disk);
    if (disk?.data !== undefined && !isInUse) this.etcd?.loseData(disk.data);
  }

  /** Its pod is over, and its data with it, unless that is in a volume. */
  #leave({ address, disk }: Container): void {
    const isLost = disk.claim === undefined || disk.unclaimed;
    this.etcd?.end(memberUrl(address), isLost ? "gone" : "kept");
    if (isLost) disk.data = undefined;
  }

  #startSoon(container: Container, ms: number): void {
    container.attempt += 1;
    const { attempt } = container;
    this.#clock.after(ms, () => {
      if (container.attempt === attempt) this.#attend(this.#start(container));
    });
  }

  async #start(container: Container): Promise<void> {
    if (container.going || container.evicted || container.doing.t === "running") return;
    if (this.#silent.has(container.node)) return this.#startSoon(container, times.backOff);
    if (container.heldUp !== undefined) {
      container.doing = { t: "waiting", reason: container.heldUp };
      return this.#publish(container);
    }
    // As it is now: annotations may have changed since its last start.
    const pod = await this.#api.get(Pod, container.key);
    if (container.ended !== undefined) container.restarts += 1;
    const at = this.#options.now();
    if (memoryLimit(pod) < this.memoryNeeded) return this.#failed(container, { reason: "OOMKilled", words: "", at });
    if (isMissing(container.image)) {
      container.doing = { t: "waiting", reason: "ErrImagePull" };
      return this.#publish(container);
    }
    if (isCrashing(container.image)) return this.#failed(container, { reason: "Error", words: "", at });
    if (this.#clock.now() < container.brokenUntil) return this.#failed(container, { reason: "Error", words: "", at });
    const tls = this.secrets.begin(pod);
    if (tls === undefined) return this.#startSoon(container, times.firstRestart);
    container.tls = tls;
    const disk = await this.#disks.of(pod, container.disk);
    if (disk === undefined) return this.#startSoon(container, times.firstRestart);
    container.disk = disk;
    const booted = this.#boot(pod, container);
    if (booted.t === "ends") return this.#failed(container, { reason: "Error", words: booted.words, at });
    container.disk.data = booted.member;
    container.doing = { t: "running", since: at };
    container.started = false;
    // Kubelets tell of a process a moment after they started it; by then most of them have probed it, too.
    const { attempt } = container;
    this.#clock.after(times.listen, () => {
      if (container.attempt === attempt && !container.going) this.#attend(this.#probe(container, "tell"));
    });
    this.#lookSoon();
  }

  #boot(pod: Pod, container: Container): Booted {
    const flags = flagsOf(pod);
    const list = initialCluster(flags);
    const isNew = flags.get("initial-cluster-state") === "new";
    const start = {
      name: flags.get("name"),
      peerUrl: list.own,
      clientUrl: memberUrl(container.address),
      version: versionIn(pod),
      maxLearners: Number(flags.get("max-learners") || 1),
    };
    // Alone it meets nobody who would know better.
    const isAlone = this.etcd === undefined || this.etcd.members.length === 1;
    if (isNew && container.disk.data === undefined && (this.#seed !== container.uid || isAlone)) {
      if (this.#seed === container.uid) this.onEmptyVoter(pod);
      else this.onSeed(pod);
      if (this.#seed !== container.uid) this.seeds += 1;
      this.#seed = container.uid;
      this.etcd = new FakeEtcd(start, {
        now: () => this.#clock.now(),
        token: flags.get("initial-cluster-token"),
        version: start.version,
        maxLearners: start.maxLearners,
        catchUp: times.catchUp,
        listen: times.listen,
        ...(this.#options.random && { random: this.#options.random }),
      });
      return { t: "runs", member: this.etcd.idOf(start.name) };
    }
    const empty = this.etcd?.emptyVoters.length;
    const booted = this.etcd?.boot({
      ...start,
      data: container.disk.data,
      initialState: isNew ? "new" : "existing",
      initialCluster: list.urls,
    }) ?? { t: "ends", words: "could not retrieve cluster information from the given URLs" };
    if (booted.t === "ends" && booted.words.includes("unequal")) this.misled += 1;
    if (this.etcd?.emptyVoters.length !== empty) this.onEmptyVoter(pod);
    return booted;
  }

  #failed(container: Container, ended: Ended): Promise<void> {
    container.ended = ended;
    container.doing = { t: "waiting", reason: "CrashLoopBackOff" };
    container.ready = false;
    this.#startSoon(container, backOff(container.restarts));
    return this.#publish(container);
  }

  #end(container: Container, data: "kept" | "gone", ended: Ended): void {
    this.etcd?.end(memberUrl(container.address), data);
    container.ready = false;
    container.ended = ended;
    container.doing = { t: "waiting", reason: container.heldUp ?? "CrashLoopBackOff" };
    this.#startSoon(container, backOff(container.restarts));
    this.#attend(this.#publish(container));
  }

  /** A kubelet kills the old one first, and pulls the image then. */
  #changeImage(container: Container, image: string): void {
    container.image = image;
    container.heldUp = undefined;
    const at = this.#options.now();
    if (container.doing.t === "running") this.#end(container, "kept", { reason: "Error", words: "", at });
    // The back-off is that of the image.
    this.#startSoon(container, times.start);
  }

  /** Gone from the API server at once where it was asked for by force; else its kubelet stops it first. */
  async #deleted(container: Container): Promise<void> {
    const there = await this.#api.get(Pod, container.key).catch(unlessNotFound);
    if (there?.metadata?.uid !== container.uid) {
      container.going = true;
      this.#containers.delete(container.uid);
      if (this.#silent.has(container.node)) this.#unseen.add(container);
      else this.#leave(container);
      return;
    }
    if (container.going) return;
    container.going = true;
    this.#clock.after(times.stop, () => {
      if (this.#silent.has(container.node)) return;
      this.etcd?.end(memberUrl(container.address), "kept");
      container.doing = { t: "waiting", reason: "Completed" };
    });
    this.#clock.after(times.vanish, () => this.#attend(this.#vanish(container)));
  }

  async #vanish(container: Container): Promise<void> {
    if (this.#silent.has(container.node)) return;
    this.#leave(container);
    try {
      await this.#api.delete(Pod, container.key, { uid: container.uid, gracePeriodSeconds: 0 });
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }

  // Looks at what runs

  #lookSoon(): void {
    if (this.#looking) return;
    this.#looking = true;
    this.#clock.after(times.look, () => {
      this.#looking = false;
      if (this.#containers.size > 0) this.#lookSoon();
      this.#attend(this.#look());
    });
  }

  async #look(): Promise<void> {
    this.etcd?.replicate();
    this.etcd?.meet();
    for (const container of this.#containers.values()) {
      if (container.doing.t !== "running" || container.going || this.#silent.has(container.node)) continue;
      const url = memberUrl(container.address);
      // A member that learns of its removal ends.
      if (this.etcd?.processAt(url) === undefined && this.etcd?.splits.includes(container.key.name) !== true) {
        this.#end(container, "kept", { reason: "Error", words: "", at: this.#options.now() });
        continue;
      }
      await this.#probe(container);
    }
  }

  /** `tell`: whether there is news or not. */
  async #probe(container: Container, tell?: "tell"): Promise<void> {
    const member = this.#process(container);
    const serves = (await member.health()).t === "healthy";
    const listens = serves || container.started || (await member.status().then(yes, isAccessRefusal));
    const now = this.#clock.now();
    const before = [container.ready, container.started];
    container.failsSince = serves ? undefined : (container.failsSince ?? now);
    container.started ||= listens;
    container.ready = serves || (container.ready && now - (container.failsSince ?? now) < times.unready);
    const isNews = container.ready !== before[0] || container.started !== before[1];
    if (isNews || tell !== undefined) await this.#publish(container);
  }

  async #publish(container: Container): Promise<void> {
    if (container.evicted || this.#silent.has(container.node)) return;
    const pod = await this.#api.get(Pod, container.key).catch(unlessNotFound);
    if (pod?.metadata?.uid !== container.uid) return;
    const { resources } = containerOf(pod) ?? {};
    const view = { ...container, resources, isOpen: isOpen(pod) };
    const status = podStatus(view, container.address, pod.status, this.#options.now());
    await this.#api.mergePatch(Pod, container.key, { status }, { subresource: "status" }).catch(unlessNotFound);
  }

  #setState(container: Container, state: "isolated" | "running"): void {
    const process = this.etcd?.processAt(memberUrl(container.address));
    const from = state === "running" ? "isolated" : "running";
    if (process?.state === from) this.etcd?.set(process.name, state);
  }

  // Nodes

  #nodes(): string[] {
    return Array.from({ length: nodes }, (_, n) => `n${n + 1}`);
  }

  #emptiestNode(): string {
    const load = (node: string): number => this.#on(node).length + (this.#silent.has(node) ? 1000 : 0);
    return this.#nodes().toSorted((a, b) => load(a) - load(b))[0] ?? "n1";
  }

  #on(node: string): Container[] {
    return [...this.#containers.values()].filter((container) => container.node === node);
  }

  async #writeNode(name: string, status: "True" | "Unknown"): Promise<void> {
    const lastTransitionTime = secondsTime(new Date(this.#options.now()));
    const conditions = [{ type: "Ready", status, lastTransitionTime }];
    await this.#api.mergePatch(Node, { namespace: "", name }, { status: { conditions } }, { subresource: "status" });
  }

  #named(name: string): Container | undefined {
    return [...this.#containers.values()].findLast(({ key }) => key.name === name);
  }

  /** Nobody waits for what a kubelet does, so what fails in it is kept for the test to see. */
  #attend(work: Promise<void>): void {
    work.catch((error: unknown) => {
      if (!isNotFound(error)) this.failures.push(error);
    });
  }
}

const isTrue = ({ status }: Pod, type: string): boolean =>
  status?.conditions?.some((condition) => condition.type === type && condition.status === "True") === true;

const isOpen = (pod: Pod): boolean =>
  pod.spec?.readinessGates?.every(({ conditionType }) => isTrue(pod, conditionType)) ?? true;

/** Of registries that do not have it, and images whose program ends at once. */
const isMissing = (image: string): boolean => image.startsWith("missing.example/");
const isCrashing = (image: string): boolean => image.startsWith("crashing.example/");

const yes = (): boolean => true;

function unlessNotFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}
