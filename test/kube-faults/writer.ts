// Adds, updates and deletes numbered objects as fast as the server takes them, and writes down each change once it is
// certain. A write whose answer got lost is looked up before the next one to that object, so the history has no gaps.
import { waitFor } from "../../lab/progress.ts";
import type { KubeApi } from "../../src/kube/client/api.ts";
import { isNotFound } from "../../src/kube/client/errors.ts";
import { type History } from "./history.ts";
import { numbered, type Numbered, type NumberedKind, numberedKinds } from "./numbered.ts";

/** An API server may be away for as long as it takes to start on a busy machine, and then has a lot to do. */
const certainWithin = 240_000;

const sealName = "last";

interface Lane {
  readonly kind: NumberedKind;
  readonly names: readonly string[];
}

/** Each object belongs to one lane, so that nobody else writes it. */
function lanesOf(count: number, objectsEach: number): Lane[] {
  return Array.from({ length: count }, (_, lane) => {
    const kind = numberedKinds[lane % numberedKinds.length];
    if (kind === undefined) throw new RangeError("there are no kinds");
    return { kind, names: Array.from({ length: objectsEach }, (_, index) => `n-${lane}-${index}`) };
  });
}

export class Writer {
  readonly #api: KubeApi;
  readonly #namespace: string;
  readonly #histories: ReadonlyMap<NumberedKind, History>;
  readonly #lanes = lanesOf(18, 8);
  #sequence = 0;
  #run: { stop: AbortController; ended: Promise<unknown> } | undefined;

  constructor(api: KubeApi, namespace: string, histories: ReadonlyMap<NumberedKind, History>) {
    this.#api = api;
    this.#namespace = namespace;
    this.#histories = histories;
  }

  get changes(): number {
    return [...this.#histories.values()].reduce((sum, history) => sum + history.changes, 0);
  }

  start(): void {
    const stop = new AbortController();
    const ended = Promise.all(this.#lanes.map((lane) => this.#keepWriting(lane, stop.signal)));
    ended.catch(() => undefined); // reported to whoever stops the writer
    this.#run = { stop, ended };
  }

  /** Resolves when all that was begun is certain. */
  async stop(): Promise<void> {
    if (this.#run === undefined) return;
    const { stop, ended } = this.#run;
    this.#run = undefined;
    stop.abort();
    await ended;
  }

  /**
   * Once it is stopped: the last change of each kind, which stays. An informer that has reported it has reported all that
   * came before. An object that came and went again does not show that: the last report of its name may be an earlier
   * deletion.
   */
  async seal(): Promise<void> {
    for (const [kind, history] of this.#histories) {
      const last = history.last(sealName);
      await this.#put(history, kind, sealName, last?.t === "present" ? last.version : undefined);
    }
  }

  /** Waits until this many changes have been made in all. */
  async reached(changes: number): Promise<void> {
    await Promise.race([
      this.#run?.ended, // ends early only by failing
      waitFor(`${changes} changes`, async () => this.changes >= changes || undefined, {
        timeoutMs: 300_000,
        everyMs: 20,
        lastSeen: () => `${this.changes}`,
      }),
    ]);
  }

  async #keepWriting({ kind, names }: Lane, stop: AbortSignal): Promise<void> {
    const history = this.#histories.get(kind);
    if (history === undefined) throw new Error(`no history of ${kind.kind.kind}`);
    while (!stop.aborted) {
      const name = names[Math.floor(Math.random() * names.length)] ?? "";
      const last = history.last(name);
      if (last?.t !== "present") await this.#put(history, kind, name, undefined);
      else if (Math.random() < 0.25) await this.#delete(history, kind, name, last.uid);
      else await this.#put(history, kind, name, last.version);
    }
  }

  /** Creates the object, or replaces the version that it has. */
  async #put(history: History, kind: NumberedKind, name: string, over: string | undefined): Promise<void> {
    this.#sequence += 1;
    const sequence = this.#sequence;
    const metadata = { namespace: this.#namespace, name, ...(over === undefined ? {} : { resourceVersion: over }) };
    const object = numbered(kind, metadata, sequence);
    const { metadata: written } = await this.#certain(
      `${kind.kind.kind} ${name} number ${sequence}`,
      () => (over === undefined ? this.#api.create(kind.kind, object) : this.#api.replace(kind.kind, object)),
      async () => {
        const found = await this.#find(kind, name);
        return found !== undefined && kind.sequenceOf(found) === sequence ? found : undefined;
      },
    );
    const { uid, resourceVersion } = written ?? {};
    if (uid === undefined || resourceVersion === undefined) throw new Error(`${name} was answered without a version`);
    history.add(name, { t: "present", uid, version: resourceVersion, sequence });
  }

  async #delete(history: History, kind: NumberedKind, name: string, uid: string): Promise<void> {
    await this.#certain(
      `deletion of ${kind.kind.kind} ${name}`,
      async () => {
        await this.#api.delete(kind.kind, { namespace: this.#namespace, name }, { uid });
        return true;
      },
      async () => (await this.#find(kind, name))?.metadata?.uid !== uid || undefined,
    );
    history.add(name, { t: "absent", uid });
  }

  /** Sends, and after a failure checks whether it went through all the same, until one of the two says yes. */
  #certain<T>(what: string, send: () => Promise<T>, read: () => Promise<T | undefined>): Promise<T> {
    let failure: unknown;
    const attempt = async (): Promise<T | undefined> => {
      try {
        return await send();
      } catch (error) {
        failure = error;
        return read();
      }
    };
    const lastSeen = (): string => String(failure);
    return waitFor(what, attempt, { timeoutMs: certainWithin, everyMs: 100, lastSeen });
  }

  async #find(kind: NumberedKind, name: string): Promise<Numbered | undefined> {
    try {
      return await this.#api.get(kind.kind, { namespace: this.#namespace, name });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}
