// Which version the members are to run next: the spec's, or a step on the way to it, as etcd's rules allow from what runs
// now. And what etcd itself must be brought to before a member may run it. Pure arithmetic of versions.
import { firstDowngradable, freshLogBefore, pathBetween, stepBetween } from "../../etcd/versions/steps.ts";
import {
  compareVersions,
  type EtcdVersion,
  formatVersion,
  isAtLeast,
  sameMinor,
  version,
} from "../../etcd/versions/version.ts";

export interface Running {
  /** The version of each voter that answers; of the pods when none does. */
  readonly versions: readonly EtcdVersion[];
  /** The versions in which those from 3.6 on have stored their data; undefined: one has yet to say. */
  readonly storage: readonly (EtcdVersion | undefined)[];
  /** The version that etcd prepares to go back to. */
  readonly downgrade: EtcdVersion | undefined;
  /** The oldest that may have written what is still in the raft logs; undefined: not known. */
  readonly log: EtcdVersion | undefined;
}

export interface Target {
  /** What every member is to run now. */
  readonly now: EtcdVersion;
  /** The versions that come after it, the spec's last. */
  readonly later: readonly EtcdVersion[];
  /** What etcd must be brought to before `later` begins, or before the members that do not run `now` are changed. */
  readonly first: Preparation | undefined;
  /** Why the version of the spec is not followed, and what to do. */
  readonly refused: string | undefined;
}

export type Preparation =
  | { readonly t: "enableDowngrade"; readonly to: EtcdVersion; readonly because: string }
  | { readonly t: "cancelDowngrade"; readonly because: string }
  /** Every member has written a snapshot: what is in the logs from here on was written by this version. */
  | { readonly t: "recordLog"; readonly by: EtcdVersion; readonly because: string }
  | { readonly t: "wait"; readonly because: string };

export function targetOf(wanted: EtcdVersion, running: Running, path: "Manual" | "Automatic"): Target {
  if (running.versions.length === 0) return { now: wanted, later: [], first: undefined, refused: undefined };
  const stay = commonest(running.versions);
  const goal = goalOf(wanted, running, path);
  if (goal.t === "refused") return { now: stay, later: [], first: undefined, refused: goal.because };
  const first = preparationFor(goal.version, running);
  if (first === undefined) return { now: goal.version, later: goal.later, first, refused: undefined };
  const later = [goal.version, ...goal.later].filter((one) => compareVersions(one, stay) !== 0);
  return { now: stay, later, first, refused: undefined };
}

/** What most of them run; of two that are as many, the older, beside which every other can run. */
function commonest(versions: readonly EtcdVersion[]): EtcdVersion {
  const count = (v: EtcdVersion): number => versions.filter((other) => compareVersions(other, v) === 0).length;
  return versions.reduce((best, v) => ((count(v) - count(best) || compareVersions(best, v)) > 0 ? v : best));
}

type Goal =
  | { readonly t: "version"; readonly version: EtcdVersion; readonly later: readonly EtcdVersion[] }
  | { readonly t: "refused"; readonly because: string };

function goalOf(wanted: EtcdVersion, running: Running, path: "Manual" | "Automatic"): Goal {
  const { oldest, newest } = rangeOf(running);
  const isBetween = wanted.minor >= floorOf(running) && wanted.minor <= newest.minor;
  // The cluster's version follows the oldest member: both versions of a change that is under way are free to take.
  // 3.5.35, 3.6.16: go on to 3.6 or back to 3.5. 3.6.16 everywhere, and etcd still counts as 3.5: back to 3.5, too.
  const within = running.versions.find((v) => sameMinor(v, wanted)) ?? firstOf(wanted.minor);
  const from = isBetween ? within : oldest;
  if (oldest.minor !== newest.minor && !isBetween) return throughMixed(wanted, running, path);
  const step = stepBetween(from, wanted);
  if (step.t !== "refused") return { t: "version", version: wanted, later: [] };
  const walk = pathBetween(from, wanted);
  if (walk.t === "refused" || step.because === "badPatch") return { t: "refused", because: step.advice };
  const [next = wanted, ...later] = walk.versions;
  if (path === "Automatic") return { t: "version", version: next, later };
  return {
    t: "refused",
    because: `${step.advice} With spec.upgrade.path: Automatic the operator takes the steps itself.`,
  };
}

/** Further than the step that is under way goes: that one is finished first. */
function throughMixed(wanted: EtcdVersion, running: Running, path: "Manual" | "Automatic"): Goal {
  const { oldest, newest } = rangeOf(running);
  const nearer = wanted.minor > newest.minor ? newest : oldest;
  const walk = pathBetween(nearer, wanted);
  if (path === "Automatic" && walk.t === "path") return { t: "version", version: nearer, later: walk.versions };
  return {
    t: "refused",
    because: `Members run ${formatVersion(oldest)} and ${formatVersion(newest)}: set spec.version to one of the two first.`,
  };
}

function preparationFor(goal: EtcdVersion, running: Running): Preparation | undefined {
  const { oldest, newest } = rangeOf(running);
  const [runs, floor] = [newest.minor, floorOf(running)];
  const isUniform = oldest.minor === newest.minor;
  if (isUniform && goal.minor === runs + 1) return beforeUpgrade(goal, running);
  if (isUniform && goal.minor === runs - 1 && floor === runs) return beforeDowngrade(goal, running);
  return isEnabledForOther(running, goal.minor)
    ? { t: "cancelDowngrade", because: `${formatVersion(goal)} is wanted` }
    : undefined;
}

/**
 * 3.7 panics on what 3.5 and older wrote into the raft log. Entries up to the last snapshot on disk are not read again,
 * and a falling cluster version makes every member write one. So the downgrade is enabled, and cancelled once all have
 * stored their data in the older version. That does not prove their snapshots yet, which may take a moment more; that all
 * store it in the newer version again does, for etcd applies nothing before the snapshot is written. Both were tried with
 * slow disks: test/etcd/upgrades.test.ts.
 */
function beforeUpgrade(goal: EtcdVersion, running: Running): Preparation | undefined {
  const { newest } = rangeOf(running);
  const floor = floorOf(running);
  const fresh = freshLogBefore(goal);
  const previous = firstOf(newest.minor - 1);
  const text = formatVersion(goal);
  if (fresh !== undefined && (running.log === undefined || !isAtLeast(running.log, version(`${fresh.minor}.0`)))) {
    const because = `before ${text} every member must write a snapshot of its log: ${fresh.because}`;
    if (isEnabledForOther(running, previous.minor)) return { t: "cancelDowngrade", because: `${text} is wanted` };
    if (running.downgrade !== undefined)
      return floor === previous.minor && isStorageKnown(running)
        ? { t: "recordLog", by: firstOf(newest.minor), because }
        : { t: "wait", because };
    return isSettled(running)
      ? { t: "enableDowngrade", to: previous, because }
      : { t: "wait", because: settles(newest) };
  }
  if (running.downgrade !== undefined) return { t: "cancelDowngrade", because: `${text} is wanted` };
  return isSettled(running) ? undefined : { t: "wait", because: settles(newest) };
}

function beforeDowngrade(goal: EtcdVersion, running: Running): Preparation {
  const because = `etcd prepares its data for ${goal.major}.${goal.minor}`;
  if (isEnabledForOther(running, goal.minor))
    return { t: "cancelDowngrade", because: `${formatVersion(goal)} is wanted` };
  if (running.downgrade !== undefined) return { t: "wait", because };
  return { t: "enableDowngrade", to: firstOf(goal.minor), because };
}

const settles = ({ major, minor }: EtcdVersion): string =>
  `all members run ${major}.${minor}, and etcd takes a few seconds to switch to it`;

const isEnabledForOther = ({ downgrade }: Running, minor: number): boolean =>
  downgrade !== undefined && downgrade.minor !== minor;

const firstOf = (minor: number): EtcdVersion => version(`3.${minor}.0`);

function rangeOf({ versions: [first, ...others] }: Running): { oldest: EtcdVersion; newest: EtcdVersion } {
  if (first === undefined) throw new RangeError("nothing runs");
  let [oldest, newest] = [first, first];
  for (const one of others) {
    if (compareVersions(one, oldest) < 0) oldest = one;
    if (compareVersions(one, newest) > 0) newest = one;
  }
  return { oldest, newest };
}

/**
 * The minor version that the cluster as a whole counts as, no higher than its oldest member. Members store their data in
 * it a moment after it changed, so the newest that one has stored says it. 3.6 everywhere, stored as 3.5: 3.5.
 */
function floorOf(running: Running): number {
  const { oldest } = rangeOf(running);
  const known = running.storage.flatMap((stored) => stored?.minor ?? []);
  return isStorageKnown(running) ? Math.min(oldest.minor, Math.max(...known)) : oldest.minor;
}

/** Every member has stored its data in the minor version that all run; before 3.6 none says where it is stored. */
function isSettled(running: Running): boolean {
  const { newest } = rangeOf(running);
  const isOld = !isAtLeast(newest, firstDowngradable);
  return isOld || (isStorageKnown(running) && running.storage.every((stored) => stored?.minor === newest.minor));
}

function isStorageKnown({ versions, storage }: Running): boolean {
  return storage.length === versions.length && storage.every((stored) => stored !== undefined);
}
