// Lets what a history says happen to one cluster on a stage, and undoes what lasts.
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { EtcdError } from "../../etcd/errors.ts";
import type { EtcdMember, Member } from "../../etcd/member.ts";
import { has } from "../../etcd/versions/features.ts";
import { parseVersion } from "../../etcd/versions/version.ts";
import { unlessNotFound } from "../../kube/client/get-or-undefined.ts";
import { PersistentVolumeClaim, Pod, PodDisruptionBudget, Service } from "../../kube/objects/kinds.ts";
import { TransportError } from "../../transport/errors.ts";
import { quorum } from "../assess/instances.ts";
import { restartedAtAnnotation } from "../objects/member-pod.ts";
import { quotas } from "./admission.ts";
import { damageSecret, keepSecrets, loseSecret, loseSecrets, writeOnSecrets } from "./tls/certificate-tamperings.ts";
import { type Around, type Happening, volumesOf } from "./happenings.ts";
import { attendToRestore, backUp, clone, deleteClaims, reapply, restoreInPlace } from "./people.ts";
import { key, type Stage } from "./stage.ts";
import { type Cached, deafTo, showThePast } from "./views.ts";

const dayMs = 86_400_000;
/** The largest that etcd recommends. */
const mostQuota = 8 * 1024 ** 3;

/** Lets things happen to one cluster, and undoes what lasts. */
export class Nature {
  readonly #stage: Stage;
  /** Nothing happens to a member that the cluster could not survive if it were left alone. */
  readonly #care: boolean;
  readonly #version: string;
  readonly #ends = new Map<string, () => void>();
  /** As asked for last, and while the spec was wrong: what is wrong is not applied, so nobody knows which of them. */
  #sizes: number[];
  #spoilt = false;
  #paused = false;
  /** Quota of the databases, where one was asked for: what is full needs it. */
  #quota: number | undefined;
  /** How much of its quota the database took when it grew last, in percent. */
  #filled = 0;
  /** The repository that was asked for last. */
  #images = "";

  /** What a backup tool would do with the Secrets that it kept. */
  #bringBack: () => Promise<void> = () => Promise.resolve();
  /** What is asked for of volumes; undefined: none. */
  #storage: string | undefined;

  constructor(
    stage: Stage,
    options: { readonly care: boolean; readonly size: number; readonly version: string; readonly volumes: boolean },
  ) {
    this.#storage = options.volumes ? "1Gi" : undefined;
    this.#stage = stage;
    this.#care = options.care;
    this.#sizes = [options.size];
    this.#version = options.version;
  }

  /** As it was asked for last; several while it is not clear what was. */
  get sizes(): readonly number[] {
    return this.#sizes;
  }

  async happen(event: Happening): Promise<void> {
    const { kubelet, api } = this.#stage;
    switch (event.t) {
      case "nothing":
        return;
      case "scale":
        this.#sizes = this.#spoilt ? [...this.#sizes, event.size] : [event.size];
        return this.#stage.resize(event.size);
      case "deletePod":
        return this.#harm(event.who, (name) => this.#stage.api.delete(Pod, { ...key, name }));
      case "evict":
        return this.#harm(event.who, (name) => kubelet.evict(name));
      case "silence":
        return this.#harm(event.who, (name) => kubelet.silence(name));
      case "wipe":
        return this.#harm(event.who, (name) => kubelet.wipe(name));
      case "kill":
        return this.#harm(event.who, (name) => kubelet.kill(name, event));
      case "holdUp":
        return this.#harm(event.who, (name) => kubelet.holdUp(name, event.reason));
      case "revive":
        return kubelet.revive();
      case "mend":
        return kubelet.mend();
      case "removeByHand":
        return this.#removeByHand(event.who);
      case "addByHand":
        return this.#addByHand();
      case "strip":
        if (event.forGood) this.#begin(`refuse ${event.of}`, () => this.#refusal(event.of));
        return this.#strip(event.of, event.who).catch(unlessNotFound);
      case "allow":
        return this.#end("refuse ");
      case "version":
        return this.#stage.edit({ version: event.to });
      case "settings":
        return this.#stage.edit({ etcd: { snapshotCount: event.snapshotCount } });
      case "repository":
        this.#images = event.to;
        return this.#stage.edit({ repository: event.to });
      case "path":
        return this.#stage.edit({ upgrade: { path: event.path } });
      case "strategy":
        return this.#stage.edit({ updateStrategy: event.strategy });
      case "restart":
        await api.mergePatch(EtcdCluster, key, {
          metadata: { annotations: { [restartedAtAnnotation]: `${event.at}` } },
        });
        return;
      case "spoil":
        // Nobody knows what was right before in a cluster that has never served.
        if ((kubelet.etcd?.entries ?? 0) === 0) return;
        this.#spoil();
        return this.#stage.edit(spoilt[event.how]);
      case "correct":
        return this.#correct();
      case "pods":
        this.#stage.rules.podsAreMade = event.made;
        return;
      case "deaf":
        return this.#begin(`deaf to ${event.to}`, () => deafTo(api, event.to));
      case "deleteClaim":
        return this.#harm(event.who, (name) =>
          api.delete(PersistentVolumeClaim, { ...key, name }).catch(unlessNotFound),
        );
      case "deletePods":
        if (!kubelet.allKeepTheirData) return;
        for (const name of kubelet.pods) await api.delete(Pod, { ...key, name }).catch(unlessNotFound);
        return;
      case "grow":
        if (this.#storage === undefined || this.#storage > event.storage) return;
        this.#storage = event.storage;
        return this.#stage.edit({ pod: volumesOf(event.storage) });
      case "retain":
        return this.#stage.edit({
          volumeRetention: { whenMemberRemoved: event.policy, whenClusterDeleted: event.policy },
        });
      case "volumes":
        this.#storage = event.are === "wanted" ? (this.#storage ?? "3Gi") : undefined;
        return this.#stage.edit({
          pod: this.#storage === undefined ? { persistentVolumeClaimSpec: null } : volumesOf(this.#storage),
        });
      case "rotate":
        return this.#stage.rotate(`${event.what}`);
      case "network":
        return kubelet.breakConnections();
      case "loseSecrets":
        this.#stage.watch.allowApart();
        return loseSecrets(this.#stage);
      case "damageSecret":
        this.#stage.watch.allowApart();
        return damageSecret(this.#stage, event.who, event.what);
      case "loseSecret":
        return loseSecret(this.#stage, event.who);
      case "keepSecrets":
        this.#bringBack = await keepSecrets(this.#stage);
        return;
      case "bringSecretsBack":
        this.#stage.watch.allowApart();
        return this.#bringBack();
      case "writeOnSecrets":
        return writeOnSecrets(this.#stage);
      case "days":
        return this.#passDays(event.number);
      case "domain":
        // One that joins may start before the certificate with its new name is written, and gets it soon after.
        this.#stage.watch.allowApart();
        return this.#stage.edit({ pod: { ClusterDomain: event.to } });
      case "pause":
        this.#paused = event.for === "good";
        return this.#stage.edit({ paused: this.#paused });
      case "fill":
        return this.#fill(event.percent);
      case "quotaBytes":
        this.#quota = event.to;
        return this.#stage.edit({ etcd: { quotaBackendBytes: event.to } });
      case "full":
        kubelet.imageTries.areFull = event.are;
        return;
      case "hear":
        return this.#end("deaf to ");
      case "pastRestart":
        return this.#pastRestart(event.of, event.agoMs);
      case "overtake":
        this.#stage.overtakeOperator();
        return;
      case "wrongClock":
        await this.#stage.stopOperator();
        this.#stage.startOperator({ t: "lives" }, event.fastBy);
        return;
      case "deleteClaims":
        if (this.#care && !(await this.#allServe())) return;
        return deleteClaims(this.#stage);
      case "backUp":
        return backUp(this.#stage);
      case "restore":
        return restoreInPlace(this.#stage);
      case "reapply":
        return this.#reapply();
      case "clone":
        return clone(this.#stage);
      case "webhook":
        this.#stage.rules.webhook = event.does;
        return;
      case "quota":
        return this.#begin(`refuse ${event.refuses}`, () => this.#stage.rules.useUp(event.refuses));
    }
  }

  /** Members are left in peace, and operators see what is there. What people wrote and forbid stays. */
  leaveInPeace(): void {
    this.#end("deaf to ");
    this.#stage.kubelet.revive();
    this.#stage.kubelet.mend();
  }

  /** Members find each other by the peer Service: without it, no pod would be of use. Nor without an image. */
  async mayMakePods(): Promise<boolean> {
    // A replacement that has begun, for other settings, waits for room in the database.
    if (this.#filled > 90) return false;
    if (this.#paused || /^(missing|crashing)/.test(this.#images)) return false;
    if (quotas.some((quota) => this.#ends.has(`refuse ${quota}`))) return false;
    const services = await this.#stage.api.list(Service);
    const isThere = services.items.some(({ metadata }) => metadata?.name === key.name);
    return isThere || !(this.#ends.has("refuse peer") || this.#ends.has("refuse client"));
  }

  /** Everything that lasts is over, and people have corrected what they wrote. */
  async calmDown(): Promise<void> {
    this.leaveInPeace();
    this.#end("");
    this.#stage.rules.podsAreMade = "asWritten";
    this.#stage.rules.webhook = "nothing";
    this.#stage.kubelet.imageTries.areFull = false;
    await this.#correct();
    await attendToRestore(this.#stage);
  }

  /** Once there is room again: etcd before 3.4 does not tell the operator that its alarm is raised. */
  async disarmByHand(): Promise<void> {
    const version = parseVersion(this.#version);
    if (version === undefined || has(version, "learners")) return;
    await this.#askLeader(async (leader) => {
      for (const alarm of await leader.alarms()) await leader.disarm(alarm);
    });
  }

  async #correct(): Promise<void> {
    this.#spoilt = false;
    this.#sizes = this.#sizes.slice(-1);
    this.#images = "";
    this.#paused = false;
    // Enough for all that was filled.
    if (this.#filled > 0) this.#quota = mostQuota;
    const unset = {
      paused: null,
      etcd: this.#quota === undefined ? null : { snapshotCount: null, quotaBackendBytes: this.#quota },
      pod: null,
      repository: null,
      upgrade: null,
      updateStrategy: null,
    };
    const pod = this.#storage === undefined ? {} : { pod: { resources: null, ...volumesOf(this.#storage) } };
    await this.#stage.edit({ version: this.#version, ...unset, ...pod });
  }

  /** A database that shrinks is one that somebody compacted and defragmented. */
  #fill(percent: number): void {
    const { etcd } = this.#stage.kubelet;
    if ((etcd?.entries ?? 0) === 0) return;
    etcd?.fill(percent);
    this.#filled = percent;
  }

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

  async #strip(what: Around, who: number): Promise<void> {
    const { api } = this.#stage;
    if (what === "peer") return api.delete(Service, key);
    if (what === "client") return api.delete(Service, { ...key, name: `${key.name}-client` });
    if (what === "budget") return api.delete(PodDisruptionBudget, key);
    const name = this.#pick(who);
    if (name !== undefined) await api.mergePatch(Pod, { ...key, name }, { metadata: { labels: null } });
  }

  #refusal(what: Around): () => void {
    if (what === "labels") return this.#stage.refuseLabels();
    return this.#stage.refuse(what === "budget" ? PodDisruptionBudget : Service);
  }

  /** Somewhere between what there is and what was asked for, members are healed. */
  #spoil(): void {
    const [there, wanted] = [this.#members().length, this.#sizes.at(-1) ?? 1];
    const [least, most] = [Math.min(there, wanted), Math.max(there, wanted)];
    this.#spoilt = true;
    this.#sizes = [...Array.from({ length: most - least + 1 }, (_, n) => least + n), wanted];
  }

  /** Another operator takes over, and what it lists of these is as it was a while ago. */
  async #pastRestart(of: readonly Cached[], agoMs: number): Promise<void> {
    const { api } = this.#stage;
    this.#begin("deaf to the present", () => {
      const ends = of.map((what) => showThePast(api, what));
      return () => {
        for (const end of ends) end();
      };
    });
    await this.#stage.pass(agoMs);
    for (const what of of) this.#begin(`deaf to the present of ${what}`, () => deafTo(api, what));
    await this.#stage.stopOperator();
    this.#stage.startOperator();
  }

  /**
   * Day by day: an operator acts on each of them, and what it was to replace in time must not have expired when the next one
   * begins, before anybody acts.
   */
  async #passDays(number: number): Promise<void> {
    const { clock, kubelet, watch } = this.#stage;
    for (let day = 0; day < number; day += 1) {
      clock.leap(dayMs);
      watch.check();
      kubelet.breakConnections();
      await this.#stage.pass(1_000);
    }
  }

  /** Without volumes that stay, its data goes with it. */
  async #reapply(): Promise<void> {
    if (this.#care && !(this.#stage.kubelet.allKeepTheirData && (await this.#keepsVolumes()))) return;
    await reapply(this.#stage);
  }

  /** Neither the spec nor what is written on a claim has the volumes deleted together with the EtcdCluster. */
  async #keepsVolumes(): Promise<boolean> {
    const { spec } = await this.#stage.cluster();
    const { items } = await this.#stage.api.list(PersistentVolumeClaim, { namespace: key.namespace });
    const goes = ({ metadata }: PersistentVolumeClaim): boolean =>
      (metadata?.ownerReferences?.length ?? 0) > 0 || metadata?.deletionTimestamp !== undefined;
    return spec.volumeRetention?.whenClusterDeleted !== "Delete" && !items.some(goes);
  }

  async #harm(n: number, harm: (name: string) => void | Promise<void>): Promise<void> {
    const name = this.#pick(n);
    if (name === undefined || (this.#care && !this.#isSpared(name))) return;
    await harm(name);
  }

  /** Claims stay as long as their pods: nothing is lost with them where everybody serves, in a cluster that has begun. */
  async #allServe(): Promise<boolean> {
    const { status } = await this.#stage.cluster();
    return status?.clusterId !== undefined && this.#stage.watch.decidesAmong(this.#members().length);
  }

  /** The others would go on without it. */
  #isSpared(name: string): boolean {
    return this.#stage.watch.decidesWithStaying([name]);
  }

  #pick(n: number): string | undefined {
    const { pods } = this.#stage.kubelet;
    return pods[n % Math.max(1, pods.length)];
  }

  async #removeByHand(n: number): Promise<void> {
    const members = this.#members();
    const member = members[n % Math.max(1, members.length)];
    if (member === undefined || members.length < 2 || (this.#care && !this.#isSpared(member.name))) return;
    await this.#askLeader((leader) => leader.memberRemove(member.id));
  }

  async #addByHand(): Promise<void> {
    const voters = this.#members().filter(({ learner }) => !learner);
    // A voter that never starts counts against the quorum.
    if (this.#care && !this.#stage.watch.decidesAmong(quorum(voters.length + 1))) return;
    const peerUrls = [`http://stray-${this.#stage.clock.now()}.example:2380`];
    await this.#askLeader((leader) => leader.memberAdd({ as: "voter", peerUrls }));
  }

  #members(): readonly Member[] {
    return this.#stage.kubelet.etcd?.members ?? [];
  }

  async #askLeader(ask: (leader: EtcdMember) => Promise<unknown>): Promise<void> {
    const { etcd } = this.#stage.kubelet;
    const leader = this.#members().find(({ id }) => id === etcd?.leader)?.clientUrls[0];
    if (etcd === undefined || leader === undefined) return;
    try {
      await ask(etcd.at(leader));
    } catch (error) {
      if (!(error instanceof EtcdError) && !(error instanceof TransportError)) throw error;
    }
  }
}

const spoilt = {
  version: { version: "newest" },
  resources: { pod: { resources: { limits: { memory: "much" } } } },
  flags: { etcd: { extraArgs: ["--no-such-flag=1"] } },
} as const;
