// Which version a cluster may move to, and by which versions on the way. etcd moves one minor at a time, some minors must
// be at a certain patch first, and some patches must not be moved to at all: the rules are one table, a row a minor.
import { compareVersions, type EtcdVersion, formatVersion, isAtLeast, minorOf, sameMinor, version } from "./version.ts";

/** What is known about the patches of one minor. */
interface MinorRules {
  /** The newest known patch. Ways through this minor stop at it. */
  readonly newest: EtcdVersion;
  /** The lowest patch that may be upgraded to the next minor; undefined: any. */
  readonly leaveFrom?: { readonly patch: EtcdVersion; readonly because: string };
  /** The oldest minor whose raft entries it can read, as in `3.6`; undefined: it reads those of all minors before it. */
  readonly readsLogFrom?: { readonly minor: string; readonly because: string };
  /** Why this minor needs new members instead of upgraded ones; undefined: the data of the minor before it can be taken over. */
  readonly byReplacement?: string;
  /** Patches that no cluster is moved to. Clusters that run one of them go on, and new ones may begin with it: with a warning. */
  readonly bad: readonly BadPatches[];
}

/** `first` and `last` are patches of the minor of their row, both included; pre-releases count as their release. */
interface BadPatches {
  readonly first: number;
  readonly last: number;
  readonly because: string;
}

const splitOfRevisions = "a crash during defragmentation can leave a member at another revision than the others";
const lostByOne = "a cluster of one member can lose acknowledged writes in a crash";
const unreadableLog = "a restart can end with a panic over checksums in the WAL";

/** Oldest first, without a gap. From etcd's changelogs and upgrade guides, where nothing else is said. */
export const minors: readonly MinorRules[] = [
  { newest: version("3.2.32"), bad: [] },
  { newest: version("3.3.27"), bad: [{ first: 21, last: 21, because: unreadableLog }] },
  {
    newest: version("3.4.45"),
    bad: [
      { first: 8, last: 8, because: unreadableLog },
      { first: 0, last: 20, because: lostByOne },
      { first: 21, last: 21, because: splitOfRevisions },
    ],
  },
  {
    newest: version("3.5.35"),
    // v3.5.35 server/etcdserver/api/membership/cluster.go, CleanupZombieMembersIfNeeded: 3.4 has the members in its database
    // before it says so there, which it does with the next write. Where none came, 3.5 finds members in the database that its
    // log has not added yet, and writes them down as removed. 3.5 goes on; 3.6 refuses them. Tried in test/etcd/upgrades.test.ts.
    byReplacement:
      "on data of 3.4 that was not written to since the last member joined, 3.5 takes members for removed ones, and 3.6 believes that",
    leaveFrom: {
      patch: version("3.5.32"),
      because:
        "3.6 reads the members from the v3 store, where an older 3.5 may have left promoted learners and removed members wrong, and refuses v2 data, which only newer patches find",
    },
    bad: [
      { first: 0, last: 2, because: "a crash under load can leave members with different data" },
      { first: 3, last: 3, because: "it panics when authentication is enabled" },
      { first: 4, last: 4, because: lostByOne },
      { first: 5, last: 5, because: splitOfRevisions },
    ],
  },
  {
    newest: version("3.6.16"),
    leaveFrom: { patch: version("3.6.11"), because: "the upgrade guide to 3.7 asks for it" },
    bad: [
      { first: 0, last: 3, because: "a member can fail to start when its log holds the promotion of a learner" },
      { first: 4, last: 4, because: "a defragmentation while a member receives a snapshot can corrupt its data" },
    ],
  },
  {
    newest: version("3.7.3"),
    // v3.7.1 server/etcdserver/apply/apply.go: "unmarshal should never fail". Tried in test/etcd/upgrades.test.ts.
    readsLogFrom: {
      minor: "3.6",
      because: "3.7 panics at its start when its log still holds an entry by which a member of 3.5 announced itself",
    },
    bad: [],
  },
];

/** The newest known patch of each minor, oldest first. */
export const waypoints: readonly EtcdVersion[] = minors.map(({ newest }) => newest);

/** The oldest minor that can be downgraded, by one minor: 3.5 and older have no `downgrade enable` that works. */
export const firstDowngradable: EtcdVersion = version("3.6.0");

type Step =
  | { readonly t: "same" }
  | { readonly t: "patch" }
  | { readonly t: "upgrade" }
  /** Needs `downgrade enable` before the first member runs the older version. */
  | { readonly t: "downgrade" }
  | StepRefusal;

interface StepRefusal {
  readonly t: "refused";
  readonly because: RefusedStep;
  readonly advice: string;
}

type RefusedStep =
  | "skipsMinor"
  | "patchTooOld" // of the version that runs
  | "badPatch" // of the version that is wanted
  | "downgradeUnsupported"
  | "otherMajor";

type Path =
  /** To be run one after another. The last is the version that is wanted; empty when it runs already. */
  { readonly t: "path"; readonly versions: readonly EtcdVersion[] } | StepRefusal;

export function stepBetween(from: EtcdVersion, to: EtcdVersion): Step {
  const verdict = judge(from, to);
  if (!isRefusal(verdict)) return { t: verdict };
  return { t: "refused", because: verdict, advice: advise[verdict](from, to) };
}

/**
 * - 3.6.16 to 3.7.3: 3.7.3.
 * - 3.5.21 to 3.6.16: 3.5.35, 3.6.16. 3.5.21 is too old to be left.
 * - 3.4.23 to 3.7.3: 3.5.35, 3.6.16, 3.7.3.
 * - 3.7.3 to 3.5.35: 3.6.16, 3.5.35.
 * - 3.7.3 to 3.9.0: refused while no patch of 3.8 is known.
 */
export function pathBetween(from: EtcdVersion, to: EtcdVersion): Path {
  const versions = walk(from, to);
  if (versions !== undefined) return { t: "path", versions };
  const step = stepBetween(from, to);
  if (step.t !== "refused") throw new Error(`${formatVersion(to)} is one step from ${formatVersion(from)}`);
  return step;
}

/** Why a member cannot take its data from `from` to `to`; undefined: it can. */
export function whyByReplacement(from: EtcdVersion, to: EtcdVersion): string | undefined {
  return sameMinor(from, to) ? undefined : rulesOf(to)?.byReplacement;
}

/**
 * From which minor every member must have written a raft snapshot before one of them is upgraded to `to`; undefined: from
 * none. 3.7 asks for one of 3.6. `downgrade enable` of the minor below, and `cancel` once every member's storage has it,
 * write one. It is on disk when the member's storage is back at its own minor, and not before: see
 * test/etcd/upgrades.test.ts.
 */
export function freshLogBefore(to: EtcdVersion): MinorRules["readsLogFrom"] {
  return rulesOf(to)?.readsLogFrom;
}

/** Why no cluster is moved to this version; undefined: it may be. */
export function whyBad(v: EtcdVersion): string | undefined {
  return rulesOf(v)?.bad.find(({ first, last }) => first <= v.patch && v.patch <= last)?.because;
}

/** What to tell whoever runs this version, or begins a cluster with it; undefined: nothing. */
export function warningOn(v: EtcdVersion): string | undefined {
  const because = whyBad(v);
  const newest = formatVersion(rulesOf(v)?.newest ?? v);
  return because && `etcd ${formatVersion(v)} has a known bug: ${because}. Set spec.version to ${newest}.`;
}

type Verdict = Exclude<Step["t"], "refused"> | RefusedStep;

function judge(from: EtcdVersion, to: EtcdVersion): Verdict {
  const order = compareVersions(to, from);
  if (order === 0) return "same";
  if (from.major !== to.major) return "otherMajor";
  const minorsUp = to.minor - from.minor;
  // 3.7 to 3.4: 3.6 and 3.5 can be reached, and 3.5 cannot go on.
  if (minorsUp < 0 && to.minor < firstDowngradable.minor - 1) return "downgradeUnsupported";
  if (whyBad(to) !== undefined) return "badPatch";
  // Patches of one minor share data format and protocol: a restart is enough, in both directions.
  if (minorsUp === 0) return "patch";
  if (Math.abs(minorsUp) > 1) return "skipsMinor";
  if (minorsUp < 0) return "downgrade";
  const lowest = rulesOf(from)?.leaveFrom?.patch;
  return lowest === undefined || isAtLeast(from, lowest) ? "upgrade" : "patchTooOld";
}

/** Undefined when there is no way. */
function walk(from: EtcdVersion, to: EtcdVersion): readonly EtcdVersion[] | undefined {
  const verdict = judge(from, to);
  if (verdict === "same") return [];
  if (!isRefusal(verdict)) return [to];
  const next = stopover(verdict, from, to);
  const rest = next && walk(next, to);
  return next && rest && [next, ...rest];
}

function stopover(verdict: RefusedStep, from: EtcdVersion, to: EtcdVersion): EtcdVersion | undefined {
  const ownNewest = rulesOf(from)?.newest;
  if (verdict === "patchTooOld") return ownNewest;
  if (verdict !== "skipsMinor") return undefined;
  const next = newestOf(from.major, from.minor + Math.sign(to.minor - from.minor));
  return next && judge(from, next) === "patchTooOld" ? ownNewest : next;
}

const advise: Record<RefusedStep, (from: EtcdVersion, to: EtcdVersion) => string> = {
  otherMajor: (_, to) => `etcd ${formatVersion(to)} is another major version; only 3.x is supported.`,
  downgradeUnsupported: (from, to) =>
    `etcd ${formatVersion(from)} cannot go back to ${minorOf(to)}: downgrades exist from ${minorOf(firstDowngradable)} on, to the minor before. Restore a backup into a new cluster of ${formatVersion(to)}.`,
  badPatch: (_, to) =>
    `no cluster is moved to etcd ${formatVersion(to)}: ${whyBad(to)}. Set ${formatVersion(rulesOf(to)?.newest ?? to)} instead.`,
  patchTooOld: (from, to) => {
    const { leaveFrom: { patch = from, because = "" } = {} } = rulesOf(from) ?? {};
    return `before ${minorOf(to)} every member must run at least ${formatVersion(patch)}: ${because}. ${stepsTo(from, to)}`;
  },
  skipsMinor: (from, to) =>
    `etcd goes ${to.minor > from.minor ? "up" : "down"} one minor version at a time. ${stepsTo(from, to)}`,
};

const isRefusal = (verdict: Verdict): verdict is RefusedStep => verdict in advise;

function stepsTo(from: EtcdVersion, to: EtcdVersion): string {
  const steps = walk(from, to)?.map(formatVersion);
  if (steps === undefined) return `Set a patch of the minor next to ${minorOf(from)} first.`;
  return `Set these versions one after another: ${steps.join(", ")}.`;
}

function rulesOf(v: EtcdVersion): MinorRules | undefined {
  return minors.find(({ newest }) => sameMinor(newest, v));
}

function newestOf(major: number, minor: number): EtcdVersion | undefined {
  return waypoints.find((newest) => newest.major === major && newest.minor === minor);
}
