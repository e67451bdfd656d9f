// The versions in an in-memory cluster: that of the cluster, that of each member's storage, where a downgrade goes, and
// which raft logs a newer server cannot read. After etcdserver/version/monitor.go.
import { freshLogBefore } from "../versions/steps.ts";
import { type EtcdVersion, isAtLeast, version } from "../versions/version.ts";

/** Milliseconds. */
const times = {
  /** A leader lowers or raises the cluster version so long after it could. */
  change: 4000,
  /** A leader ends a downgrade so long after every member runs its version. */
  end: 5000,
  /** Between the storages of two members that follow the cluster version. */
  follow: 200,
} as const;

/** What a process is to the versions. */
export interface Versioned {
  readonly version: EtcdVersion;
  /** The minor of its storage. */
  storage: number;
  /** When it wrote its last raft snapshot to disk, in the order of what happens to logs. */
  snapshotAt: number;
}

/** The minors of all members; undefined when the leader does not hear of one. */
type Heard = readonly (Versioned | undefined)[];

export class FakeVersions {
  #cluster: number;
  #changedAt = Number.NEGATIVE_INFINITY;
  #downgrade: number | undefined;
  /** What the leader will do, and since when it could. */
  #due: { readonly to: number | "end"; readonly since: number } | undefined;
  #events = 0;
  /** When a server before 3.6 last announced itself, by an entry that 3.7 cannot read. */
  #oldEntryAt = 0;

  constructor(first: EtcdVersion) {
    this.#cluster = first.minor;
  }

  /** The minor below which no server may start. */
  get cluster(): number {
    return this.#cluster;
  }

  /** The minor that an enabled downgrade goes to. */
  get downgrade(): number | undefined {
    return this.#downgrade;
  }

  enable(minor: number): void {
    this.#downgrade = minor;
  }

  cancel(): void {
    this.#downgrade = undefined;
  }

  /** What could have happened by now has happened. Called before and after each change of the world. */
  update(now: number, heard: Heard): void {
    const to = this.#next(heard);
    if (to === undefined || to !== this.#due?.to) this.#due = to === undefined ? undefined : { to, since: now };
    if (this.#due !== undefined && now >= this.#due.since + (this.#due.to === "end" ? times.end : times.change)) {
      if (this.#due.to === "end") this.#downgrade = undefined;
      else this.#change(this.#due.to, now, heard);
      this.#due = undefined;
    }
    for (const [at, process] of heard.entries())
      if (process !== undefined && now >= this.#changedAt + at * times.follow) process.storage = this.#cluster;
  }

  /** A leader knows what to do only when it hears of every member. */
  #next(heard: Heard): number | "end" | undefined {
    const minors = heard.flatMap((one) => one?.version.minor ?? []);
    if (minors.length < heard.length || minors.length === 0) return undefined;
    const lowest = Math.min(...minors);
    if (this.#downgrade === undefined) return lowest > this.#cluster ? lowest : undefined;
    if (minors.every((minor) => minor === this.#downgrade)) return "end";
    return this.#downgrade < this.#cluster ? this.#downgrade : undefined;
  }

  #change(minor: number, now: number, heard: Heard): void {
    const falls = minor < this.#cluster;
    this.#cluster = minor;
    this.#changedAt = now;
    if (falls) for (const process of heard) if (process !== undefined) process.snapshotAt = this.#event();
  }

  // Logs

  started(v: EtcdVersion): void {
    if (!isAtLeast(v, firstWithNewEntries)) this.#oldEntryAt = this.#event();
  }

  /** What a member that joins gets of this one's log: all of it when it is short, else a snapshot. */
  snapshotFor(entries: number, leader: Versioned | undefined): number {
    return entries >= sentAsSnapshot ? this.#event() : (leader?.snapshotAt ?? 0);
  }

  /** Whether the log since this snapshot has nothing that a server of this version cannot read. */
  reads(v: EtcdVersion, snapshotAt: number): boolean {
    return freshLogBefore(v) === undefined || snapshotAt >= this.#oldEntryAt;
  }

  #event(): number {
    this.#events += 1;
    return this.#events;
  }
}

const firstWithNewEntries = version("3.6.0");

/** Entries after which a log begins to be cut: etcdserver/server.go, memorySnapshotCount. */
const sentAsSnapshot = 100;
