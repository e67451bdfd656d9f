// The etcds of an in-memory Kubernetes: one a namespace, and those before it whose data is still on disks. A process that
// finds data goes on as the member whose data it is; one that finds none begins a cluster or joins one, as it is told.
import type { MemberId } from "../../../etcd/ids.ts";
import { type Booted, FakeEtcd } from "../../../etcd/testing/fake-etcd.ts";
import type { FakeClusterOptions } from "../../../etcd/testing/fake-cluster.ts";
import type { StoreCopy } from "../../../etcd/testing/fake-store.ts";
import type { NewMember } from "../../../worker/job.ts";
import type { Clock } from "../../../kube/clock.ts";
import type { Pod } from "../../../kube/objects/kinds.ts";
import { memberUrl } from "../../objects/endpoints.ts";
import { flagsOf, initialCluster, limitsIn, versionIn } from "./container.ts";
import type { Disk } from "./disks.ts";
import { times } from "./kubelet-times.ts";

export interface EtcdsOptions {
  readonly clock: Clock;
  readonly random?: () => number;
}

/** What a process finds, and where it listens. */
export interface Found {
  /** The uid of its pod. */
  readonly uid: string;
  readonly address: string;
  readonly disk: Disk;
  /** What an init container has made of a backup. */
  readonly restored: Restored | undefined;
}

export interface Restored {
  readonly content: StoreCopy;
  readonly bump: number;
  readonly token: string;
  /** All that begin together, as etcdutl was told; empty: an older release began alone. */
  readonly initialCluster: readonly NewMember[];
}

export type Begun =
  | { readonly t: "runs"; readonly etcd: FakeEtcd; readonly member: MemberId }
  | { readonly t: "ends"; readonly words: string };

export class Etcds {
  /** How often a cluster was begun: once, for one EtcdCluster. */
  seeds = 0;
  /** Told when a pod begins a cluster. */
  onSeed: (pod: Pod) => void = () => undefined;
  /** Told when a voter that ran before begins again with an empty log. */
  onEmptyVoter: (pod: Pod) => void = () => undefined;
  /** Told when the data of a member that has run before is made from the backup once more. */
  onMadeTwice: (pod: Pod) => void = () => undefined;
  /** Told when a process finds data whose members are those of another namespace: it would connect to them. */
  onStray: (pod: Pod, home: string) => void = () => undefined;
  /** How often one ended at once because it was given another list of members than etcd has. */
  misled = 0;
  readonly #options: EtcdsOptions;
  /** By namespace: the one whose seed ran last. */
  readonly #current = new Map<string, FakeEtcd>();
  readonly #homes = new Map<FakeEtcd, string>();
  /** The uid of the pod that began the cluster, by namespace. */
  readonly #seeds = new Map<string, string>();
  /** Those that several members begin together, by what their ids are made of. */
  readonly #restored = new Map<string, FakeEtcd>();

  constructor(options: EtcdsOptions) {
    this.#options = options;
  }

  current(namespace: string): FakeEtcd | undefined {
    return this.#current.get(namespace);
  }

  set(namespace: string, etcd: FakeEtcd | undefined): void {
    if (etcd === undefined) this.#current.delete(namespace);
    else this.#current.set(namespace, etcd);
  }

  /** All that there ever were, for what time does to them. */
  get all(): readonly FakeEtcd[] {
    return [...this.#homes.keys()];
  }

  boot(pod: Pod, found: Found): Begun {
    const { namespace = "" } = pod.metadata ?? {};
    const { data } = found.disk;
    const home = data === undefined ? namespace : (this.#homes.get(data.etcd) ?? namespace);
    if (home !== namespace) {
      this.onStray(pod, home);
      return { t: "ends", words: "it would disturb the members whose data it has" };
    }
    if (data !== undefined) return this.#return(pod, found, data.etcd, data.member);
    if (found.restored !== undefined && found.restored.initialCluster.length > 0)
      return this.#beginRestored(pod, found, found.restored);
    const isNew = flagsOf(pod).get("initial-cluster-state") === "new" || found.restored !== undefined;
    const current = this.#current.get(namespace);
    // Alone it meets nobody who would know better.
    const isAlone = current === undefined || current.members.length === 1;
    const isOwn = this.#seeds.get(namespace) === found.uid;
    return isNew && (!isOwn || isAlone) ? this.#seed(pod, found, isOwn) : this.#join(pod, found, current);
  }

  #return(pod: Pod, found: Found, etcd: FakeEtcd, member: MemberId): Begun {
    const { namespace = "" } = pod.metadata ?? {};
    const begun = this.#start(pod, found, etcd, member);
    // Its EtcdCluster was deleted, and another goes on with what it left.
    if (begun.t === "runs" && !this.#current.has(namespace)) this.#current.set(namespace, etcd);
    return begun;
  }

  #seed(pod: Pod, found: Found, isOwn: boolean): Begun {
    const { namespace = "" } = pod.metadata ?? {};
    if (isOwn) this.onEmptyVoter(pod);
    else this.onSeed(pod);
    if (!isOwn) this.seeds += 1;
    this.#seeds.set(namespace, found.uid);
    const start = startOf(pod, found);
    const etcd = this.#newEtcd(start, { token: flagsOf(pod).get("initial-cluster-token") });
    if (found.restored !== undefined) etcd.store.load(found.restored.content, found.restored.bump);
    this.#current.set(namespace, etcd);
    this.#homes.set(etcd, namespace);
    return { t: "runs", etcd, member: etcd.idOf(start.name) };
  }

  /** Whoever is made from the same list and token is a member of the same etcd. It serves when a majority of them runs. */
  #beginRestored(pod: Pod, found: Found, { token, initialCluster, content, bump }: Restored): Begun {
    const { namespace = "" } = pod.metadata ?? {};
    const start = startOf(pod, found);
    const own = initialCluster.find(({ name }) => name === start.name);
    if (own === undefined) return { t: "ends", words: "couldn't find local name in the initial cluster configuration" };
    const process = { ...start, peerUrl: own.peerUrl };
    const identity = JSON.stringify([namespace, token, initialCluster]);
    const known = this.#restored.get(identity);
    if (known !== undefined) {
      if (known.wasBegun(own.peerUrl)) this.onMadeTwice(pod);
      return { t: "runs", etcd: known, member: known.start(process) };
    }
    this.onSeed(pod);
    this.seeds += 1;
    const etcd = this.#newEtcd(process, { token, others: initialCluster.filter((one) => one !== own) });
    etcd.store.load(content, bump);
    this.#restored.set(identity, etcd);
    this.#current.set(namespace, etcd);
    this.#homes.set(etcd, namespace);
    return { t: "runs", etcd, member: etcd.idOf(start.name) };
  }

  #newEtcd(start: ReturnType<typeof startOf>, options: Pick<FakeClusterOptions, "token" | "others">): FakeEtcd {
    const { random, clock } = this.#options;
    return new FakeEtcd(start, {
      now: () => clock.now(),
      version: start.version,
      maxLearners: start.maxLearners,
      catchUp: times.catchUp,
      listen: times.listen,
      overlooks: true,
      ...(random && { random }),
      ...options,
    });
  }

  #join(pod: Pod, found: Found, etcd: FakeEtcd | undefined): Begun {
    if (etcd === undefined) return { t: "ends", words: "could not retrieve cluster information from the given URLs" };
    return this.#start(pod, found, etcd, undefined);
  }

  #start(pod: Pod, found: Found, etcd: FakeEtcd, data: MemberId | undefined): Begun {
    const flags = flagsOf(pod);
    const before = etcd.emptyVoters.length;
    const booted: Booted = etcd.boot({
      ...startOf(pod, found),
      data,
      initialState: flags.get("initial-cluster-state") === "new" ? "new" : "existing",
      initialCluster: initialCluster(flags).urls,
    });
    if (booted.t === "ends" && booted.words.includes("unequal")) this.misled += 1;
    if (etcd.emptyVoters.length !== before) this.onEmptyVoter(pod);
    return booted.t === "ends" ? booted : { t: "runs", etcd, member: booted.member };
  }
}

function startOf(pod: Pod, { address }: Found) {
  const flags = flagsOf(pod);
  return {
    name: flags.get("name"),
    peerUrl: initialCluster(flags).own,
    clientUrl: memberUrl(address),
    version: versionIn(pod),
    ...limitsIn(flags),
  };
}
