// Which version a cluster may move to. etcd moves one minor at a time, and some minors must be at a certain patch first:
// below it an upgrade lost members or brought removed ones back.
import { compareVersions, type EtcdVersion, formatVersion, isAtLeast, sameMinor, version } from "./version.ts";

export type Step =
  | { readonly t: "same" }
  | { readonly t: "patch" }
  | { readonly t: "upgrade" }
  /** Needs `downgrade enable` before the first member runs the older version. */
  | { readonly t: "downgrade" }
  | { readonly t: "refused"; readonly because: RefusedStep; readonly advice: string };

export type RefusedStep =
  | "skipsMinor"
  | "patchTooOld" // of the version that runs
  | "downgradeUnsupported"
  | "otherMajor";

/** The lowest patch of a minor that may be upgraded to the next minor. */
const lowestPatches: readonly EtcdVersion[] = [
  // Upgrade guide to 3.6: 3.6 reads the members from the v3 store, where an older 3.5 may have left promoted learners
  // and removed members wrong, and refuses v2 data, which `etcdutl check v2store` finds in the WAL from 3.5.32 on.
  version("3.5.32"),
  // Upgrade guide to 3.7.
  version("3.6.11"),
];

/** The oldest version that can be downgraded, by one minor. */
const firstDowngradable = version("3.6.0");

export function stepBetween(from: EtcdVersion, to: EtcdVersion): Step {
  const order = compareVersions(to, from);
  if (order === 0) return { t: "same" };
  // Patches of one minor share data format and protocol: a restart is enough, in both directions.
  if (sameMinor(from, to)) return { t: "patch" };
  if (from.major !== to.major)
    return refuse("otherMajor", `etcd ${formatVersion(to)} is another major version; only 3.x is supported.`);
  return order > 0 ? upgrade(from, to) : downgrade(from, to);
}

function upgrade(from: EtcdVersion, to: EtcdVersion): Step {
  const next = `${from.major}.${from.minor + 1}`;
  if (to.minor !== from.minor + 1)
    return refuse(
      "skipsMinor",
      `etcd goes up one minor version at a time: go from ${formatVersion(from)} to ${next} first.`,
    );
  const lowest = lowestPatches.find((patch) => sameMinor(patch, from));
  if (lowest && !isAtLeast(from, lowest))
    return refuse(
      "patchTooOld",
      `before ${next} every member must run at least ${formatVersion(lowest)}: set that version first.`,
    );
  return { t: "upgrade" };
}

function downgrade(from: EtcdVersion, to: EtcdVersion): Step {
  if (to.minor !== from.minor - 1)
    return refuse(
      "skipsMinor",
      `etcd goes down one minor version at a time: go from ${formatVersion(from)} to ${from.major}.${from.minor - 1} first.`,
    );
  if (!isAtLeast(from, firstDowngradable))
    return refuse(
      "downgradeUnsupported",
      `etcd ${formatVersion(from)} cannot go back to an older minor version; restore a backup into a new cluster.`,
    );
  return { t: "downgrade" };
}

const refuse = (because: RefusedStep, advice: string): Step => ({ t: "refused", because, advice });

/**
 * The version in which a new member may be made now. Minor versions are changed by an upgrade, member by member and
 * with its checks, and never because a member had to be replaced.
 *
 * - Nothing runs: the wanted one.
 * - 3.5.21 everywhere, 3.5.35 wanted: 3.5.35. Patches of one minor work together in any order.
 * - 3.5.10 everywhere, 3.7.3 wanted: 3.5.10. A 3.7 member among 3.5 ones would skip 3.6.
 * - 3.6.16 everywhere, 3.5.35 wanted: 3.6.16. A 3.5 member would end with "invalid downgrade".
 * - 3.5.35, 3.5.35, 3.6.16, wanted 3.6.16: 3.5.35, until the upgrade has brought the majority to 3.6.16.
 * - 3.5.35, 3.6.16, wanted 3.6.16: 3.5.35. The cluster version follows the oldest member, so that one can always join.
 */
export function versionToRun(running: readonly EtcdVersion[], wanted: EtcdVersion): EtcdVersion {
  if (running.every((v) => sameMinor(v, wanted))) return wanted;
  const count = (v: EtcdVersion): number => running.filter((other) => compareVersions(other, v) === 0).length;
  return running.reduce((best, v) => ((count(v) - count(best) || compareVersions(best, v)) > 0 ? v : best));
}
