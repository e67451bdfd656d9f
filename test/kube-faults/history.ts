// What was really written, object by object, in the order in which the server took it: the truth that every informer
// is held against.

export type Entry =
  | { readonly t: "present"; readonly uid: string; readonly version: string; readonly sequence: number }
  /** The object with this uid was deleted. */
  | { readonly t: "absent"; readonly uid: string };

export class History {
  readonly #entries = new Map<string, Entry[]>();
  #changes = 0;

  /** How many changes there were in all. */
  get changes(): number {
    return this.#changes;
  }

  add(name: string, entry: Entry): void {
    const entries = this.#entries.get(name);
    if (entries === undefined) this.#entries.set(name, [entry]);
    else entries.push(entry);
    this.#changes += 1;
  }

  names(): Iterable<string> {
    return this.#entries.keys();
  }

  of(name: string): readonly Entry[] {
    return this.#entries.get(name) ?? [];
  }

  last(name: string): Entry | undefined {
    return this.#entries.get(name)?.at(-1);
  }
}

export function entryText(entry: Entry | undefined): string {
  if (entry === undefined) return "nothing";
  return entry.t === "absent"
    ? `the deletion of ${entry.uid}`
    : `number ${entry.sequence} (${entry.uid}, version ${entry.version})`;
}
