// What people and nature do to a cluster, as data that fast-check can draw and shrink, and how it is done on a stage.
import * as fc from "fast-check";
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { EtcdError } from "../../etcd/errors.ts";
import type { EtcdMember, Member } from "../../etcd/member.ts";
import { isNotFound } from "../../kube/client/errors.ts";
import { PersistentVolumeClaim, Pod, PodDisruptionBudget, Service } from "../../kube/objects/kinds.ts";
import { TransportError } from "../../transport/errors.ts";
import { quorum } from "../assess/seats.ts";
import { restartedAtAnnotation } from "../objects/member-pod.ts";
import { key, type Stage } from "./stage.ts";

/** `who` picks a pod or a member, modulo how many there are. */
export type Happening =
  | { readonly t: "nothing" | "revive" | "allow" | "mend" | "hear" | "correct" | "addByHand" | "pastRestart" }
  | { readonly t: "scale"; readonly size: number }
  | { readonly t: "deletePod" | "evict" | "silence" | "wipe" | "removeByHand"; readonly who: number }
  | { readonly t: "kill"; readonly who: number; readonly forMs: number; readonly reason: "Error" | "OOMKilled" }
  | { readonly t: "holdUp"; readonly who: number; readonly reason: "ErrImagePull" | "CreateContainerConfigError" }
  /** Something around the members is deleted; `forGood`: it may not be made again until that is allowed. */
  | { readonly t: "strip"; readonly of: Around; readonly who: number; readonly forGood: boolean }
  | { readonly t: "version"; readonly to: string }
  | { readonly t: "settings"; readonly snapshotCount: number }
  | { readonly t: "repository"; readonly to: string }
  | { readonly t: "path"; readonly path: "Manual" | "Automatic" }
  | { readonly t: "strategy"; readonly strategy: "RollingUpdate" | "OnDelete" }
  | { readonly t: "restart"; readonly at: number }
  | { readonly t: "spoil"; readonly how: "version" | "resources" | "flags" }
  | { readonly t: "pods"; readonly made: "asWritten" | "withoutMaxLearners" }
  | { readonly t: "deaf"; readonly to: "pods" | "clusters" }
  | { readonly t: "deleteClaim"; readonly who: number }
  /** All at once. */
  | { readonly t: "deletePods" }
  | { readonly t: "grow"; readonly storage: string }
  | { readonly t: "retain"; readonly policy: "Retain" | "Delete" }
  | { readonly t: "volumes"; readonly are: "wanted" | "unwanted" }
  /** Other CAs are asked for. */
  | { readonly t: "rotate"; readonly what: number };

type Around = "peer" | "client" | "budget" | "labels";

const who = fc.nat(20);
const of = <const T extends string>(t: T) => fc.constant(t);

/** By name, so that a property says which of them it is about. */
const arbitraries = {
  /** Sizes, and members that come and go as in any week. */
  everyday: fc.oneof(
    { weight: 2, arbitrary: fc.record({ t: of("scale"), size: fc.integer({ min: 1, max: 6 }) }) },
    { weight: 4, arbitrary: fc.record({ t: fc.constantFrom("deletePod", "evict", "silence"), who }) },
    { weight: 1, arbitrary: fc.record({ t: of("revive") }) },
    {
      weight: 2,
      arbitrary: fc.record({
        t: of("kill"),
        who,
        forMs: fc.constantFrom(0, 8000, 300_000),
        reason: fc.constantFrom("Error", "OOMKilled"),
      }),
    },
    { weight: 1, arbitrary: fc.record({ t: of("removeByHand"), who }) },
    { weight: 1, arbitrary: fc.record({ t: of("addByHand") }) },
  ),
  /** Data directories that are lost while their pods stay. */
  wipes: fc.record({ t: of("wipe"), who }),
  /** Containers that cannot be started again. */
  images: fc.oneof(
    fc.record({ t: of("holdUp"), who, reason: fc.constantFrom("ErrImagePull", "CreateContainerConfigError") }),
    fc.record({ t: of("mend") }),
  ),
  /** What is around the members is lost, and may not be made again. */
  refusals: fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        t: of("strip"),
        of: fc.constantFrom("peer", "client", "budget", "labels"),
        who,
        forGood: fc.boolean(),
      }),
    },
    { weight: 1, arbitrary: fc.record({ t: of("allow") }) },
  ),
  /** Other versions, also ones that cannot be reached, and other settings. */
  edits: fc.oneof(
    fc.record({ t: of("version"), to: fc.constantFrom("3.4.23", "3.5.35", "3.6.16", "3.7.3") }),
    fc.record({ t: of("settings"), snapshotCount: fc.constantFrom(1000, 20_000) }),
  ),
  /** What is changed one member at a time, with images that cannot be had or do not run among them. */
  rolls: fc.oneof(
    fc.record({
      t: of("repository"),
      to: fc.constantFrom("quay.io/coreos/etcd", "other.example/etcd", "missing.example/etcd", "crashing.example/etcd"),
    }),
    fc.record({ t: of("path"), path: fc.constantFrom("Manual", "Automatic") }),
    fc.record({ t: of("strategy"), strategy: fc.constantFrom("RollingUpdate", "OnDelete") }),
    fc.record({ t: of("restart"), at: fc.nat(3) }),
  ),
  /** What the operator cannot apply. */
  mistakes: fc.oneof(
    fc.record({ t: of("spoil"), how: fc.constantFrom("version", "resources", "flags") }),
    fc.record({ t: of("correct") }),
  ),
  /** Members that were started with other flags, by an older operator. */
  flags: fc.record({ t: of("pods"), made: fc.constantFrom("asWritten", "withoutMaxLearners") }),
  /** Caches that fall behind, and operators that begin with what an API server remembers. */
  oldViews: fc.oneof(
    fc.record({ t: of("deaf"), to: fc.constantFrom("pods", "clusters") }),
    fc.record({ t: of("hear") }),
    fc.record({ t: of("pastRestart") }),
  ),
  /** What happens to members with volumes of their own. */
  volumes: fc.oneof(
    fc.record({ t: of("deleteClaim"), who }),
    fc.record({ t: of("deletePods") }),
    fc.record({ t: of("grow"), storage: fc.constantFrom("2Gi", "3Gi") }),
    fc.record({ t: of("retain"), policy: fc.constantFrom("Retain", "Delete") }),
  ),
  /** Members get volumes, and lose them. */
  moves: fc.record({ t: of("volumes"), are: fc.constantFrom("wanted", "unwanted") }),
  /** Members speak TLS, and CAs are exchanged, also for others before that is over. */
  certificates: fc.record({ t: of("rotate"), what: fc.nat(9) }),
} satisfies Record<string, fc.Arbitrary<Happening>>;

export const volumesOf = (storage: string): object => ({
  persistentVolumeClaimSpec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } } },
});

export type Sort = keyof typeof arbitraries;

export function happenings(sorts: readonly Sort[]): fc.Arbitrary<Happening> {
  return fc.oneof(
    { weight: 3, arbitrary: fc.record({ t: of("nothing") }) },
    ...sorts.map((sort) => ({ weight: sort === "everyday" ? 4 : 3, arbitrary: arbitraries[sort] })),
  );
}

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
  /** The repository that was asked for last. */
  #images = "";

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
        // Of a cluster that has never served nobody knows what was right before.
        if ((kubelet.etcd?.entries ?? 0) === 0) return;
        this.#spoil();
        return this.#stage.edit(spoilt[event.how]);
      case "correct":
        return this.#correct();
      case "pods":
        this.#stage.podsAreMade = event.made;
        return;
      case "deaf":
        return this.#begin(`deaf to ${event.to}`, () =>
          api.faults.holdWatches({ verb: "watch", kind: event.to === "pods" ? Pod : EtcdCluster }),
        );
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
      case "hear":
        return this.#end("deaf to ");
      case "pastRestart":
        return this.#pastRestart();
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
    if (/^(missing|crashing)/.test(this.#images)) return false;
    const services = await this.#stage.api.list(Service);
    const isThere = services.items.some(({ metadata }) => metadata?.name === key.name);
    return isThere || !(this.#ends.has("refuse peer") || this.#ends.has("refuse client"));
  }

  /** Everything that lasts is over, and people have corrected what they wrote. */
  async calmDown(): Promise<void> {
    this.leaveInPeace();
    this.#end("");
    this.#stage.podsAreMade = "asWritten";
    await this.#correct();
  }

  async #correct(): Promise<void> {
    this.#spoilt = false;
    this.#sizes = this.#sizes.slice(-1);
    this.#images = "";
    const unset = { etcd: null, pod: null, repository: null, upgrade: null, updateStrategy: null };
    const pod = this.#storage === undefined ? {} : { pod: { resources: null, ...volumesOf(this.#storage) } };
    await this.#stage.edit({ version: this.#version, ...unset, ...pod });
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

  /** Another operator takes over, and what it lists is as it was a while ago. */
  async #pastRestart(): Promise<void> {
    const { api } = this.#stage;
    const lists = { verb: "list", namespace: key.namespace } as const;
    this.#begin("deaf to the present", () => {
      const ends = [Pod, EtcdCluster].flatMap((kind) => [
        api.faults.showThePast({ ...lists, kind }),
        api.faults.holdWatches({ verb: "watch", kind }),
      ]);
      return () => {
        for (const end of ends) end();
      };
    });
    await this.#stage.pass(2_000);
    await this.#stage.stopOperator();
    this.#stage.startOperator();
  }

  async #harm(n: number, harm: (name: string) => void | Promise<void>): Promise<void> {
    const name = this.#pick(n);
    if (name === undefined || (this.#care && !this.#isSpared(name))) return;
    await harm(name);
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

function unlessNotFound(error: unknown): void {
  if (!isNotFound(error)) throw error;
}
