// All the nodes of an in-memory Kubernetes: pods get a node and an address and run, and what runs in them are members of
// an in-memory etcd, which start and end as the real ones do. Tests kill processes, wipe their data, starve them, evict
// their pods and silence their nodes.
import { isAccessRefusal, type Login } from "../../../etcd/login.ts";
import type { EtcdMember } from "../../../etcd/member.ts";
import type { Endpoint } from "../../../etcd/members.ts";
import { FakeEtcd } from "../../../etcd/testing/fake-etcd.ts";
import type { Clock } from "../../../kube/clock.ts";
import { isConflict, isNotFound } from "../../../kube/client/errors.ts";
import { getOrUndefined, unlessNotFound } from "../../../kube/client/get-or-undefined.ts";
import { Node, PersistentVolumeClaim, Pod } from "../../../kube/objects/kinds.ts";
import { keyOf, secondsTime } from "../../../kube/objects/objects.ts";
import type { FinishedCall } from "../../../kube/testing/fake-api/calls.ts";
import type { FakeApi } from "../../../kube/testing/fake-api/fake-api.ts";
import { memberUrl } from "../../objects/endpoints.ts";
import { isImageCheck } from "../../objects/image-check.ts";
import type { PresentedCertificate } from "../../../etcd/presented-certificate.ts";
import { backOff, times } from "./kubelet-times.ts";
import { Connections, whyTwoAreApart } from "../tls/connections.ts";
import { containerOf, isFrom, memoryLimit, messageOf } from "./container.ts";
import { type Container, isThere, newContainer } from "./containers.ts";
import { Disks, outlivesItsPod } from "./disks.ts";
import { type Begun, Etcds } from "./etcds.ts";
import { ImageTries } from "./image-tries.ts";
import { type Ended, isOpen, isTrue, podStatus } from "./pod-status.ts";
import { ClaimProtection } from "./protection.ts";
import { SchedulingGates } from "./scheduling-gates.ts";
import { ClusterSecrets, type Dialled, isExpired, presentedBy, requireUsable, takes } from "../tls/process-tls.ts";
import { isWorker, statusOf, Workers } from "../workers.ts";
import { restoreContainer } from "../../../worker/pod.ts";

/** No two members share one, as long as there are not more of them. */
const nodes = 8;

export interface KubeletOptions {
  readonly api: FakeApi;
  readonly clock: Clock;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** For what etcd leaves to chance; see FakeClusterOptions. */
  readonly random?: () => number;
  /** Namespace of the cluster under test. */
  readonly namespace: string;
}

const nobody = new FakeEtcd({
  name: "nobody",
  peerUrl: "http://nobody.example:2380",
  clientUrl: "http://nobody.example:2379",
});

export class Kubelet {
  readonly etcds: Etcds;
  readonly workers: Workers;
  /** Registries that nodes get no image from. */
  get missing(): string[] {
    return this.imageTries.missing;
  }

  readonly imageTries: ImageTries;
  /** Told when a process is started on a volume that another one has in use. */
  onShared: (pod: Pod) => void = () => undefined;
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
  readonly #gates = new SchedulingGates();
  readonly #disks: Disks;
  readonly #connections = new Connections();
  readonly #protection: ClaimProtection;
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
    const { api, clock, now, random } = options;
    this.#disks = new Disks(api);
    this.#protection = new ClaimProtection(api, (uid) => this.#unclaim(uid));
    this.etcds = new Etcds({ clock, ...(random && { random }) });
    this.workers = new Workers({ api, clock, now, etcds: this.etcds });
    this.imageTries = new ImageTries(api, clock);
    this.secrets = new ClusterSecrets(() => options.clock.now());
    options.api.onWrite((write) => {
      this.secrets.heard(write);
      this.#heard(write);
    });
  }

  /** The one under test: of the seed that ran last. */
  get etcd(): FakeEtcd | undefined {
    return this.etcds.current(this.#options.namespace);
  }

  set etcd(etcd: FakeEtcd | undefined) {
    this.etcds.set(this.#options.namespace, etcd);
  }

  /** Containers of the cluster under test. */
  get #ours(): Container[] {
    return [...this.#containers.values()].filter(({ key }) => key.namespace === this.#options.namespace);
  }

  /** Whoever listens there, and takes a client that comes like this. */
  at(endpoint: Dialled & Pick<Endpoint, "login">): EtcdMember {
    requireUsable(endpoint);
    const container = this.#listening(endpoint.url);
    const isTaken = container?.tls === undefined || takes(container.tls, endpoint, this.#options.now());
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

  presented = async (endpoint: Dialled): Promise<PresentedCertificate | undefined> => {
    requireUsable(endpoint);
    const { url } = endpoint;
    const { tls, node = "" } = this.#listening(url) ?? {};
    const isReached = tls !== undefined && !this.#silent.has(node);
    return isReached ? presentedBy(tls, Number(new URL(url).port)) : undefined;
  };

  /** Members that run and could not connect to each other. */
  get apart(): string[] {
    const running = this.#ours.filter(({ doing, going }) => doing.t === "running" && !going);
    return running.flatMap((from) =>
      running.flatMap((to) => {
        const why = whyTwoAreApart(from, to, this.#options.now());
        return why === undefined ? [] : [`${from.key.name} and ${to.key.name}: ${why}`];
      }),
    );
  }

  /** Members that show what has expired, to their peers or to clients. */
  get expired(): string[] {
    const now = this.#options.now();
    const running = this.#ours.filter((one) => one.doing.t === "running" && isThere(one));
    return running.filter(({ tls }) => tls !== undefined && isExpired(tls, now)).map(({ key }) => key.name);
  }

  #listening(url: string): Container | undefined {
    const { hostname } = new URL(url);
    const all = [...this.#containers.values(), ...this.#unseen];
    return all.find(({ address }) => address === hostname);
  }

  #process({ address, etcd = nobody }: Container, login?: Login): EtcdMember {
    return etcd.at(memberUrl(address), login);
  }

  // What a test does to it

  /** Its process ends and is started again with its data. `forMs`: it ends again and again until then. */
  kill(name: string, { forMs = 0, reason = "Error" }: { forMs?: number; reason?: Ended["reason"] } = {}): void {
    const container = this.#named(name);
    if (container === undefined || !isThere(container)) return;
    container.brokenUntil = Math.max(container.brokenUntil, this.#clock.now() + forMs);
    this.#end(container, "kept", { reason, words: "", at: this.#options.now() });
  }

  /** Its process ends, its data is gone, and it is started again. */
  wipe(name: string): void {
    const container = this.#named(name);
    if (container === undefined || !isThere(container)) return;
    container.disk.data = undefined;
    this.#end(container, "gone", { reason: "Error", words: "", at: this.#options.now() });
  }

  /** Its process ends, and for this reason there is no other one, until `mend`. */
  holdUp(name: string, reason: string): void {
    const container = this.#named(name);
    if (container === undefined || !isThere(container)) return;
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

  /** The network fails for a moment: members connect to each other again, if their certificates let them. */
  breakConnections(): void {
    this.#connections.break();
    this.#connect();
  }

  /** Its pod ends for good, and its data with it: by its kubelet, which does nothing that is heard of on a silent node. */
  async evict(name: string): Promise<void> {
    const container = this.#named(name);
    if (container === undefined || !isThere(container) || this.#silent.has(container.node)) return;
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
    return this.#ours.map(({ key }) => key.name);
  }

  /** The names of those whose process has data of an earlier etcd than the one that there is. */
  get bygone(): readonly string[] {
    const { etcd: current } = this;
    const isBygone = ({ doing, etcd, going }: Container): boolean =>
      !going && doing.t === "running" && etcd !== current;
    return this.#ours.filter(isBygone).map(({ key }) => key.name);
  }

  /** It has data and cannot be started. */
  isHeldUp(name: string): boolean {
    const container = this.#named(name);
    if (container === undefined || this.#silent.has(container.node)) return false;
    return container.heldUp !== undefined && container.disk.data !== undefined && !container.going;
  }

  /** Every process has run, and its data outlives its pod. */
  get allKeepTheirData(): boolean {
    const all = this.#ours;
    return all.length > 0 && all.every(({ disk }) => outlivesItsPod(disk) && disk.data !== undefined);
  }

  /** At least one that holds all that was acknowledged has it in a volume that stays. */
  get keepsACopy(): boolean {
    const entries = this.etcd?.entries ?? 0;
    return this.#ours.some(({ address, disk, etcd }) => {
      const held = etcd === this.etcd ? etcd?.processAt(memberUrl(address))?.held : undefined;
      return outlivesItsPod(disk) && held === entries;
    });
  }

  /** One that nobody told to go. */
  stays(name: string): boolean {
    const container = this.#named(name);
    return container !== undefined && isThere(container);
  }

  /** A copy of the volume of one claim under another, by their uids. */
  cloneVolume(from: string, to: string): void {
    this.#disks.clone(from, to);
  }

  // What it does by itself

  #heard(call: FinishedCall): void {
    const { kind, verb, object } = call;
    if (kind === PersistentVolumeClaim.kind && verb === "delete") this.#disks.doom(object?.metadata?.uid ?? "");
    this.#attend(this.#protection.heard(call));
    if (kind !== Pod.kind || object === undefined) return;
    const pod = object as Pod; // the server keeps pods under this kind
    const container = this.#containers.get(pod.metadata?.uid ?? "");
    if (isImageCheck(pod)) return this.#attend(this.imageTries.heard(pod, verb));
    if (isWorker(pod)) return this.#attend(this.workers.heard(pod, verb));
    const gate = this.#gates.heard(pod, verb);
    if (gate === "gone") return this.#attend(this.#remove(pod));
    if (gate === "opened") return this.#schedule(pod);
    if (gate === "held") return;
    if (verb === "create") return this.#schedule(pod);
    if (container === undefined) return;
    if (verb === "delete") {
      const isNews = !container.going;
      container.going = true;
      return this.#attend(this.#deleted(container, isNews));
    }
    if (container.tls !== undefined && !this.#silent.has(container.node)) this.secrets.bring(pod, container.tls);
    // The last gate was opened.
    if (container.ready && isOpen(pod) && !isTrue(pod, "Ready")) this.#attend(this.#publish(container));
    const { image, resources } = containerOf(pod) ?? {};
    if (image !== undefined && image !== container.image) this.#changeImage(container, image);
    else if (resources?.limits?.["memory"] !== undefined) this.#attend(this.#publish(container));
  }

  async #remove(pod: Pod): Promise<void> {
    await this.#api.delete(Pod, keyOf(pod), { uid: pod.metadata?.uid ?? "", gracePeriodSeconds: 0 });
  }

  #schedule(pod: Pod): void {
    this.#addresses += 1;
    const container = newContainer(pod, this.#emptiestNode(), this.#addresses);
    this.#containers.set(container.uid, container);
    this.#clock.after(times.schedule, () => this.#attend(this.#bind(container)));
    this.#startSoon(container, times.schedule + times.start);
    this.#checkSoon();
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
    const isInUse = [...this.#containers.values()].some((one) => one.disk === disk && !one.evicted);
    if (disk?.data !== undefined && !isInUse) disk.data.etcd.loseData(disk.data.member);
  }

  /** Its pod is over, and its data with it, unless that is in a volume. */
  #leave({ address, disk, etcd }: Container): void {
    const isLost = disk.claim === undefined || disk.unclaimed;
    etcd?.end(memberUrl(address), isLost ? "gone" : "kept");
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
    if (isFrom(this.missing, container.image)) {
      container.doing = { t: "waiting", reason: "ErrImagePull" };
      return this.#publish(container);
    }
    if (isFrom(["crashing.example/"], container.image))
      return this.#failed(container, { reason: "Error", words: "", at });
    if (this.#clock.now() < container.brokenUntil) return this.#failed(container, { reason: "Error", words: "", at });
    const tls = this.secrets.begin(pod);
    if (tls === undefined) return this.#startSoon(container, times.firstRestart);
    container.tls = tls;
    const disk = await this.#disks.of(pod, container.disk);
    if (disk === undefined) return this.#startSoon(container, times.firstRestart);
    if (this.#isShared(container, disk)) return this.#startSoon(container, times.firstRestart);
    container.disk = disk;
    const booted = this.#boot(pod, container);
    if (booted.t === "ends") {
      this.#api.logs.set(container.uid, booted.words);
      return this.#failed(container, { reason: "Error", words: messageOf(pod, booted.words), at });
    }
    const { etcd, member } = booted;
    container.etcd = etcd;
    container.disk.data = { etcd, member };
    container.doing = { t: "running", since: at };
    container.started = false;
    // Kubelets tell of a process a moment after they started it; by then most of them have probed it, too.
    const { attempt } = container;
    this.#clock.after(times.listen, () => {
      if (container.attempt === attempt && !container.going) this.#attend(this.#probe(container, "tell"));
    });
    this.#checkSoon();
  }

  /** A volume is attached to one node at a time: the next one waits, unless nobody hears of the first. */
  #isShared(container: Container, disk: Container["disk"]): boolean {
    const others = [...this.#containers.values()].filter((other) => other !== container && other.disk === disk);
    return others.some(({ doing }) => doing.t === "running");
  }

  #boot(pod: Pod, container: Container): Begun {
    if ([...this.#unseen].some(({ disk }) => disk === container.disk && disk.claim !== undefined)) this.onShared(pod);
    const prepared = this.workers.prepare(pod, container.disk.data !== undefined);
    if (prepared !== undefined) {
      const { result } = prepared;
      const ended = { terminated: { exitCode: result.ok ? 0 : 1, message: JSON.stringify(result) } };
      const waiting = { waiting: { reason: "CrashLoopBackOff" } };
      container.prepared = result.ok
        ? statusOf(ended, restoreContainer)
        : { ...statusOf(waiting, restoreContainer), lastState: ended, restartCount: container.restarts };
      if (!result.ok) return { t: "ends", words: result.message };
    }
    return this.etcds.boot(pod, { ...container, restored: prepared?.restored });
  }

  #failed(container: Container, ended: Ended): Promise<void> {
    container.ended = ended;
    container.doing = { t: "waiting", reason: "CrashLoopBackOff" };
    container.ready = false;
    this.#startSoon(container, backOff(container.restarts));
    return this.#publish(container);
  }

  #end(container: Container, data: "kept" | "gone", ended: Ended): void {
    container.etcd?.end(memberUrl(container.address), data);
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
  async #deleted(container: Container, isNews: boolean): Promise<void> {
    const there = await getOrUndefined(this.#api, Pod, container.key);
    if (there?.metadata?.uid !== container.uid) {
      this.#containers.delete(container.uid);
      if (this.#silent.has(container.node)) this.#unseen.add(container);
      else this.#leave(container);
      return;
    }
    if (!isNews) return;
    this.#clock.after(times.stop, () => {
      if (this.#silent.has(container.node)) return;
      container.etcd?.end(memberUrl(container.address), "kept");
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

  /** Members that certificates keep from the others run on, alone. */
  #connect(): void {
    const { etcd } = this;
    const isRunning = (one: Container): boolean =>
      one.etcd === etcd && one.doing.t === "running" && !this.#silent.has(one.node);
    if (etcd !== undefined) this.#connections.cutOff(etcd, this.#ours.filter(isRunning), this.#options.now());
  }

  // Looks at what runs

  #checkSoon(): void {
    if (this.#looking) return;
    this.#looking = true;
    this.#clock.after(times.check, () => {
      this.#looking = false;
      if (this.#containers.size > 0) this.#checkSoon();
      this.#attend(this.#check());
    });
  }

  async #check(): Promise<void> {
    this.#connect();
    for (const etcd of this.etcds.all) {
      etcd.replicate();
      etcd.meet();
    }
    for (const container of this.#containers.values()) {
      if (container.doing.t !== "running" || container.going || this.#silent.has(container.node)) continue;
      const url = memberUrl(container.address);
      // A member that learns of its removal ends.
      const { etcd } = container;
      if (etcd?.processAt(url) === undefined && etcd?.splits.includes(container.key.name) !== true) {
        this.#end(container, "kept", { reason: "Error", words: "", at: this.#options.now() });
        continue;
      }
      if (container.tls !== undefined) this.secrets.refresh(container.tls);
      await this.#probe(container);
    }
  }

  /** `tell`: whether there is news or not. */
  async #probe(container: Container, tell?: "tell"): Promise<void> {
    const member = this.#process(container);
    const serves = (await member.health()).t === "healthy";
    const listens = serves || container.started || (await member.status().then(() => true, isAccessRefusal));
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
    const pod = await getOrUndefined(this.#api, Pod, container.key);
    if (pod?.metadata?.uid !== container.uid) return;
    const { resources } = containerOf(pod) ?? {};
    const view = { ...container, resources, isOpen: isOpen(pod) };
    const status = podStatus(view, container.address, pod.status, this.#options.now());
    await this.#api.mergePatch(Pod, container.key, { status }, { subresource: "status" }).catch(unlessNotFound);
  }

  #setState(container: Container, state: "isolated" | "running"): void {
    const { etcd } = container;
    const process = etcd?.processAt(memberUrl(container.address));
    const from = state === "running" ? "isolated" : "running";
    const isCutOff = state === "isolated" && process?.state === "partitioned";
    if (process !== undefined && (process.state === from || isCutOff)) etcd?.set(process.name, state);
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
    return this.#ours.findLast(({ key }) => key.name === name);
  }

  /** Nobody waits for what a kubelet does, so what fails in it is kept for the test to see. */
  #attend(work: Promise<void>): void {
    work.catch((error: unknown) => {
      if (!isNotFound(error)) this.failures.push(error);
    });
  }
}
