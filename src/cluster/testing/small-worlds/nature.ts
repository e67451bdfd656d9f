// What happens to a small world besides its operator: what kubelets and etcd do by themselves, what goes wrong, and what a
// person changes.
import { catchUp, Violation } from "./etcd.ts";
import { dataOf, decides, nameIn, setData, type Slot, type SmallPod, type SmallWorld } from "./state.ts";

export interface Move {
  /** In words. */
  readonly what: string;
  /**
   * By itself: sooner or later. Later: when nothing else happens any more. Repaired: by a person or by luck, so nothing may
   * depend on it unless it is lost otherwise. Fault, change: at most so often as the world allows.
   */
  readonly sort: "byItself" | "later" | "repaired" | "fault" | "change";
  readonly happen: (world: SmallWorld) => void;
}

export interface Nature {
  /** What people may change. */
  readonly edits: readonly Edit[];
  /** Whether caches may hear nothing for a while. */
  readonly deafness: boolean;
}

export type Edit =
  | { readonly t: "size"; readonly to: number }
  | { readonly t: "version" | "setting" | "volumes" | "pause" };

type OnSlot = (world: SmallWorld, slot: Slot, pod: SmallPod) => void;

export function movesOf(world: SmallWorld, { edits, deafness }: Nature): readonly Move[] {
  const moves: Move[] = [];
  const add = (sort: Move["sort"], what: string, happen: Move["happen"]): void =>
    void moves.push({ what, sort, happen });
  world.slots.forEach((slot, index) => {
    const name = nameIn(slot, index);
    const { pod, claim } = slot;
    const onPod = (sort: Move["sort"], what: string, happen: OnSlot): void =>
      add(sort, `${what} ${name}`, (after) => {
        const [found, its] = [after.slots[index], after.slots[index]?.pod];
        if (found !== undefined && its) happen(after, found, its);
      });
    if (pod !== null) {
      if (mayStart(slot, pod, decides(world))) onPod("byItself", "the kubelet starts", start);
      if (pod.terminating && isHeard(pod)) onPod("byItself", "the kubelet ends", gone);
      if (
        slot.member !== null &&
        dataOf(slot) === "joining" &&
        pod.state === "running" &&
        isHeard(pod) &&
        decides(world)
      )
        onPod("byItself", "all data reaches", (_, joined) => catchUp(joined));
      if (pod.apart === "hung") onPod("byItself", "the kubelet finds no life in", exit);
      if (pod.apart === "silent" || pod.apart === "lost")
        onPod("repaired", "the node is heard of again of", (_, __, its) => void (its.apart = "no"));
      if (world.faults > 0) faultsOf(slot, pod, onPod);
    }
    if (claim?.terminating === true && (pod === null || pod.state === "ended" || pod.state === "pending"))
      add("byItself", `the volume goes of ${name}`, (after) => {
        const found = after.slots[index];
        if (found) found.claim = null;
      });
    if (claim !== null && !claim.terminating && !claim.retired && world.faults > 0)
      add("fault", `somebody deletes the claim of ${name}`, (after) => {
        const its = after.slots[index]?.claim;
        if (its) its.terminating = true;
      });
  });
  // Kubelets and etcd need no minute for what they do.
  const isQuiet = moves.every(({ sort }) => sort !== "byItself");
  if (isQuiet && world.slots.some(({ pod }) => pod !== null && isWaitedFor(pod))) add("later", "time passes", pass);
  if (world.seenCluster !== null) add("byItself", "the cache hears again", hear);
  if (world.waits && world.faults > 0)
    add("fault", "another operator begins with what the cache shows", (after) => void (after.waits = false));
  else if (world.seenCluster === null && deafness && world.faults > 0)
    add("fault", "the cache hears nothing more", growDeaf);
  if (world.cluster.paused) add("repaired", "somebody resumes it", ({ cluster }) => void (cluster.paused = false));
  if (world.changes > 0)
    for (const edit of edits) if (isNews(edit, world)) add("change", inWords(edit), (after) => apply(edit, after));
  return moves;
}

// What happens by itself

const isHeard = ({ apart }: SmallPod): boolean => apart !== "silent" && apart !== "lost";

function mayStart({ claim, member }: Slot, pod: SmallPod, isServed: boolean): boolean {
  if (pod.terminating || !isHeard(pod)) return false;
  // A kubelet tries the others again and again, and finds the same.
  if (pod.state === "exited")
    return pod.why === "killed" || (pod.why === "unfit" && pod.fits && member !== null && isServed);
  return pod.state === "pending" && (!pod.volume || (claim !== null && !claim.terminating && !claim.retired));
}

/** With data it goes on as the member whose data that is; without, it does what it was told. */
function start(world: SmallWorld, slot: Slot, pod: SmallPod): void {
  if (pod.volume && slot.claim !== null) slot.claim.bound = true;
  if (pod.changed === "asked") pod.changed = "started";
  const end = (why: SmallPod["why"]): void => void ([pod.state, pod.why, pod.overdue] = ["exited", why, false]);
  const run = (): void => void ([pod.state, pod.why, pod.overdue] = ["running", "", false]);
  if (dataOf(slot) !== "none") {
    if (slot.member === null) return end("removed");
    return run();
  }
  if (pod.guard === "closed") return end("noData");
  if (pod.start === "seed") {
    begin(world, slot);
    return run();
  }
  if (slot.member === null || !pod.fits || !decides(world)) return end("unfit");
  if (slot.member.voter && slot.member.named) throw new Violation("a voter comes back without its data");
  setData(slot, "joining");
  run();
}

function begin(world: SmallWorld, slot: Slot): void {
  if (world.cluster.recorded) throw new Violation("a second cluster is begun for one that has an id");
  const others = world.slots.filter((other) => other !== slot && dataOf(other) !== "none");
  if (others.length > 0) throw new Violation("a second cluster is begun beside the data of the first");
  for (const other of world.slots) other.member = null;
  slot.member = { voter: true, named: true, placeholder: false };
  setData(slot, "whole");
}

function exit(_: SmallWorld, __: Slot, pod: SmallPod): void {
  [pod.state, pod.why, pod.apart, pod.overdue] = ["exited", "killed", "no", false];
}

/** Whoever lost its data finds that out when it starts. */
function wipe(world: SmallWorld, slot: Slot, pod: SmallPod): void {
  setData(slot, "none");
  exit(world, slot, pod);
}

function gone(_: SmallWorld, slot: Slot): void {
  slot.pod = null;
}

const isWaitedFor = (pod: SmallPod): boolean =>
  pod.young || pod.apart === "silent" || (pod.state === "exited" && pod.why !== "killed" && !pod.overdue);

/** Longer than the operator waits for anything. */
function pass({ slots }: SmallWorld): void {
  for (const { pod } of slots) {
    if (pod === null) continue;
    pod.young = false;
    if (pod.apart === "silent") pod.apart = "lost";
    if (pod.state === "exited" && pod.why !== "killed") pod.overdue = true;
  }
}

function hear(world: SmallWorld): void {
  [world.seenCluster, world.waits] = [null, false];
  for (const slot of world.slots) slot.seen = null;
}

// What goes wrong

function faultsOf(slot: Slot, pod: SmallPod, add: (sort: "fault", what: string, happen: OnSlot) => void): void {
  if (!pod.terminating) add("fault", "somebody deletes the pod", (_, __, its) => void (its.terminating = true));
  add("fault", "somebody deletes, without grace, the pod", gone);
  if (pod.state !== "ended" && isHeard(pod) && !pod.terminating)
    add("fault", "its node evicts", (_, its, evicted) => {
      evicted.state = "ended";
      evicted.why = "";
      evicted.data = "none";
      if (its.member === null) evicted.readyOnce = false;
    });
  if (pod.state !== "running" || pod.apart !== "no") return;
  add("fault", "the process is killed of", exit);
  add("fault", "the process hangs of", (_, __, its) => void (its.apart = "hung"));
  add("fault", "nothing is heard of the node of", (_, __, its) => void (its.apart = "silent"));
  if (dataOf(slot) !== "none") add("fault", "the disk is wiped of", wipe);
}

function growDeaf(world: SmallWorld): void {
  world.seenCluster = { ...world.cluster };
  for (const slot of world.slots) {
    const { pod, claim, inStatus } = slot;
    slot.seen = { pod: pod && { ...pod }, claim: claim && { ...claim }, inStatus };
  }
}

// What a person changes

function isNews(edit: Edit, { cluster }: SmallWorld): boolean {
  if (edit.t === "size") return cluster.size !== edit.to;
  if (edit.t === "pause") return !cluster.paused;
  if (edit.t === "volumes") return !cluster.volumes;
  return cluster[edit.t] === 0;
}

function apply(edit: Edit, { cluster }: SmallWorld): void {
  if (edit.t === "size") cluster.size = edit.to;
  else if (edit.t === "pause") cluster.paused = true;
  else if (edit.t === "volumes") cluster.volumes = true;
  else cluster[edit.t] = 1;
}

function inWords(edit: Edit): string {
  if (edit.t === "size") return `somebody asks for ${edit.to} members`;
  if (edit.t === "pause") return "somebody pauses it";
  return `somebody asks for ${edit.t === "volumes" ? "volumes" : edit.t === "version" ? "the next version" : "other settings"}`;
}
