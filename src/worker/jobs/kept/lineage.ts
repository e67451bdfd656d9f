// Which backups are of the same etcd, and which contradict a newer one: those of another cluster, and those with a higher
// revision. Retention and the choice of the newest rest on this. Pure.
import type { BackupJob } from "../../job.ts";

export interface Traced {
  readonly key: string;
  /** Milliseconds since 1970. */
  readonly takenAt: number;
  readonly revision: number;
  /** etcd's own. */
  readonly clusterId: string;
  /** The EtcdCluster, where it is known. */
  readonly cluster?: BackupJob["cluster"];
}

export interface Contradiction {
  /** Backups of other etcd clusters; the newest of each. */
  readonly foreign: readonly Traced[];
  /** Backups of the same cluster with a higher revision; the highest first. */
  readonly ahead: readonly Traced[];
  /** When the newest of them all was taken; milliseconds since 1970. */
  readonly newest: number;
}

/**
 * Those of the same etcd as `newest`. A restore in place makes another cluster id for the same EtcdCluster, and an
 * EtcdCluster that is made again has another uid: so either links two backups. Nothing else does: names are reused.
 */
function lineOf<T extends Traced>(newest: Traced, others: readonly T[]): readonly T[] {
  const ids = new Set([newest.clusterId]);
  const uids = new Set(uidOf(newest));
  const line = new Set<T>();
  for (let before = -1; before < line.size; ) {
    before = line.size;
    for (const one of others) {
      if (!ids.has(one.clusterId) && !uidOf(one).some((uid) => uids.has(uid))) continue;
      line.add(one);
      ids.add(one.clusterId);
      for (const uid of uidOf(one)) uids.add(uid);
    }
  }
  return [...line];
}

const uidOf = ({ cluster }: Traced): readonly string[] =>
  cluster === undefined || cluster.uid === "" ? [] : [cluster.uid];

/** Undefined: `newest` continues what the others are of. */
export function contradictionOf(newest: Traced, others: readonly Traced[]): Contradiction | undefined {
  const line = new Set(lineOf(newest, others));
  const ahead = [...line].filter(({ revision }) => revision > newest.revision);
  const strangers = others.filter((one) => !line.has(one));
  if (ahead.length === 0 && strangers.length === 0) return undefined;
  return {
    foreign: newestOfEach(strangers),
    ahead: ahead.toSorted((a, b) => b.revision - a.revision),
    newest: Math.max(...[...ahead, ...strangers].map(({ takenAt }) => takenAt)),
  };
}

export function newestOfEach(backups: readonly Traced[]): readonly Traced[] {
  const left = backups.toSorted((a, b) => b.takenAt - a.takenAt);
  const found: Traced[] = [];
  for (let [newest] = left; newest !== undefined; [newest] = left) {
    found.push(newest);
    const line = new Set(lineOf(newest, left));
    left.splice(0, left.length, ...left.filter((one) => !line.has(one)));
  }
  return found;
}

/** In words: which cluster, and its newest backup. */
export function described({ key, takenAt, clusterId, cluster, revision }: Traced): string {
  const name = cluster === undefined ? "etcd" : `EtcdCluster ${cluster.namespace}/${cluster.name}`;
  return `${name} (cluster id ${clusterId}): ${key}, revision ${revision}, of ${timeText(takenAt)}`;
}

/** Enough of them for a sentence: results of workers have little room. */
export function listed(backups: readonly Traced[]): string {
  const some = backups.slice(0, 4).map(described);
  return [...some, ...(backups.length > some.length ? [`${backups.length - some.length} more`] : [])].join("; ");
}

/** The first full second after all that contradict. */
export const releaseTime = ({ newest }: Contradiction): string => timeText((Math.floor(newest / 1000) + 1) * 1000);

const timeText = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
