// One reconcile in a small world: the real stages decide, and what they decide is carried out here in the same order, write
// by write. What must be read live before a write is what the real table of actions says.
import type { CompleteEtcdCluster } from "../../../api/etcd-cluster/etcd-cluster.ts";
import { requirementsOf } from "../../act/actions.ts";
import type { Precondition } from "../../act/preconditions.ts";
import { type Assessment, assess } from "../../assess/assess.ts";
import { isHealthy, isVoter } from "../../assess/instances.ts";
import type { MemberName } from "../../objects/names.ts";
import type { ClusterAction, ClusterDecision, ClusterPlan } from "../../plan/actions.ts";
import { planCluster } from "../../plan/plan.ts";
import { inWords } from "../actions-in-words.ts";
import { addLearner, type Answer, dial, lead, promote, remove, settle } from "./etcd.ts";
import { before, judge } from "./rules.ts";
import {
  dataOf,
  emptySlot,
  freshUid,
  type Slot,
  type SmallClaim,
  type SmallPod,
  type SmallWorld,
  textOf,
} from "./state.ts";
import { claimUidOf, checkNameAt, idAt, type Log, now, uidOf, versions, type View, viewOf } from "./view.ts";

export interface Reconciled {
  /** What was written, in words, and the world after each write. */
  readonly writes: readonly { readonly what: string; readonly text: string }[];
  readonly health: Assessment["health"]["t"];
  readonly because: string;
}

/** The world is changed. Throws a Violation. */
export function reconcile(world: SmallWorld, log: Log): Reconciled {
  if (world.waits) return { writes: [], health: "serving", because: "the cache is behind" };
  const view = viewOf(world, log);
  const assessment = assess(view.world, now);
  const plan = planCluster(assessment, count());
  return new Reconcile(world, view, assessment).carryOut(plan);
}

/** The same numbers for the same world. */
function count(): () => number {
  let calls = 0;
  return () => {
    calls += 1;
    return ((calls * 7) % 27) / 27;
  };
}

/** refused: by etcd, which has changed nothing; notYet: the world is another than the decision was made from. */
type Ended = "done" | "refused" | "notYet";

class Reconcile {
  readonly #world: SmallWorld;
  readonly #view: View;
  readonly #assessment: Assessment;
  readonly #names: MemberName[];
  readonly #writes: { what: string; text: string }[] = [];

  constructor(world: SmallWorld, view: View, assessment: Assessment) {
    this.#world = world;
    this.#view = view;
    this.#assessment = assessment;
    this.#names = [...view.names];
  }

  carryOut({ guards, decisions, upkeep }: ClusterPlan): Reconciled {
    for (const guard of guards) this.#one(guard);
    const because = this.#decide(decisions);
    for (const action of upkeep) this.#one(action);
    this.#report();
    return { writes: this.#writes, health: this.#assessment.health.t, because };
  }

  /** One that is refused before it changed anything lets the next one be tried. */
  #decide(decisions: readonly ClusterDecision[]): string {
    for (const { actions, because } of decisions) {
      let did = 0;
      let last: Ended = "done";
      for (const action of actions) {
        last = this.#one(action);
        if (last !== "done") break;
        did += 1;
      }
      if (last !== "refused" || did > 0) return because;
    }
    return "everything is refused";
  }

  #one(action: ClusterAction): Ended {
    if (!(requirementsOf(action) ?? []).every((precondition) => this.#holds(precondition))) return "notYet";
    const world = this.#world;
    const was = before(world);
    const text = textOf(world);
    const ended = this.#do(action);
    if (ended !== "done") return ended;
    const [what = ""] = inWords([action]);
    this.#note(what, text, !isToEtcd.has(action.do), () =>
      judge(was, world, what, action.do === "changeImage" || (action.do === "deletePod" && was.keepsAll)),
    );
    return "done";
  }

  #note(what: string, text: string, isToKubernetes: boolean, check: () => void = () => undefined): void {
    settle(this.#world);
    check();
    if (this.#world.seenCluster !== null && isToKubernetes) this.#world.waits = true;
    const after = textOf(this.#world);
    if (after !== text) this.#writes.push({ what, text: after });
  }

  // What is read live

  #holds(precondition: Precondition): boolean {
    const { cluster, seenCluster } = this.#world;
    switch (precondition.holds) {
      case "clusterAsSeen": {
        const seen = seenCluster ?? cluster;
        const asked = ({ size, version, setting, volumes, paused }: typeof cluster): string =>
          JSON.stringify([size, version, setting, volumes, paused]);
        return asked(cluster) === asked(seen);
      }
      case "neverServed":
        return !cluster.recorded && cluster.phase !== "Running" && cluster.phase !== "Failed";
      case "podAsSeen": {
        const uid = this.#podUid(precondition.member);
        return uid === undefined || (precondition.pod.t === "uid" && precondition.pod.uid === uid);
      }
      case "othersStay":
        return this.#othersStay(precondition.member);
      case "podStays":
        return this.#at(precondition.member).pod?.terminating === false;
      case "podThere":
        return this.#podUid(precondition.member) === precondition.uid;
      case "podNeverReady":
        return this.#podUid(precondition.member) === precondition.uid && !this.#at(precondition.member).pod?.readyOnce;
      case "podServesNobody": {
        const { pod } = this.#at(precondition.member);
        const isOver = pod?.state === "ended" || pod?.readyOnce === false;
        return this.#podUid(precondition.member) === precondition.uid && isOver;
      }
      case "claimAsSeen":
        return this.#isClaimAsSeen(precondition.member, precondition.uid);
      case "noUnseenVolume":
        return this.#world.slots.every(({ claim, seen }) => {
          const isOfUse = claim !== null && claim.noted && !claim.retired && !claim.terminating;
          return !isOfUse || seenCluster === null || seen?.claim?.uid === claim.uid;
        });
      case "authorityAsSeen":
      case "noMemberLeft":
      case "noUnseenMember":
      case "onlyFirstMembers":
      case "restoreUnderWay":
      default:
        throw new RangeError(`nothing here needs "${precondition.holds}"`);
    }
  }

  #othersStay(member: MemberName): boolean {
    const { instances } = this.#assessment;
    const others = instances.filter((instance) => isHealthy(instance) && isVoter(instance) && instance.name !== member);
    return others.every(({ name, pod }) => {
      const stays = this.#podUid(name) === pod?.uid && this.#at(name).pod?.terminating !== true;
      return stays || pod?.terminating === true;
    });
  }

  #isClaimAsSeen(member: MemberName, uid: string): boolean {
    const { claim, seen } = this.#at(member);
    const facts = (one: SmallClaim): string =>
      JSON.stringify([one.uid, one.retired, one.terminating, one.noted, one.bound]);
    const known = this.#world.seenCluster === null ? claim : (seen?.claim ?? null);
    if (claim === null || known === null || claimUidOf(member, known.uid) !== uid) return false;
    return facts(claim) === facts(known);
  }

  /** As it is stored now. */
  #podUid(member: MemberName): string | undefined {
    const index = this.#index(member);
    const pod = this.#world.slots[index]?.pod;
    return pod ? uidOf(index, pod.uid) : undefined;
  }

  #index(member: MemberName): number {
    const known = this.#names.indexOf(member);
    if (known >= 0) return known;
    this.#names.push(member);
    this.#world.slots.push(emptySlot());
    return this.#names.length - 1;
  }

  #at(member: MemberName): Slot {
    const slot = this.#world.slots[this.#index(member)];
    if (slot === undefined) throw new RangeError(`there is no ${member}`);
    return slot;
  }

  #withId(id: string): Slot {
    const slot = this.#world.slots.find((_, index) => idAt(index) === id);
    if (slot === undefined) throw new RangeError(`there is no member ${id}`);
    return slot;
  }

  // What is done

  #do(action: ClusterAction): Ended {
    const world = this.#world;
    switch (action.do) {
      case "guardPod":
        return this.#onPod(action.member, action.uid, (pod) => void (pod.guard = "closed"));
      case "createSeed": {
        const slot = this.#at(action.member);
        slot.seed = true;
        return this.#makePod(slot, "seed");
      }
      case "recordClusterId":
        if (this.#isStatusOutdated()) return "notYet";
        world.cluster.recorded = true;
        world.cluster.phase = "Running";
        this.#writeVoters();
        return "done";
      case "addMember":
        if (this.#at(action.member).member !== null) return "done";
        return this.#asked(
          addLearner(world, this.#at(action.member), action.placeholder === true, this.#assessment.learnersAdmitted),
        );
      case "createPod": {
        const slot = this.#at(action.member);
        return slot.member === null ? "notYet" : this.#makePod(slot, "join");
      }
      case "recreatePod":
        return this.#makePod(this.#at(action.member), "return", action.release.version);
      case "noteOnClaim":
        return this.#onClaim(action.member, action.uid, (claim) => {
          claim.noted = true;
          claim.retired = false;
          claim.version = indexOfVersion(action.release.version);
          claim.setting = action.madeFrom?.includes("snapshotCount") === true ? 1 : 0;
        });
      case "retireClaim":
        return this.#onClaim(action.member, action.uid, (claim) => void (claim.retired = true));
      case "deleteClaim":
        return this.#onClaim(action.member, action.uid, (claim) => void (claim.terminating = true));
      case "promote":
        return this.#asked(promote(world, this.#withId(action.id)));
      case "updatePeerUrl": {
        const slot = this.#withId(action.id);
        return slot.member?.voter === false ? "notYet" : this.#asked(dial(world, slot));
      }
      case "moveLeader":
        return this.#asked(lead(world, this.#withId(action.to)));
      case "removeMember":
        return this.#asked(remove(world, this.#withId(action.id)));
      case "deletePod":
        return this.#onPod(action.member, action.uid, (pod, slot) => {
          if (action.force) slot.pod = null;
          else pod.terminating = true;
        });
      case "changeImage":
        return this.#onPod(action.member, action.uid, (pod) => {
          const to = indexOfVersion(action.to.version);
          if (pod.state === "running" || pod.state === "exited") [pod.state, pod.why] = ["exited", "killed"];
          pod.version = to;
          pod.changed = to === 0 ? "no" : "asked";
        });
      case "confirmChange":
        return this.#onPod(action.member, action.uid, (pod) => void (pod.changed = "no"));
      case "createImageCheck":
        return this.#onCheck(action.node.replace("node-", "check-"), true);
      case "deleteImageCheck":
        return this.#onCheck(action.name, false);
      case "adoptClaim":
      case "applyBudget":
      case "applyService":
      case "beginRestore":
      case "beginSeed":
      case "cancelDowngrade":
      case "createFirstMembers":
      case "disarmNoSpace":
      case "enableDowngrade":
      case "growClaim":
      case "labelPod":
      case "makeCertificates":
      case "markServing":
      case "nameFirstMembers":
      case "noteSettings":
      case "noteTrust":
      case "ownClaim":
      case "readImageCheck":
      case "recordLogVersion":
      case "relabelPod":
      case "renewFiles":
      case "resizePod":
      case "startAgain":
      case "startFirstMembers":
      case "writeCertificate":
      default:
        throw new RangeError(`nothing here asks for "${action.do}"`);
    }
  }

  #asked(answer: Answer): Ended {
    return answer === undefined ? "done" : "refused";
  }

  /** Changes this very pod. */
  #onPod(member: MemberName, uid: string, change: (pod: SmallPod, slot: Slot) => void): Ended {
    const slot = this.#at(member);
    if (slot.pod === null || this.#podUid(member) !== uid) return "notYet";
    change(slot.pod, slot);
    return "done";
  }

  #onClaim(member: MemberName, uid: string, change: (claim: SmallClaim) => void): Ended {
    const { claim } = this.#at(member);
    if (claim === null || claimUidOf(member, claim.uid) !== uid) return "notYet";
    change(claim);
    return "done";
  }

  #onCheck(name: string, proved: boolean): Ended {
    this.#world.slots.forEach(({ pod }, index) => {
      if (pod !== null && checkNameAt(index) === name) pod.proved = proved;
    });
    return "done";
  }

  #makePod(slot: Slot, start: SmallPod["start"], version?: string): Ended {
    const { cluster } = this.#assessment.desired;
    const volume = cluster.spec.pod.persistentVolumeClaimSpec !== undefined;
    const setting = settingIn(cluster);
    const made = indexOfVersion(version ?? cluster.spec.version);
    if (volume || start === "return") {
      if (slot.claim?.terminating === true) return "notYet";
      const fresh = { bound: false, terminating: false, retired: false, noted: false, version: made, setting };
      if (start !== "return") slot.claim ??= { uid: freshUid, ...fresh, data: "none" };
    }
    if (slot.pod !== null) return "notYet";
    slot.pod = {
      uid: freshUid,
      state: "pending",
      why: "",
      apart: "no",
      terminating: false,
      guard: start === "return" ? "closed" : "open",
      start,
      fits: true,
      volume,
      data: "none",
      version: made,
      setting,
      changed: "no",
      young: true,
      overdue: false,
      proved: false,
      readyOnce: false,
    };
    return "done";
  }

  // What is reported

  /** Its write says which version of the object it is about. */
  #isStatusOutdated(): boolean {
    const { cluster, seenCluster, slots } = this.#world;
    if (seenCluster === null) return false;
    const isSame = slots.every(({ inStatus, seen }) => inStatus === (seen?.inStatus ?? false));
    return !isSame || JSON.stringify(cluster) !== JSON.stringify(seenCluster);
  }

  #writeVoters(): void {
    const names = new Set<string>(this.#assessment.voters.map(({ name }) => name));
    this.#world.slots.forEach((slot, index) => void (slot.inStatus = names.has(this.#names[index] ?? "")));
  }

  #report(): void {
    if (this.#isStatusOutdated()) return;
    const { health, instances } = this.#assessment;
    const { cluster } = this.#world;
    const text = textOf(this.#world);
    if (this.#view.world.etcd.t === "quorum") {
      cluster.statusSize = instances.length;
      this.#writeVoters();
    }
    if (health.t !== "restoring") {
      const other = health.t === "dataLost" ? "Failed" : "Running";
      cluster.phase = health.t === "creating" ? "Creating" : other;
    }
    this.#note("report", text, true);
  }
}

const isToEtcd: ReadonlySet<ClusterAction["do"]> = new Set([
  "addMember",
  "promote",
  "removeMember",
  "updatePeerUrl",
  "moveLeader",
]);

const indexOfVersion = (version: string): number =>
  Math.max(
    0,
    versions.findIndex((one) => one === version),
  );

const settingIn = ({ spec }: CompleteEtcdCluster): number => (spec.etcd.snapshotCount === 20_000 ? 1 : 0);

/** It is as it was asked for, and nothing is left to be done. */
export function isAtRest({ cluster, slots, seenCluster }: SmallWorld): boolean {
  if (seenCluster !== null || cluster.paused || !cluster.recorded) return false;
  const members = slots.filter(({ member }) => member !== null);
  return members.length === cluster.size && slots.every((slot) => isAsSpecified(slot, cluster));
}

function isAsSpecified(slot: Slot, { version, setting, volumes }: SmallWorld["cluster"]): boolean {
  const { member, pod, claim, inStatus } = slot;
  if (member === null) return pod === null && claim === null && !inStatus;
  if (pod === null || !member.voter || member.placeholder || !inStatus || dataOf(slot) !== "whole") return false;
  const runs = pod.state === "running" && pod.apart === "no" && !pod.terminating && pod.guard === "closed";
  const isAsAsked = pod.version === version && pod.setting === setting && pod.volume === volumes;
  return runs && isAsAsked && pod.changed === "no" && claim?.terminating !== true;
}
