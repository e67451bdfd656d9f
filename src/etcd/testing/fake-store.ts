// The keys of an in-memory etcd cluster, with revisions and compaction as etcd counts them.
import { EtcdError } from "../errors.ts";
import type { Deleted, KeyRange, KeyValue, KvHash, ReadOptions, Txn, TxnResult, Write, Written } from "../member.ts";

interface Change {
  readonly revision: number;
  /** Undefined: deleted. */
  readonly value: KeyValue | undefined;
}

export interface StoreCopy {
  readonly revision: number;
  readonly history: ReadonlyMap<string, readonly Change[]>;
}

export class FakeStore {
  /** The changes of each key, oldest first. */
  readonly #history = new Map<string, Change[]>();
  #revision = 1;
  #compacted = 0;
  /** Changes so far: how much there is on disk, whatever the revision is. */
  #changes = 0;

  get changes(): number {
    return this.#changes;
  }

  get revision(): number {
    return this.#revision;
  }

  /** As a snapshot holds it. */
  copy(): StoreCopy {
    return { revision: this.#revision, history: new Map([...this.#history].map(([key, all]) => [key, [...all]])) };
  }

  /** Begins with what a snapshot holds, at a later revision where that is asked for. */
  load({ revision, history }: StoreCopy, bump = 0): void {
    this.#history.clear();
    for (const [key, all] of history) this.#history.set(key, [...all]);
    this.#revision = revision + bump;
    this.#changes = history.size;
    if (bump > 0) this.#compacted = this.#revision;
  }

  put(key: string, value: string | Uint8Array): Written {
    this.#revision += 1;
    this.#write({ put: key, value });
    return { revision: this.#revision };
  }

  delete(key: string): Deleted {
    const deleted = this.#at(key, this.#revision) !== undefined;
    if (deleted) {
      this.#revision += 1;
      this.#write({ delete: key });
    }
    return { revision: this.#revision, deleted };
  }

  txn({ when, andThen, otherwise = [] }: Txn): TxnResult {
    const succeeded = when.every(
      ({ key, modRevision }) => (this.#at(key, this.#revision)?.modRevision ?? 0) === modRevision,
    );
    const writes = (succeeded ? andThen : otherwise).filter(
      (write) => "put" in write || this.#at(write.delete, this.#revision) !== undefined,
    );
    if (writes.length > 0) this.#revision += 1;
    for (const write of writes) this.#write(write);
    return { revision: this.#revision, succeeded };
  }

  get(key: string, options: ReadOptions = {}): KeyValue | undefined {
    return this.#at(key, this.#readable(options.revision ?? 0));
  }

  list(prefix: string, options: ReadOptions = {}): KeyRange {
    const revision = this.#readable(options.revision ?? 0);
    const keys = [...this.#history.keys()]
      .filter((key) => key.startsWith(prefix))
      .sort()
      .flatMap((key) => this.#at(key, revision) ?? []);
    const limit = options.limit ?? 0;
    const more = limit > 0 && keys.length > limit;
    return { revision: this.#revision, keys: more ? keys.slice(0, limit) : keys, more };
  }

  compact(revision: number): void {
    if (revision > this.#revision) throw future("Compact");
    if (revision <= this.#compacted) throw compacted("Compact");
    this.#compacted = revision;
    for (const [key, changes] of this.#history) {
      const newest = changes.findLastIndex((change) => change.revision <= revision);
      const kept = changes.slice(Math.max(0, newest));
      if (kept.length === 1 && kept[0]?.value === undefined) this.#history.delete(key);
      else this.#history.set(key, kept);
    }
  }

  hash(revision: number): KvHash {
    const at = revision === 0 ? this.#revision : revision;
    if (at > this.#revision) throw future("HashKV");
    if (at < this.#compacted) throw compacted("HashKV");
    let hash = 5381;
    for (const [key, changes] of [...this.#history].sort(([a], [b]) => (a < b ? -1 : 1)))
      for (const { revision, value } of changes)
        if (revision <= at)
          for (const char of `${key}@${revision}=${value ? Buffer.from(value.value).toString("base64") : "-"}`)
            hash = (Math.imul(hash, 33) ^ char.charCodeAt(0)) >>> 0;
    return { hash, revision: at, compactRevision: this.#compacted };
  }

  #write(write: Write): void {
    this.#changes += 1;
    const key = "put" in write ? write.put : write.delete;
    const changes = this.#history.get(key) ?? [];
    const before = changes.at(-1)?.value;
    const value: KeyValue | undefined =
      "put" in write
        ? {
            key,
            value: typeof write.value === "string" ? Buffer.from(write.value) : write.value,
            createRevision: before?.createRevision ?? this.#revision,
            modRevision: this.#revision,
            version: (before?.version ?? 0) + 1,
          }
        : undefined;
    this.#history.set(key, [...changes, { revision: this.#revision, value }]);
  }

  #at(key: string, revision: number): KeyValue | undefined {
    return this.#history.get(key)?.findLast((change) => change.revision <= revision)?.value;
  }

  #readable(revision: number): number {
    if (revision === 0) return this.#revision;
    if (revision > this.#revision) throw future("Range");
    if (revision < this.#compacted) throw compacted("Range");
    return revision;
  }
}

const future = (method: string): EtcdError =>
  new EtcdError("futureRevision", method, "etcdserver: mvcc: required revision is a future revision");
const compacted = (method: string): EtcdError =>
  new EtcdError("compacted", method, "etcdserver: mvcc: required revision has been compacted");
