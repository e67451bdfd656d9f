// The state of an etcd cluster in memory: members with and without a process, learners, quorum, a leader, and etcd's
// own rules about when the membership may change, after etcdserver/server.go. It has the part of raft that decides whether an
// acknowledged entry survives: how far each log goes, who may be elected by whom, and terms. What a quorum agrees on is
// agreed on at once.
import { createHash } from "node:crypto";
import { EtcdError, type EtcdReason } from "../errors.ts";
import { type ClusterId, clusterId, type MemberId, memberId, wireId } from "../ids.ts";
import type { Alarm, DowngradeStep, Member } from "../member.ts";
import { has } from "../versions/features.ts";
import { type EtcdVersion, version } from "../versions/version.ts";
import { FakeAuth } from "./fake-auth.ts";
import { FakeStore } from "./fake-store.ts";
import { FakeVersions, type Versioned } from "./fake-versions.ts";

/** How long a member must be connected to its peers before it accepts a new one: etcdserver/server.go, HealthInterval. */
const healthInterval = 5000;

export interface FakeClusterOptions {
  /** Milliseconds that only grow. */
  readonly now?: () => number;
  /** The version of every process that is not started with another. */
  readonly version?: string;
  readonly maxLearners?: number;
  /** Milliseconds that a new member takes to hold all data. */
  readonly catchUp?: number;
  /** Milliseconds that a process takes until it answers. */
  readonly listen?: number;
  readonly token?: string;
  /**
   * Gives numbers from 0 up to 1. With it an entry reaches no more members than it takes until `replicate` is called, and
   * whoever can win an election may. Without it all hold everything at once, and the one that holds most wins.
   */
  readonly random?: () => number;
  /** Whoever leads when a member comes back takes it for inactive from then on, as etcd 3.6.16 may. */
  readonly overlooks?: boolean;
}

export interface ProcessStart {
  readonly name: string;
  readonly peerUrl: string;
  readonly clientUrl: string;
  readonly version?: string;
  /** By its own flags, which may differ from those of the others. */
  readonly maxLearners?: number;
  /** Bytes that its database may have. */
  readonly quota?: number;
}

/** How a process is: the operator sees what it can reach, the peers see what they can reach. */
type ProcessState =
  | "running"
  | "stopped" // refuses connections; its data is there
  | "frozen" // takes connections and says nothing
  | "endless" // answers and comes to no end
  | "isolated" // runs, and no packet passes
  | "partitioned"; // the operator reaches it, its peers do not

export interface FakeProcess extends Versioned {
  readonly name: string;
  readonly member: MemberId;
  readonly clientUrl: string;
  version: EtcdVersion;
  maxLearners: number;
  quota: number;
  state: ProcessState;
  /** Since when its peers hear of it. */
  connectedAt: number;
  /** Peers that it takes for inactive although they are connected, until it is started again. */
  readonly overlooked: Set<MemberId>;
  /** From then on it answers clients. */
  servesAt: number;
  caughtUpAt: number;
  /** How many of the acknowledged entries its log has, from the first on. */
  held: number;
}

export class FakeCluster {
  readonly store = new FakeStore();
  readonly auth = new FakeAuth();
  readonly clusterId: ClusterId;
  readonly #now: () => number;
  readonly #version: string;
  readonly #maxLearners: number;
  readonly #catchUp: number;
  readonly #listen: number;
  readonly #token: string;
  readonly #random: (() => number) | undefined;
  readonly #overlooks: boolean;
  readonly #members = new Map<MemberId, Member>();
  readonly #removed = new Set<MemberId>();
  readonly #processes = new Map<MemberId, FakeProcess>();
  #alarms: readonly Alarm[] = [];
  #leader: MemberId | undefined;
  #term = 1;
  #entries = 0;
  #lost = 0;
  readonly #versions: FakeVersions;

  /** A cluster of one member that runs. */
  constructor(seed: ProcessStart, options: FakeClusterOptions = {}) {
    this.#now = options.now ?? (() => performance.now());
    this.#version = options.version ?? "3.6.16";
    this.#maxLearners = options.maxLearners ?? 1;
    this.#catchUp = options.catchUp ?? 0;
    this.#listen = options.listen ?? 0;
    this.#token = options.token ?? "fake";
    this.#random = options.random;
    this.#overlooks = options.overlooks ?? false;
    this.#versions = new FakeVersions(version(seed.version ?? this.#version));
    const id = hashId(seed.peerUrl, this.#token);
    this.clusterId = clusterId(wireId(hashId(id)));
    this.#members.set(id, { id, name: "", peerUrls: [seed.peerUrl], clientUrls: [], learner: false });
    this.start(seed);
  }

  // What a test does to the world

  /** Starts a member that was added, by its peer URL, or starts one again; one that has no data begins to get it. */
  start(start: ProcessStart): MemberId {
    const member = [...this.#members.values()].find(({ peerUrls }) => peerUrls.includes(start.peerUrl));
    if (!member) throw new Error(`the process ${start.name} exits: ${start.peerUrl} is not in the cluster`);
    this.#run(member, start);
    return member.id;
  }

  /** Starts a member again with the data that it has, whatever its address is by now. */
  restart(id: MemberId, start: Omit<ProcessStart, "peerUrl">): void {
    const member = this.#members.get(id);
    if (!member || !this.#processes.has(id)) throw new Error(`the process ${start.name} exits: it has no data`);
    this.#run(member, start);
  }

  #run(member: Member, start: Omit<ProcessStart, "peerUrl">): void {
    const {
      name,
      clientUrl,
      version: wanted = this.#version,
      maxLearners = this.#maxLearners,
      quota = usualQuota,
    } = start;
    const now = this.#now();
    this.#updateVersions();
    const before = this.#processes.get(member.id);
    const runs = version(wanted);
    this.#processes.set(member.id, {
      name,
      member: member.id,
      clientUrl,
      version: runs,
      maxLearners,
      quota,
      state: "running",
      connectedAt: now,
      overlooked: new Set(),
      servesAt: now + this.#listen,
      caughtUpAt: before?.caughtUpAt ?? now + this.#catchUp,
      held: before?.held ?? 0,
      storage: before?.storage ?? this.#versions.cluster,
      snapshotAt: before?.snapshotAt ?? this.#snapshotForJoiner(),
    });
    if (before !== undefined && this.#overlooks && this.#leader !== member.id)
      this.#processes.get(this.#leader ?? member.id)?.overlooked.add(member.id);
    this.#members.set(member.id, { ...member, name, clientUrls: [clientUrl] });
    this.#versions.started(runs);
    this.#elect();
  }

  set(name: string, state: ProcessState): void {
    this.#updateVersions();
    const process = this.#named(name);
    if (state === "running" && process.state !== "running") process.connectedAt = this.#now();
    process.state = state;
    this.#elect();
  }

  /** The process is gone and so is its data; the membership remembers it. */
  /** The same of one that does not run. */
  loseData(id: MemberId): void {
    this.#updateVersions();
    this.#processes.delete(id);
    this.#elect();
  }

  lose(name: string): void {
    this.#updateVersions();
    this.#processes.delete(this.#named(name).member);
    this.#elect();
  }

  /** Bytes in every database besides what was written through the client. */
  ballast = 0;

  raise(name: string, type: Alarm["type"]): void {
    const { member } = this.#named(name);
    this.#alarms = [...this.#alarms.filter((alarm) => !sameAlarm(alarm, { member, type })), { member, type }];
  }

  /** The database becomes so large, in percent of the smallest quota; at more than that etcd raises its alarm. */
  fill(percent: number): void {
    const all = [...this.#processes.values()];
    this.ballast = Math.floor((Math.min(...all.map(({ quota }) => quota)) * percent) / 100);
    for (const { name, quota } of all) if (this.ballast > quota) this.raise(name, "noSpace");
  }

  get leader(): MemberId | undefined {
    return this.#leader;
  }

  get members(): readonly Member[] {
    return [...this.#members.values()];
  }

  idOf(name: string): MemberId {
    return this.#named(name).member;
  }

  /** Sends what is new to those that have not got it: without chance to all, with it to some. */
  replicate(): void {
    if (this.#leader === undefined) return;
    for (const process of this.#processes.values()) {
      const reached = process.state === "running" && process.caughtUpAt <= this.#now();
      if (reached && (this.#random === undefined || this.#random() < 0.7)) process.held = this.#entries;
    }
  }

  /** Where nothing is left to chance, what can be sent has been sent before anybody reads. */
  flush(): void {
    if (this.#random === undefined) this.replicate();
  }

  // What a test sees of it that no client does

  /** Entries that were acknowledged: writes of clients and changes of the membership. */
  get entries(): number {
    return this.#entries;
  }

  /** Entries that were acknowledged and are gone, because one was elected that did not have them. */
  get lost(): number {
    return this.#lost;
  }

  /** Whether voters that lack acknowledged entries could elect one of themselves. */
  get endangered(): boolean {
    const voters = this.#voters();
    const lacking = voters.filter(({ id }) => (this.#processes.get(id)?.held ?? this.#entries) < this.#entries);
    return lacking.length >= quorum(voters.length);
  }

  /** The voters that run and reach each other are enough to decide. */
  get decides(): boolean {
    return this.#connectedVoters().length >= quorum(this.#voters().length);
  }

  /** Whether there is a process with data of this member, running or not. */
  hasData(id: MemberId): boolean {
    return this.#processes.has(id);
  }

  wasRemoved(id: MemberId): boolean {
    return this.#removed.has(id);
  }

  /** The minor of the cluster version. */
  get minor(): number {
    this.#updateVersions();
    return this.#versions.cluster;
  }

  /** Whether a process of this version can read the log of the member whose data it finds; undefined: it joins. */
  canReadLog(runs: EtcdVersion, data: MemberId | undefined): boolean {
    this.#updateVersions();
    const process = data === undefined ? undefined : this.#processes.get(data);
    return this.#versions.reads(runs, process?.snapshotAt ?? this.#snapshotForJoiner());
  }

  /** The entry that a write or a change of members is: held by the leader and by as many others as it takes. */
  commit(): void {
    this.#entries += 1;
    const voters = this.#connectedVoters().flatMap(({ id }) => this.#processes.get(id) ?? []);
    const random = this.#random;
    const others = voters.filter(({ member }) => member !== this.#leader);
    const reached =
      random === undefined
        ? [...this.#processes.values()].filter(
            ({ state, caughtUpAt }) => state === "running" && caughtUpAt <= this.#now(),
          )
        : others.toSorted(() => random() - 0.5).slice(0, quorum(this.#voters().length) - 1);
    for (const process of [...voters.filter(({ member }) => member === this.#leader), ...reached])
      process.held = this.#entries;
  }

  // What members ask of it

  get term(): number {
    return this.#term;
  }

  get alarms(): readonly Alarm[] {
    return this.#alarms;
  }

  processAt(clientUrl: string): FakeProcess | undefined {
    return [...this.#processes.values()].find((process) => process.clientUrl === clientUrl);
  }

  memberOf(process: FakeProcess): Member {
    const member = this.#members.get(process.member);
    if (!member) throw new Error(`${process.name} runs and is no member`);
    return member;
  }

  /** Between its start and its first answer it takes connections and says nothing. */
  listens({ servesAt }: FakeProcess): boolean {
    return servesAt <= this.#now();
  }

  /** Whether this process and those that it reaches can decide anything. */
  hasQuorum(process: FakeProcess): boolean {
    if (process.state !== "running") {
      const voters = this.#voters();
      return process.state === "partitioned" && voters.length === 1 && voters[0]?.id === process.member;
    }
    return this.#connectedVoters().length >= quorum(this.#voters().length);
  }

  leaderSeenBy(process: FakeProcess): MemberId | undefined {
    return this.hasQuorum(process) ? this.#leader : undefined;
  }

  /** The version that an enabled downgrade goes to, as in `3.5.0`. */
  get downgradeTarget(): string | undefined {
    this.#updateVersions();
    const { downgrade } = this.#versions;
    return downgrade === undefined ? undefined : minorText(downgrade);
  }

  /** As in `3.6.0`. */
  storageOf(process: FakeProcess): string {
    this.#updateVersions();
    return minorText(process.storage);
  }

  downgrade(by: FakeProcess, step: DowngradeStep): void {
    this.#updateVersions();
    if (step.do === "cancel") this.#cancelDowngrade(by);
    else this.#enableDowngrade(by, step.version, step.do);
    this.#updateVersions();
  }

  #enableDowngrade(by: FakeProcess, text: string, step: "validate" | "enable"): void {
    const minor = /^3\.(\d+)(?:\.\d+)?$/.exec(text)?.[1];
    if (minor === undefined)
      throw refusal("invalidDowngradeTarget", "Downgrade", "wrong downgrade target version format");
    this.#requireQuorum(by, "Downgrade");
    if (Number(minor) !== this.#versions.cluster - 1)
      throw refusal("invalidDowngradeTarget", "Downgrade", "invalid downgrade target version");
    if (this.#versions.downgrade !== undefined)
      throw refusal("downgradeInProgress", "Downgrade", "cluster has a downgrade job in progress");
    if (step === "validate") return;
    this.commit();
    this.#versions.enable(Number(minor));
  }

  /** From 3.6 on it succeeds whatever comes of it: etcdserver/v3_server.go, downgradeCancel. */
  #cancelDowngrade(by: FakeProcess): void {
    const tells = !has(by.version, "statusQuota");
    if (tells) this.#requireQuorum(by, "Downgrade");
    if (this.#versions.downgrade !== undefined && this.hasQuorum(by)) {
      this.commit();
      this.#versions.cancel();
    } else if (tells) {
      throw refusal("noDowngrade", "Downgrade", "no inflight downgrade job");
    }
  }

  add(by: FakeProcess, peerUrls: readonly string[], learner: boolean): Member {
    this.#updateVersions();
    const voters = this.#voters();
    const started = voters.filter((member) => member.name !== "").length;
    // Adding a second member to a lone one is allowed, though two of two are needed after it.
    const alone = started === 1 && voters.length === 1;
    if (!learner && !alone && started < quorum(voters.length + 1))
      throw refusal(
        "notEnoughStartedMembers",
        "MemberAdd",
        "re-configuration failed due to not enough started members",
      );
    const needed = has(by.version, "addWithMinorityDown") ? quorum(voters.length + 1) : voters.length;
    if (voters.length > 1 && this.#settled(by, voters) < needed)
      throw refusal("unhealthyCluster", "MemberAdd", "unhealthy cluster");
    this.#requireQuorum(by, "MemberAdd");
    const id = hashId(...[...peerUrls].sort(), this.#token, String(Math.floor(this.#now() / 1000)));
    if (this.#removed.has(id)) throw refusal("memberRemoved", "MemberAdd", "ID removed");
    if (this.#members.has(id)) throw refusal("memberExists", "MemberAdd", "member ID already exist");
    this.#requireFreeUrls("MemberAdd", peerUrls, undefined);
    const limit = has(by.version, "maxLearners") ? by.maxLearners : 1;
    if (learner && this.members.filter((member) => member.learner).length >= limit)
      throw refusal("tooManyLearners", "MemberAdd", "too many learner members in cluster");
    const member: Member = { id, name: "", peerUrls: [...peerUrls], clientUrls: [], learner };
    this.commit();
    this.#members.set(id, member);
    this.#elect();
    return member;
  }

  promote(by: FakeProcess, id: MemberId): void {
    this.#requireQuorum(by, "MemberPromote");
    const member = this.#requireMember("MemberPromote", id);
    const process = this.#processes.get(id);
    this.flush();
    const inSync = process?.state === "running" && process.held >= 0.9 * this.#entries;
    if (member.learner && !inSync)
      throw refusal(
        "learnerNotReady",
        "MemberPromote",
        "can only promote a learner member which is in sync with leader",
      );
    const voters = this.#voters();
    if (voters.filter(({ name }) => name !== "").length + 1 < quorum(voters.length + 1))
      throw refusal(
        "notEnoughStartedMembers",
        "MemberPromote",
        "re-configuration failed due to not enough started members",
      );
    if (!member.learner) throw refusal("notALearner", "MemberPromote", "can only promote a learner member");
    this.commit();
    this.#members.set(id, { ...member, learner: false });
    this.#elect();
  }

  remove(by: FakeProcess, id: MemberId): void {
    this.#updateVersions();
    if (!this.#members.get(id)?.learner) this.#mayRemoveVoter(by, id);
    this.#requireQuorum(by, "MemberRemove");
    this.#requireMember("MemberRemove", id);
    this.commit();
    this.#members.delete(id);
    this.#removed.add(id);
    this.#processes.delete(id); // a member that learns of its removal exits
    this.#elect();
  }

  #mayRemoveVoter(by: FakeProcess, id: MemberId): void {
    const voters = this.#voters();
    const others = voters.filter((voter) => voter.id !== id);
    if (others.filter(({ name }) => name !== "").length < quorum(others.length))
      throw refusal(
        "notEnoughStartedMembers",
        "MemberRemove",
        "re-configuration failed due to not enough started members",
      );
    // One that is down, or taken for it, has no part in the quorum that works now.
    const isActive = this.#processes.get(id)?.state === "running" && !by.overlooked.has(id);
    if (id !== by.member && !isActive) return;
    // 3 voters, all settled: 2 remain and 2 are wanted. 3 voters, one of them down: 1 remains, so no.
    if (this.#settled(by, voters) - 1 < 1 + Math.floor((voters.length - 1) / 2))
      throw refusal("unhealthyCluster", "MemberRemove", "unhealthy cluster");
  }

  update(by: FakeProcess, id: MemberId, peerUrls: readonly string[]): void {
    this.#requireQuorum(by, "MemberUpdate");
    const member = this.#requireMember("MemberUpdate", id);
    this.#requireFreeUrls("MemberUpdate", peerUrls, id);
    // Older servers forget what it was, and tell everybody that it votes.
    const learner = member.learner && has(by.version, "safeLearnerUpdate");
    this.commit();
    this.#members.set(id, { ...member, peerUrls: [...peerUrls], learner });
  }

  moveLeader(by: FakeProcess, to: MemberId): void {
    if (this.leaderSeenBy(by) !== by.member) throw refusal("notLeader", "MoveLeader", "not leader");
    const member = this.#members.get(to);
    if (!member || member.learner) throw refusal("badTransferee", "MoveLeader", "bad leader transferee");
    if (this.#processes.get(to)?.state !== "running")
      throw refusal("timeout", "MoveLeader", "request timed out, leader transfer took too long");
    if (to !== this.#leader) this.#term += 1;
    this.#leader = to;
  }

  disarm(alarm: Alarm): void {
    this.#alarms = this.#alarms.filter((armed) => !sameAlarm(armed, alarm));
  }

  #voters(): Member[] {
    return this.members.filter((member) => !member.learner);
  }

  #connectedVoters(): Member[] {
    return this.#voters().filter(({ id }) => this.#processes.get(id)?.state === "running");
  }

  /** How many voters this one has heard of for as long as etcd wants to have heard of them, itself included. */
  #settled(by: FakeProcess, voters: readonly Member[]): number {
    const youngest = this.#now() - healthInterval;
    return voters.filter(({ id }) => {
      const peer = this.#processes.get(id);
      const linkedAt = Math.max(peer?.connectedAt ?? 0, by.connectedAt);
      if (id === by.member) return true;
      if (by.overlooked.has(id)) return false;
      return peer?.state === "running" && by.state === "running" && linkedAt < youngest;
    }).length;
  }

  /** The leader hears of those that run. */
  #updateVersions(): void {
    const heard = this.members.map(({ id }) => {
      const process = this.#processes.get(id);
      return process?.state === "running" && this.#leader !== undefined ? process : undefined;
    });
    this.#versions.update(this.#now(), heard);
  }

  #snapshotForJoiner(): number {
    const leader = this.#leader === undefined ? undefined : this.#processes.get(this.#leader);
    return this.#versions.snapshotFor(this.#entries, leader);
  }

  #elect(): void {
    this.#electLeader();
    this.#updateVersions();
  }

  /** Nobody votes for one whose log is shorter than its own. The votes must come from those that run. */
  #electLeader(): void {
    const voters = this.#connectedVoters().flatMap(({ id }) => this.#processes.get(id) ?? []);
    const needed = quorum(this.#voters().length);
    if (voters.length < needed) this.#leader = undefined;
    if (voters.length < needed || voters.some(({ member }) => member === this.#leader)) return;
    const most = Math.max(...voters.map(({ held }) => held));
    const electable = voters.filter(({ held }) =>
      this.#random === undefined ? held === most : voters.filter((voter) => voter.held <= held).length >= needed,
    );
    const winner = electable[Math.floor((this.#random?.() ?? 0) * electable.length)];
    if (winner === undefined) return;
    this.#leader = winner.member;
    this.#term += 1;
    this.#lost += this.#entries - winner.held;
    this.#entries = winner.held;
    for (const process of this.#processes.values()) process.held = Math.min(process.held, winner.held);
  }

  #requireQuorum(by: FakeProcess, method: string): void {
    if (!this.hasQuorum(by)) throw refusal("timeout", method, "request timed out");
  }

  #requireMember(method: string, id: MemberId): Member {
    const member = this.#members.get(id);
    if (member) return member;
    throw refusal("memberNotFound", method, "member not found");
  }

  #requireFreeUrls(method: string, peerUrls: readonly string[], except: MemberId | undefined): void {
    const taken = new Set(this.members.filter(({ id }) => id !== except).flatMap((member) => member.peerUrls));
    if (peerUrls.some((url) => taken.has(url))) throw refusal("peerUrlExists", method, "Peer URLs already exists");
  }

  #named(name: string): FakeProcess {
    const process = [...this.#processes.values()].find((process) => process.name === name);
    if (!process) throw new Error(`no process is called ${name}`);
    return process;
  }
}

export function quorum(voters: number): number {
  return Math.floor(voters / 2) + 1;
}

export function refusal(reason: EtcdReason, method: string, message: string): EtcdError {
  return new EtcdError(reason, method, `etcdserver: ${message}`);
}

const minorText = (minor: number): string => `3.${minor}.0`;

/** etcd's own. */
const usualQuota = 2 * 1024 ** 3;

const sameAlarm = (a: Alarm, b: Alarm): boolean => a.member === b.member && a.type === b.type;

/** As etcd makes ids: the first 64 bits of a SHA-1. */
function hashId(...parts: string[]): MemberId {
  return memberId(createHash("sha1").update(parts.join("")).digest().readBigUInt64BE(0));
}
