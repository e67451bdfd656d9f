// The figures that a member gives about itself at /metrics, the few that people ask for.

export interface Figures {
  readonly isLeader?: boolean;
  readonly isLearner?: boolean;
  readonly hasLeader?: boolean;
  readonly version?: string;
  /** The size of the database file, in bytes. */
  readonly dbSize?: number;
  readonly dbInUse?: number;
  readonly quota?: number;
  /** How many entries of the raft log the member knows to be decided, and how many it has applied. */
  readonly committed?: number;
  readonly applied?: number;
}

/** Since 3.2 the database has two names, and only the newer one since 3.6. */
const names = {
  etcd_server_is_leader: "isLeader",
  etcd_server_is_learner: "isLearner",
  etcd_server_has_leader: "hasLeader",
  etcd_debugging_mvcc_db_total_size_in_bytes: "dbSize",
  etcd_mvcc_db_total_size_in_bytes: "dbSize",
  etcd_mvcc_db_total_size_in_use_in_bytes: "dbInUse",
  etcd_server_quota_backend_bytes: "quota",
  etcd_server_proposals_committed_total: "committed",
  etcd_server_proposals_applied_total: "applied",
} as const satisfies Readonly<Record<string, keyof Figures>>;

const known = new Map<string, keyof Figures>(Object.entries(names));
const truths: ReadonlySet<keyof Figures> = new Set(["isLeader", "isLearner", "hasLeader"]);
const sample = /^(?<name>[a-z_]+)(?:\{(?<labels>[^}]*)\})? (?<value>\S+)/;

export function figuresIn(metrics: string): Figures {
  const found: Record<string, number | boolean | string> = {};
  for (const line of metrics.split("\n")) {
    if (!line.startsWith("etcd_")) continue;
    const { name = "", labels = "", value = "" } = sample.exec(line)?.groups ?? {};
    const version = /server_version="([^"]+)"/.exec(labels)?.[1];
    if (name === "etcd_server_version" && version !== undefined && Number(value) > 0) found["version"] = version;
    const figure = known.get(name);
    const number = Number(value);
    if (figure === undefined || Number.isNaN(number)) continue;
    found[figure] = truths.has(figure) ? number === 1 : number;
  }
  return found;
}
