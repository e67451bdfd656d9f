// Members that may start at the same moment. Before etcd serves it asks every listed peer for its version, and one that
// listens and does not serve yet is waited for, twice for 7 s: two that start together would wait for each other. So
// they are listed where nobody can dial them. What a leader has to say reaches them all the same, on connections that
// they open themselves, and once they hold all data they get a vote and then their addresses. Only a new cluster does
// this: one voter, which has yet to hold more than it was born with.
import { has } from "../../etcd/versions/features.ts";
import { parseVersion } from "../../etcd/versions/version.ts";
import type { Assessment } from "./assess.ts";
import { isAboutToServe } from "./instances.ts";

export function mayStartTogether(assessment: Assessment): boolean {
  const { desired, version, voters, world } = assessment;
  // What was restored is in no log: whoever joins needs a snapshot.
  if (world.cluster.status.restore !== undefined) return false;
  const next = parseVersion(desired.cluster.spec.version);
  if (voters.length !== 1 || !hasWholeLog(assessment)) return false;
  return has(version, "maxLearners") && next !== undefined && has(next, "maxLearners");
}

/**
 * After this number of entries etcd drops the beginning of its log (etcdserver/server.go, memorySnapshotCount). From then on a
 * new member needs a snapshot, and that can only be sent where it can be dialled.
 */
const wholeUpTo = 100;

/** And stays so while they start, if nobody writes much meanwhile. */
export function hasWholeLog({ desired, instances }: Assessment): boolean {
  const { snapshotCount = wholeUpTo } = desired.cluster.spec.etcd;
  const enough = Math.min(snapshotCount, wholeUpTo) / 2;
  return instances.every(({ answer }) => answer === undefined || answer.status.raftIndex < enough);
}

/** Not before all have started: until then each compares the list with the one that it was given. */
export function mayListChange({ now, ours }: Assessment): boolean {
  return !ours.some((instance) => isAboutToServe(instance, now));
}
