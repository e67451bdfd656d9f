// Compares what one informer reported with what was written. While it watches, it has to report every single change in
// order. Across a list it may leap over states that were replaced meanwhile, but not over the end of an object that it
// had reported, nor over the state that the list shows.
import { type Entry, entryText, type History } from "./history.ts";

/** What an informer reported, in its order: changes, and where the stream that they came from broke and restarted. */
export type Observation =
  | {
      readonly t: "change";
      readonly type: "added" | "updated" | "deleted";
      readonly name: string;
      readonly uid: string;
      readonly version: string;
      readonly sequence: number;
    }
  | { readonly t: "watchEnded"; readonly because: string }
  | { readonly t: "listed" }
  | { readonly t: "watching"; readonly version: string };

type Change = Extract<Observation, { t: "change" }>;

export class Checker {
  readonly #informer: string;
  readonly #unchecked: Observation[] = [];
  readonly #latest = new Map<string, Change>();
  /** For each object, which entry of its history was reported last. */
  readonly #place = new Map<string, number>();
  #watching = false;
  #listed = false;
  #complaints: string[] = [];
  /** How often the informer listed, and how many changes came one by one. */
  lists = 0;
  steps = 0;

  constructor(informer: string) {
    this.#informer = informer;
  }

  observe(observation: Observation): void {
    this.#unchecked.push(observation);
    if (observation.t === "change") this.#latest.set(observation.name, observation);
    if (observation.t === "listed") this.lists += 1;
  }

  /** The objects whose last state has not been reported yet. It is for waiting; whether all was reported is checked after. */
  behind(history: History): string[] {
    const missing: string[] = [];
    for (const name of history.names()) {
      const last = history.last(name);
      const reported = this.#latest.get(name);
      const same =
        last?.t === "present"
          ? reported?.type !== "deleted" && reported?.uid === last.uid && reported.version === last.version
          : reported === undefined || reported.type === "deleted";
      if (!same) missing.push(`${this.#informer}: ${name} is ${entryText(last)}, reported was ${changeText(reported)}`);
    }
    return missing;
  }

  /** What is wrong with all that was reported since the last time; to be asked while nobody writes. */
  complaints(history: History): string[] {
    for (const observation of this.#unchecked.splice(0)) this.#check(history, observation);
    for (const name of history.names()) {
      const entries = history.of(name);
      const unreported = entries.slice(this.#placeOf(name) + 1);
      if (unreported.length > 0)
        this.#complaints.push(`${this.#informer}: ${name}: unreported ${unreported.map(entryText).join(", ")}`);
      this.#place.set(name, entries.length - 1); // one loss is complained about once
    }
    const complaints = this.#complaints;
    this.#complaints = [];
    return complaints;
  }

  #check(history: History, observation: Observation): void {
    switch (observation.t) {
      case "watchEnded":
        this.#watching = false;
        break;
      case "listed":
        this.#listed = true;
        break;
      case "watching":
        if (this.#listed) this.#checkList(history, Number(observation.version));
        this.#listed = false;
        this.#watching = true;
        break;
      case "change":
        if (this.#watching) this.#checkStep(history, observation);
        else this.#checkLeap(history, observation);
        break;
    }
  }

  #checkStep(history: History, change: Change): void {
    const entries = history.of(change.name);
    const place = this.#placeOf(change.name);
    this.steps += 1;
    if (fits(entries[place], entries[place + 1], change)) {
      this.#place.set(change.name, place + 1);
      return;
    }
    this.#complain(change, `after ${entryText(entries[place])} comes ${entryText(entries[place + 1])}`);
    this.#place.set(change.name, Math.max(place, find(entries, change)));
  }

  #checkLeap(history: History, change: Change): void {
    const entries = history.of(change.name);
    const place = this.#placeOf(change.name);
    const target = find(entries, change);
    const before = entries[place];
    const wasThere = before?.t === "present";
    const allowed = change.type === "added" ? !wasThere : wasThere && before.uid === change.uid && target > place;
    if (!allowed || target <= place) this.#complain(change, `a list cannot bring this after ${entryText(before)}`);
    this.#place.set(change.name, Math.max(place, target));
  }

  /** After a list everything up to its version has been reported, and nothing beyond it. */
  #checkList(history: History, version: number): void {
    for (const name of history.names()) {
      const entries = history.of(name);
      const place = this.#placeOf(name);
      const required = entries.findLastIndex((entry) => entry.t === "present" && Number(entry.version) <= version);
      const beyond = entries.findIndex((entry) => entry.t === "present" && Number(entry.version) > version);
      // The version of a deletion is not known: it lies between those of the entries around it.
      const gone = entries[place]?.t !== "present" && entries[required + 1]?.t === "absent";
      if (place < required && !gone) {
        const lost = entryText(entries[required]);
        this.#complaints.push(`${this.#informer}: the list of version ${version} did not bring ${name} to ${lost}`);
      }
      if (beyond >= 0 && place >= beyond) {
        this.#complaints.push(`${this.#informer}: the list of version ${version} shows a later ${name}`);
      }
      // An object that came and went while nobody watched is over: what comes next comes after it.
      if (place < required && gone) this.#place.set(name, required + 1);
    }
  }

  #placeOf(name: string): number {
    return this.#place.get(name) ?? -1;
  }

  #complain(change: Change, why: string): void {
    this.#complaints.push(`${this.#informer}: ${change.name} reported as ${changeText(change)}, but ${why}`);
  }
}

function fits(before: Entry | undefined, next: Entry | undefined, change: Change): boolean {
  if (next === undefined || next.uid !== change.uid) return false;
  if (next.t === "absent") return change.type === "deleted";
  const type = before?.t === "present" ? "updated" : "added";
  return change.type === type && change.version === next.version && change.sequence === next.sequence;
}

function find(entries: readonly Entry[], change: Change): number {
  return entries.findLastIndex((entry) =>
    entry.t === "absent"
      ? change.type === "deleted" && entry.uid === change.uid
      : change.type !== "deleted" && entry.version === change.version && entry.sequence === change.sequence,
  );
}

function changeText(change: Change | undefined): string {
  if (change === undefined) return "nothing";
  return `${change.type} number ${change.sequence} (${change.uid}, version ${change.version})`;
}
