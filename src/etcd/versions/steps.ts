// Which version a cluster may go to from where it is. etcd moves one minor at a time, and some minors must be at a
// certain patch before they can be left: below it members were lost or came back from the dead.
import { compareVersions, type EtcdVersion, formatVersion, isAtLeast, sameMinor, version } from "./version.ts";

export type Step =
  | { readonly t: "same" }
  | { readonly t: "patch" }
  | { readonly t: "upgrade" }
  /** Asks for the cluster's consent first (`downgrade enable`), and only then for older members. */
  | { readonly t: "downgrade" }
  | { readonly t: "refused"; readonly because: RefusedStep; readonly advice: string };

export type RefusedStep =
  | "skipsMinor"
  | "patchTooOld" // of the minor that is left
  | "downgradeUnsupported"
  | "otherMajor";

/** The lowest patch of a minor from which the next minor may be reached. */
const leaveFrom: readonly EtcdVersion[] = [
  // Upgrade guide to 3.6: 3.6 reads the members from the v3 store, where an older 3.5 may have left promoted learners
  // and removed members wrong, and refuses v2 data, which `etcdutl check v2store` finds in the WAL from 3.5.32 on.
  version("3.5.32"),
  // Upgrade guide to 3.7.
  version("3.6.11"),
];

/** A downgrade goes one minor back, and not below this: the first server that takes part in one is 3.6. */
const firstDowngradable = version("3.6.0");

export function stepBetween(from: EtcdVersion, to: EtcdVersion): Step {
  const order = compareVersions(to, from);
  if (order === 0) return { t: "same" };
  // Patches of one minor share data format and protocol: both directions are a plain restart.
  if (sameMinor(from, to)) return { t: "patch" };
  if (from.major !== to.major)
    return refuse("otherMajor", `etcd ${formatVersion(to)} is of another major version; only 3.x can be run.`);
  return order > 0 ? upgrade(from, to) : downgrade(from, to);
}

function upgrade(from: EtcdVersion, to: EtcdVersion): Step {
  const next = `${from.major}.${from.minor + 1}`;
  if (to.minor !== from.minor + 1)
    return refuse(
      "skipsMinor",
      `etcd goes up one minor version at a time: go from ${formatVersion(from)} to ${next} first.`,
    );
  const lowest = leaveFrom.find((patch) => sameMinor(patch, from));
  if (lowest && !isAtLeast(from, lowest))
    return refuse(
      "patchTooOld",
      `before ${next} every member must run at least ${formatVersion(lowest)}: set that version first.`,
    );
  return { t: "upgrade" };
}

function downgrade(from: EtcdVersion, to: EtcdVersion): Step {
  if (to.minor !== from.minor - 1)
    return refuse("skipsMinor", `etcd goes down one minor version at a time, and ${formatVersion(to)} is further.`);
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
 * - 3.5.10 everywhere, 3.7.3 wanted: 3.5.10. A 3.7 member could not be led by 3.5.
 * - 3.6.16 everywhere, 3.5.35 wanted: 3.6.16. A 3.5 member would end with "invalid downgrade".
 * - 3.5.35, 3.5.35, 3.6.16, wanted 3.6.16: 3.5.35, until the upgrade has brought the majority to 3.6.16.
 * - 3.5.35, 3.6.16, wanted 3.6.16: 3.5.35. A joiner must not be older than the cluster version, which follows the
 *   oldest member, so the older of two always joins.
 */
export function versionToRun(running: readonly EtcdVersion[], wanted: EtcdVersion): EtcdVersion {
  if (running.every((v) => sameMinor(v, wanted))) return wanted;
  const count = (v: EtcdVersion): number => running.filter((other) => compareVersions(other, v) === 0).length;
  return running.reduce((best, v) => ((count(v) - count(best) || compareVersions(best, v)) > 0 ? v : best));
}
