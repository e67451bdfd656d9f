// An etcd cluster in memory, small enough for a thousand of them in a unit test, whose processes start as real ones do:
// with their data, without it, and with whatever list of members they are given. contract.ts holds it and real servers to
// the same behaviour.
import type { MemberId } from "../ids.ts";
import type { Login } from "../login.ts";
import type { EtcdMember } from "../member.ts";
import { has } from "../versions/features.ts";
import { version } from "../versions/version.ts";
import { FakeCluster, type FakeClusterOptions, type ProcessStart, quorum } from "./fake-cluster.ts";
import { FakeMember } from "./fake-member.ts";

/** How a process begins. */
export interface Boot extends Required<Omit<ProcessStart, "quota">>, Pick<ProcessStart, "quota"> {
  /** Whose data it finds; undefined: there is none. With data it reads neither the state nor the list. */
  readonly data: MemberId | undefined;
  readonly initialState: "new" | "existing";
  /** Peer URLs, its own included. */
  readonly initialCluster: readonly string[];
}

export type Booted = { readonly t: "runs"; readonly member: MemberId } | { readonly t: "ends"; readonly words: string };

/** A process that lost its data, was started to bootstrap a cluster, and leads it under the ids of the real one. */
interface Split {
  readonly cluster: FakeCluster;
  readonly member: MemberId;
  readonly start: ProcessStart;
  readonly since: number;
}

/** Milliseconds until the real leader has found it; measured on real servers. */
const foundAfter = 400;

export class FakeEtcd extends FakeCluster {
  /** Voters that were started before and came back with an empty log: what they promised is forgotten. */
  readonly emptyVoters: string[] = [];
  readonly #options: FakeClusterOptions;
  readonly #time: () => number;
  /** By client URL. */
  readonly #splits = new Map<string, Split>();
  #lostBySplits = 0;

  constructor(seed: ProcessStart, options: FakeClusterOptions = {}) {
    super(seed, options);
    this.#options = options;
    this.#time = options.now ?? (() => performance.now());
  }

  /** The port to whoever listens at this client URL. */
  at(clientUrl: string, login?: Login): EtcdMember {
    return new FakeMember(() => this.#clusterAt(clientUrl), clientUrl, login);
  }

  override get lost(): number {
    return super.lost + this.#lostBySplits;
  }

  /** The names of those that lead clusters of their own. */
  get splits(): readonly string[] {
    return [...this.#splits.values()].map(({ start }) => start.name);
  }

  /** Starts a process, which may end at once, with these last words. */
  boot(boot: Boot): Booted {
    this.#splits.delete(boot.clientUrl);
    return boot.data === undefined ? this.#bootEmpty(boot) : this.#bootWithData(boot, boot.data);
  }

  /** The process ends; with `data` gone it will not know that it ever ran. */
  end(clientUrl: string, data: "kept" | "gone"): void {
    // What a split one wrote is no data that anybody else has heard of.
    this.#splits.delete(clientUrl);
    const process = this.processAt(clientUrl);
    if (process === undefined) return;
    if (data === "gone") this.lose(process.name);
    else this.set(process.name, "stopped");
  }

  #bootWithData(boot: Boot, id: MemberId): Booted {
    if (this.wasRemoved(id)) return ends("the member has been permanently removed from the cluster");
    const refused = this.#refusalOf(boot);
    if (refused !== undefined) return refused;
    this.restart(id, boot);
    return { t: "runs", member: id };
  }

  #bootEmpty(boot: Boot): Booted {
    if (boot.initialState === "new") return this.#beginOwnCluster(boot);
    const listed = this.members.flatMap(({ peerUrls }) => peerUrls);
    const others = this.members.filter(({ peerUrls }) => !peerUrls.includes(boot.peerUrl));
    const askable = others.some(
      ({ peerUrls: [url = ""], clientUrls: [clientUrl = ""] }) =>
        boot.initialCluster.includes(url) && this.processAt(clientUrl)?.state === "running",
    );
    if (!askable) return ends("could not retrieve cluster information from the given URLs");
    const same =
      boot.initialCluster.length === listed.length && listed.every((url) => boot.initialCluster.includes(url));
    if (!same) return ends("error validating peerURLs: member count is unequal");
    const refused = this.#refusalOf(boot);
    if (refused !== undefined) return refused;
    const member = this.members.find(({ peerUrls }) => peerUrls.includes(boot.peerUrl));
    if (member === undefined) return ends("couldn't find local name in the initial cluster configuration");
    if (!member.learner && member.name !== "") this.emptyVoters.push(boot.name);
    this.start(boot);
    return { t: "runs", member: member.id };
  }

  /** Its ids are made of its URL and the token, so they are the same as when it was the seed. */
  #beginOwnCluster(boot: Boot): Booted {
    const cluster = new FakeCluster(boot, this.#options);
    const member = cluster.idOf(boot.name);
    if (this.members.some(({ id, learner }) => id === member && !learner)) this.emptyVoters.push(boot.name);
    this.#splits.set(boot.clientUrl, { cluster, member, start: boot, since: this.#time() });
    return { t: "runs", member };
  }

  /** What a server checks whether it has data or not. */
  #refusalOf(boot: Boot): Booted | undefined {
    const runs = version(boot.version);
    if (runs.minor < this.minor)
      return ends(`invalid downgrade; server version is lower than determined cluster version`);
    if (!this.canReadLog(runs, boot.data))
      return ends("panic: unmarshal should never fail (proto: cannot parse invalid wire-format data)");
    const learners = this.members.filter(({ learner }) => learner).length;
    if (has(runs, "maxLearners") && learners > boot.maxLearners) return ends("too many learner members in cluster");
    return undefined;
  }

  #clusterAt(clientUrl: string): FakeCluster {
    this.meet();
    return this.#splits.get(clientUrl)?.cluster ?? this;
  }

  /** Real leaders find those that lead clusters of their own, and overwrite what they have. */
  meet(): void {
    for (const [url, { cluster, member, start, since }] of this.#splits) {
      const known = this.members.find(({ id }) => id === member);
      if (known === undefined || this.#time() < since + foundAfter) continue;
      const others = this.members.filter(({ id, learner }) => !learner && id !== member);
      const running = others.filter(({ clientUrls: [at = ""] }) => this.processAt(at)?.state === "running");
      const voters = known.learner ? others.length : others.length + 1;
      // It votes for whoever asks, and so helps the others to a majority.
      if (running.length === 0 || running.length + (known.learner ? 0 : 1) < quorum(voters)) continue;
      this.#splits.delete(url);
      this.#lostBySplits += cluster.entries;
      this.start({ ...start, peerUrl: known.peerUrls[0] ?? start.peerUrl });
    }
  }
}

const ends = (words: string): Booted => ({ t: "ends", words });
