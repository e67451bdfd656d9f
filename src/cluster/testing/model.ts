// A small Kubernetes and a small etcd in which a plan is carried out, for simulations: pods are scheduled, start, crash,
// end and vanish in time; etcd takes and refuses changes as the real one does (it is the one that passes the contract
// of real servers); entries are kept by some members before others. What must never happen is asserted on the way.
import assert from "node:assert/strict";
import type { CompleteEtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { EtcdError } from "../../etcd/errors.ts";
import type { ClusterId, MemberId } from "../../etcd/ids.ts";
import type { Member } from "../../etcd/member.ts";
import { FakeCluster, type FakeProcess } from "../../etcd/testing/fake-cluster.ts";
import { version } from "../../etcd/versions/version.ts";
import { has } from "../../etcd/versions/features.ts";
import type { PodDisruptionBudget, Service } from "../../kube/objects/kinds.ts";
import type { Action } from "../plan/actions.ts";
import { disruptionBudget } from "../objects/budget.ts";
import { clientUrlOf, isUndialable, memberOfPeerUrl, peerUrlOf, undialableUrlOf } from "../objects/names.ts";
import { quorum } from "../plan/safety.ts";
import { clientService, peerService } from "../objects/services.ts";
import type { MemberPod } from "../observe/world.ts";
import { type ModelPod, newModelPod, seenPod, times } from "./model-pod.ts";
import { sampleCluster, sampleNow } from "./sample-world.ts";

export class Model {
  now: number = sampleNow;
  size: number;
  readonly version: string;
  /** For names and URLs, which do not change. */
  readonly cluster: CompleteEtcdCluster;
  readonly pods = new Map<string, ModelPod>();
  etcd: FakeCluster | undefined;
  latched: ClusterId | undefined;
  peerService: Service | undefined;
  clientService: Service | undefined;
  budget: PodDisruptionBudget | undefined;
  /** How many entries were acknowledged: writes of clients and changes of the membership. */
  acknowledged = 0;
  readonly #random: () => number;
  #uids = 0;

  constructor(options: { readonly size: number; readonly version: string; readonly random: () => number }) {
    this.size = options.size;
    this.version = options.version;
    this.cluster = sampleCluster({ version: options.version, unlatched: true });
    this.#random = options.random;
  }

  /** As the API server holds it now. */
  clusterView(): CompleteEtcdCluster {
    const { spec, status } = this.cluster;
    const phase = this.latched === undefined ? "Creating" : "Running";
    return {
      ...this.cluster,
      spec: { ...spec, size: this.size },
      status: { ...status, phase, ...(this.latched !== undefined && { clusterId: this.latched }) },
    };
  }

  // Time

  /** The next moment at which Kubernetes would tell of a change; undefined when nothing is under way. */
  nextChangeAt(): number | undefined {
    const moments = [...this.pods.values()].flatMap((pod) => {
      const next: number[] = [];
      if (pod.nodeSilentSince !== undefined) return next;
      if (pod.deletedAt !== undefined) next.push(pod.deletedAt + times.stop, pod.deletedAt + times.vanish);
      else if (pod.stage !== "ended" && pod.stage !== "running") next.push(pod.runsAt);
      return next;
    });
    const coming = moments.filter((moment) => moment > this.now);
    return coming.length === 0 ? undefined : Math.min(...coming);
  }

  /** Nothing that happens between two changes is skipped, however long the step is. */
  advance(ms: number): void {
    const until = this.now + ms;
    for (;;) {
      const next = Math.min(this.nextChangeAt() ?? until, until);
      this.now = next;
      for (const pod of this.pods.values()) this.#live(pod);
      this.#replicate();
      if (next >= until) return;
    }
  }

  #live(pod: ModelPod): void {
    if (pod.nodeSilentSince !== undefined) return;
    if (pod.deletedAt !== undefined) {
      if (this.now >= pod.deletedAt + times.stop) this.#stopProcess(pod, "stopped");
      if (this.now >= pod.deletedAt + times.vanish) this.vanish(pod);
      return;
    }
    if (pod.stage === "pending" && this.now >= pod.createdAt + times.schedule) pod.stage = "starting";
    if ((pod.stage === "starting" || pod.stage === "crashing") && this.now >= pod.runsAt) this.#run(pod);
    // A member that was removed ends, and cannot start again.
    if (pod.stage === "running" && this.etcd && !this.#memberOf(pod)) this.crash(pod, times.vanish);
  }

  /** What etcd does when its container starts. */
  #run(pod: ModelPod): void {
    const { cluster } = this;
    const [peerUrl = peerUrlOf(cluster, pod.name)] = this.#memberOf(pod)?.peerUrls ?? [];
    const start = { name: pod.name, peerUrl, clientUrl: clientUrlOf(cluster, pod.name) };
    if (pod.seed && !this.etcd) {
      this.etcd = new FakeCluster(start, {
        now: () => this.now,
        version: this.version,
        maxLearners: 8,
        catchUp: times.catchUp,
      });
      pod.held = 0;
      pod.stage = "running";
      return;
    }
    const member = this.#memberOf(pod);
    if (!this.etcd || !member || (pod.held === undefined && !this.#wouldBeLetIn(pod))) return this.crash(pod, 10_000);
    // Coming back under a name that etcd knows and without the log that it had would let it vote against what it said.
    assert.ok(pod.held !== undefined || member.name === "", `${pod.name} comes back without its data`);
    pod.held ??= 0;
    pod.stage = "running";
    this.etcd.start(start);
  }

  /** A leader sends what is new to those that it reaches, to some later than to others. */
  #replicate(): void {
    if (!this.canDecide()) return;
    for (const { process, pod } of this.#processes()) {
      const caughtUp = process.caughtUpAt <= this.now;
      if (process.state === "running" && caughtUp && this.#random() < 0.7) pod.held = this.acknowledged;
    }
  }

  // What happens to it

  crash(pod: ModelPod, forMs: number): void {
    this.#stopProcess(pod, "stopped");
    if (pod.stage !== "crashing") pod.crashedAt = this.now;
    pod.stage = "crashing";
    pod.runsAt = this.now + forMs;
  }

  evict(pod: ModelPod): void {
    this.#forget(pod);
    pod.stage = "ended";
  }

  delete(pod: ModelPod): void {
    pod.deletedAt ??= this.now;
  }

  silenceNode(pod: ModelPod): void {
    pod.nodeSilentSince ??= this.now;
    this.#stopProcess(pod, "isolated");
  }

  reviveNode(pod: ModelPod): void {
    if (pod.nodeSilentSince === undefined) return;
    pod.nodeSilentSince = undefined;
    if (pod.stage === "running" && this.#memberOf(pod)) this.etcd?.set(pod.name, "running");
  }

  vanish(pod: ModelPod): void {
    this.#forget(pod);
    this.pods.delete(pod.name);
  }

  /** A client writes, if anybody takes it. */
  write(): void {
    if (this.canDecide()) this.#commit();
  }

  removeByHand(id: MemberId): boolean {
    return this.change((by, etcd) => etcd.remove(by, id), id);
  }

  #forget(pod: ModelPod): void {
    if (this.#processOf(pod)) this.etcd?.lose(pod.name);
    pod.held = undefined;
  }

  #stopProcess(pod: ModelPod, state: "stopped" | "isolated"): void {
    if (this.#processOf(pod)) this.etcd?.set(pod.name, state);
  }

  /** An entry is kept by the most advanced voter that runs, and by as many others as it takes, and no more. */
  #commit(): void {
    const voters = this.#runningVoters().toSorted((a, b) => (b.pod.held ?? 0) - (a.pod.held ?? 0));
    const [leader, ...followers] = voters;
    assert.ok(leader && leader.pod.held === this.acknowledged, "a leader was elected that lacks what was acknowledged");
    const needed = quorum(this.#voters().length);
    const shuffled = followers.toSorted(() => this.#random() - 0.5);
    this.acknowledged += 1;
    for (const { pod } of [leader, ...shuffled.slice(0, needed - 1)]) pod.held = this.acknowledged;
  }

  // What can be seen of it

  canDecide(): boolean {
    return this.#runningVoters().length >= Math.max(1, quorum(this.#voters().length));
  }

  /** Too many voters have lost their data for what is left to decide ever again. */
  isDoomed(): boolean {
    const voters = this.#voters();
    // One that never ran may yet: its pod is there, or is made even without the quorum.
    const expected = ({ name, peerUrls: [url = ""] }: Member): boolean => {
      const pod = memberOfPeerUrl(this.cluster, url);
      if (name !== "" || pod === undefined) return false;
      return voters.length === 2 || this.#wouldBeLetIn(this.pods.get(pod));
    };
    const runs = ({ id }: Member): boolean => this.#processes().some(({ process }) => process.member === id);
    const lost = voters.filter((voter) => !expected(voter) && !runs(voter));
    return voters.length - lost.length < (voters.length === 0 ? 0 : quorum(voters.length));
  }

  /** Whether the cluster would still be able to decide if these pods were gone, along with all that is going already. */
  survivesWithout(pods: readonly ModelPod[]): boolean {
    const voters = this.#voters();
    const stay = this.#runningVoters().filter(({ pod }) => !pods.includes(pod) && pod.deletedAt === undefined);
    return stay.length >= quorum(voters.length);
  }

  survivesStranger(): boolean {
    const stay = this.#runningVoters().filter(({ pod }) => pod.deletedAt === undefined);
    return stay.length >= quorum(this.#voters().length + 1);
  }

  isSettled(): boolean {
    const members = this.etcd?.members ?? [];
    const healthy = this.#runningVoters().filter(({ pod }) => pod.deletedAt === undefined);
    return members.length === this.size && healthy.length === this.size && this.pods.size === this.size;
  }

  podView(): readonly MemberPod[] {
    return [...this.pods.values()].map((pod) => seenPod(pod, this.version));
  }

  /** Undefined when it does not answer: processes take a moment after their container started. */
  answerOf(
    name: string,
  ): { readonly process: FakeProcess; readonly member: Member; readonly held: number } | undefined {
    const pod = this.pods.get(name);
    const process = pod && this.#processOf(pod);
    const member = pod && this.#memberOf(pod);
    if (!pod || !process || !member || process.state !== "running") return undefined;
    return this.now < process.connectedAt + times.listen ? undefined : { process, member, held: pod.held ?? 0 };
  }

  describe(): string {
    const pods = [...this.pods.values()].map(
      ({ name, stage, deletedAt, nodeSilentSince, held }) =>
        `${name} ${stage}${deletedAt === undefined ? "" : " going"}${nodeSilentSince === undefined ? "" : " silent"} ${held ?? "-"}`,
    );
    const members = this.etcd?.members.map(
      ({ name, learner, peerUrls }) => `${name || peerUrls[0]}${learner ? " learner" : ""}`,
    );
    return `size ${this.size}; pods: ${pods.join(", ")}; members: ${members?.join(", ") ?? "none"}; entries: ${this.acknowledged}`;
  }

  // What the operator does to it

  /** False when the pass ends here: refused, or not as expected. */
  carryOut(action: Action): boolean {
    // Before an id is latched nobody was told that anything is kept.
    const doomed = this.isDoomed() || this.latched === undefined;
    const done = this.#do(action);
    assert.ok(doomed || !this.isDoomed(), `${action.do} cost the quorum; ${this.describe()}`);
    this.#assertNothingLost();
    const hidden = this.#voters().filter(isUndialable);
    assert.ok(hidden.length <= 1, `two voters cannot find each other; ${this.describe()}`);
    return done;
  }

  #do(action: Action): boolean {
    const { cluster, etcd } = this;
    switch (action.do) {
      case "applyServices":
        this.peerService = peerService(cluster);
        this.clientService = clientService(cluster);
        return true;
      case "applyBudget":
        this.budget = disruptionBudget(cluster, action.minAvailable);
        return true;
      case "labelPod":
        // Nobody takes labels away here.
        return true;
      case "createSeed":
        // The EtcdCluster is read live before it.
        if (this.latched !== undefined) return false;
        return this.#create(action.member, true, [peerUrlOf(cluster, action.member)]);
      case "latchClusterId":
        assert.ok(this.latched === undefined || this.latched === action.clusterId, "an id was latched over another");
        this.latched = action.clusterId;
        return true;
      case "createPod":
        return this.#create(action.member, false, etcd?.members.flatMap(({ peerUrls }) => peerUrls) ?? []);
      case "addMember":
        return this.change((by, etcd) =>
          etcd.add(
            by,
            [action.undialable === true ? undialableUrlOf(cluster, action.member) : peerUrlOf(cluster, action.member)],
            action.as === "learner" && has(version(this.version), "learners"),
          ),
        );
      case "promote":
        return this.change((by, etcd) => etcd.promote(by, action.id));
      case "updatePeerUrl":
        assert.ok(
          !etcd?.members.some(({ id, learner }) => id === action.id && learner),
          "a learner's address was changed",
        );
        return this.change((by, etcd) => etcd.update(by, action.id, [peerUrlOf(cluster, action.member)]));
      case "moveLeader":
        return this.#attempt(() => {
          const leader = this.#processes().find(({ process }) => process.member === action.from);
          if (etcd && leader) etcd.moveLeader(leader.process, action.to);
        });
      case "removeMember": {
        // The pod is read live before it.
        const uid = this.pods.get(action.member)?.uid;
        if ((action.pod?.t === "uid" ? action.pod.uid : undefined) !== uid) return false;
        return this.change((by, etcd) => etcd.remove(by, action.id), action.id);
      }
      case "deletePod":
      default: {
        // The EtcdCluster is read live before it.
        if (action.unlessServed === true && this.latched !== undefined) return false;
        const pod = this.pods.get(action.member);
        if (pod?.uid !== action.uid) return true;
        if (action.force) this.vanish(pod);
        else this.delete(pod);
        return true;
      }
    }
  }

  /** A change of the membership is an entry like any other, decided by those that decide before it. */
  change(apply: (by: FakeProcess, etcd: FakeCluster) => unknown, except?: MemberId): boolean {
    const { etcd } = this;
    const by = this.#runningVoters().find(({ process }) => process.member !== except);
    if (!etcd || !by || !this.canDecide()) return false;
    const before = new Map(this.#runningVoters().map(({ pod }) => [pod, pod.held]));
    this.#commit();
    const accepted = this.#attempt(() => void apply(by.process, etcd));
    if (accepted) return true;
    this.acknowledged -= 1;
    for (const [pod, held] of before) pod.held = held;
    return false;
  }

  #attempt(apply: () => void): boolean {
    try {
      apply();
      return true;
    } catch (error) {
      if (error instanceof EtcdError) return false;
      throw error;
    }
  }

  #create(name: string, seed: boolean, joinsWith: readonly string[]): boolean {
    const there = this.pods.get(name);
    if (there) return there.deletedAt === undefined;
    assert.ok(!seed || this.etcd === undefined || this.latched === undefined, "a second seed was made");
    if (seed) {
      // Nobody was told of what an earlier one may have been.
      this.etcd = undefined;
      this.acknowledged = 0;
    }
    this.#uids += 1;
    this.pods.set(name, newModelPod({ name, uid: `uid-${this.#uids}`, seed, joinsWith, createdAt: this.now }));
    return true;
  }

  /** No election could be won by one that lacks an acknowledged entry. */
  #assertNothingLost(): void {
    const running = this.#runningVoters();
    const needed = quorum(this.#voters().length);
    const without = running.filter(({ pod }) => (pod.held ?? 0) < this.acknowledged);
    assert.ok(
      running.length < needed || without.length < needed,
      `acknowledged entries can be lost; ${this.describe()}`,
    );
  }

  #wouldBeLetIn(pod: ModelPod | undefined): boolean {
    const listed = this.etcd?.members.flatMap(({ peerUrls }) => peerUrls) ?? [];
    if (pod === undefined || pod.stage === "ended") return false;
    return pod.joinsWith.length === listed.length && listed.every((url) => pod.joinsWith.includes(url));
  }

  #voters(): readonly Member[] {
    return this.etcd?.members.filter(({ learner }) => !learner) ?? [];
  }

  #processes(): readonly { readonly process: FakeProcess; readonly pod: ModelPod }[] {
    return [...this.pods.values()].flatMap((pod) => {
      const process = this.#processOf(pod);
      return process ? [{ process, pod }] : [];
    });
  }

  #runningVoters(): readonly { readonly process: FakeProcess; readonly pod: ModelPod }[] {
    const ids = new Set(this.#voters().map(({ id }) => id));
    return this.#processes().filter(({ process }) => process.state === "running" && ids.has(process.member));
  }

  #processOf(pod: ModelPod): FakeProcess | undefined {
    return this.etcd?.processAt(clientUrlOf(this.cluster, pod.name));
  }

  #memberOf(pod: ModelPod): Member | undefined {
    return this.etcd?.members.find(({ peerUrls }) =>
      peerUrls.some((url) => memberOfPeerUrl(this.cluster, url) === pod.name),
    );
  }
}
