// The versioned store beneath the in-memory API server: one revision counter for all kinds, the present state of each,
// and a window of its past from which watches resume and old pages are answered.
import { isJsonObject, metadataOf, type Json, type JsonObject } from "./json.ts";

/** What happened to one object; `object` is the new state, or for a deletion the last one under the newer revision. */
export interface Change {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly revision: number;
  readonly table: string;
  readonly key: string;
  readonly object: JsonObject;
  readonly previous: JsonObject | undefined;
}

interface Table {
  readonly objects: Map<string, JsonObject>;
  /** Oldest first. */
  changes: Change[];
  /** Changes up to this revision are forgotten. */
  forgotten: number;
}

// Like an API server that has been up for a while: a watch from version 1 is a watch from a forgotten past.
const firstRevision = 1000;

export class Storage {
  #revision = firstRevision;
  readonly #tables = new Map<string, Table>();
  readonly #window: number;
  readonly #listeners: ((change: Change) => void)[] = [];

  constructor(tables: readonly string[], window: number) {
    for (const name of tables) {
      this.#tables.set(name, { objects: new Map(), changes: [], forgotten: firstRevision - 1 });
    }
    this.#window = window;
  }

  get revision(): number {
    return this.#revision;
  }

  onChange(listener: (change: Change) => void): void {
    this.#listeners.push(listener);
  }

  get(table: string, key: string): JsonObject | undefined {
    return this.#table(table).objects.get(key);
  }

  /** The object as it was at that revision. The caller has asked `remembers`. */
  getAt(table: string, key: string, revision: number): JsonObject | undefined {
    const next = this.changesAfter(table, revision).find((change) => change.key === key);
    return next === undefined ? this.get(table, key) : next.previous;
  }

  /** Every object at that revision, in the order of their keys. */
  entriesAt(table: string, revision: number): [string, JsonObject][] {
    const { objects } = this.#table(table);
    const later = this.changesAfter(table, revision);
    const state = later.length === 0 ? objects : new Map(objects);
    if (state !== objects) {
      for (const change of later.toReversed()) {
        if (change.previous === undefined) state.delete(change.key);
        else state.set(change.key, change.previous);
      }
    }
    return [...state].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  *values(table: string): IterableIterator<[string, JsonObject]> {
    yield* this.#table(table).objects;
  }

  /** Whether all changes after that revision are still known. */
  remembers(table: string, revision: number): boolean {
    return revision >= this.#table(table).forgotten;
  }

  changesAfter(table: string, revision: number): readonly Change[] {
    const { changes } = this.#table(table);
    let low = 0;
    let high = changes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const change = changes[middle];
      if (change !== undefined && change.revision <= revision) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? changes : changes.slice(low);
  }

  /** Stores the object under a new revision and returns it as stored. It belongs to the store from then on. */
  put(table: string, key: string, object: JsonObject): JsonObject {
    const previous = this.#table(table).objects.get(key);
    this.#revision += 1;
    metadataOf(object)["resourceVersion"] = String(this.#revision);
    this.#table(table).objects.set(key, object);
    this.#record({ type: previous === undefined ? "ADDED" : "MODIFIED", table, key, object, previous });
    return object;
  }

  remove(table: string, key: string): void {
    const previous = this.#table(table).objects.get(key);
    if (previous === undefined) return;
    this.#revision += 1;
    this.#table(table).objects.delete(key);
    this.#record({ type: "DELETED", table, key, object: atRevision(previous, this.#revision), previous });
  }

  /** Forgets the past of every kind, as compaction does. */
  forget(): void {
    for (const table of this.#tables.values()) {
      table.changes = [];
      table.forgotten = this.#revision;
    }
  }

  #record(change: Omit<Change, "revision">): void {
    const recorded = { ...change, revision: this.#revision };
    const table = this.#table(change.table);
    table.changes.push(recorded);
    // Trimmed by half at a time, so that a long run does not shift the array at every write.
    if (table.changes.length > this.#window * 2) {
      const dropped = table.changes.splice(0, table.changes.length - this.#window);
      table.forgotten = dropped.at(-1)?.revision ?? table.forgotten;
    }
    for (const listener of this.#listeners) listener(recorded);
  }

  #table(name: string): Table {
    const table = this.#tables.get(name);
    if (table === undefined) throw new RangeError(`no table ${name}`);
    return table;
  }
}

/** The same object under another revision, as deletions and selections that no longer match show it. */
export function atRevision(object: JsonObject, revision: number): JsonObject {
  const metadata: Json | undefined = object["metadata"];
  return { ...object, metadata: { ...(isJsonObject(metadata) ? metadata : {}), resourceVersion: String(revision) } };
}
