// An API server for one kind, for the tests of what watches it: it keeps a history and does on command what real
// servers do at bad moments (cut, forget, lag, refuse, show the past). It checks nothing that it is sent, and casts
// because its callers, who may ask for any kind, ask for this one.
import type { KubeApi, ListOptions, Page, WatchEvent, WatchOptions } from "../client/api.ts";
import { ApiError } from "../client/errors.ts";
import { keyOf, keyText, type Key, type Kind, type KubeObject } from "../objects/objects.ts";
import type { Clock } from "../clock.ts";

export interface Thing extends KubeObject {
  spec?: { value: number };
}

export const things: Kind<Thing> = {
  group: "test.invalid",
  version: "v1",
  kind: "Thing",
  plural: "things",
  namespaced: true,
};

type Verb = "get" | "list" | "watch" | "create" | "mergePatch" | "delete";

interface Watcher {
  options: WatchOptions;
  next: number;
  tell: (event: WatchEvent<Thing>) => void;
  end: (error?: Error) => void;
}

interface Snapshot {
  version: number;
  items: Thing[];
}

export class TinyServer {
  version = 100;
  readonly calls: { verb: Verb; options: Partial<ListOptions & WatchOptions> }[] = [];
  /** Called before each request; what it returns is thrown. */
  refuse: (verb: Verb) => Error | undefined = () => undefined;
  /** While true, watches get nothing. */
  lagging = false;
  /** What lists show instead of the present. */
  past: Snapshot | undefined;
  readonly #clock: Clock | undefined;
  readonly #objects = new Map<string, Thing>();
  readonly #history: { version: number; event: WatchEvent<Thing> }[] = [];
  readonly #watchers = new Set<Watcher>();
  readonly #snapshots = new Map<number, Snapshot>();
  #forgotten = 0;
  #uids = 0;

  /** With a clock, watches end at their timeoutSeconds. */
  constructor(clock?: Clock) {
    this.#clock = clock;
  }

  get watchers(): number {
    return this.#watchers.size;
  }

  state(): Snapshot {
    return { version: this.version, items: [...this.#objects.values()].map((object) => structuredClone(object)) };
  }

  /** Makes the object, or changes it if it exists. */
  put(name: string, value: number, metadata: KubeObject["metadata"] = {}): Thing {
    const key = keyText({ namespace: "ns", name });
    const old = this.#objects.get(key);
    const kept = old?.metadata ?? { name, namespace: "ns", uid: `uid-${(this.#uids += 1)}` };
    const resourceVersion = String((this.version += 1));
    const object: Thing = { metadata: { ...kept, ...metadata, resourceVersion }, spec: { value } };
    this.#objects.set(key, object);
    this.#record({ type: old === undefined ? "ADDED" : "MODIFIED", object });
    return structuredClone(object);
  }

  remove(name: string): boolean {
    const key = keyText({ namespace: "ns", name });
    const object = this.#objects.get(key);
    if (object === undefined) return false;
    this.#objects.delete(key);
    const resourceVersion = String((this.version += 1));
    this.#record({ type: "DELETED", object: { ...object, metadata: { ...object.metadata, resourceVersion } } });
    return true;
  }

  bookmark(): void {
    for (const watcher of this.#watchers) {
      watcher.tell({ type: "BOOKMARK", resourceVersion: String(this.version) });
    }
  }

  /** Tells all watchers everything that ever happened, once more. */
  repeatHistory(): void {
    for (const watcher of this.#watchers) for (const { event } of this.#history) watcher.tell(event);
  }

  /** Ends all watches: cleanly, or with an error. */
  cut(error?: Error): void {
    for (const watcher of this.#watchers) watcher.end(error);
  }

  /** From now on no watch can start before the present. */
  forget(): void {
    this.#forgotten = this.version;
    this.#snapshots.clear();
  }

  catchUp(): void {
    this.lagging = false;
    this.#tellAll();
  }

  readonly api: KubeApi = {
    get: async <T extends KubeObject>(_kind: Kind<T>, key: Key) => {
      this.#enter("get", {});
      const object = this.#objects.get(keyText(key));
      if (object === undefined) throw notFound();
      return structuredClone(object) as KubeObject as T;
    },
    list: async <T extends KubeObject>(_kind: Kind<T>, options: ListOptions = {}) => {
      this.#enter("list", options);
      return this.#page(options) as Page<KubeObject> as Page<T>;
    },
    watch: async <T extends KubeObject>(
      _kind: Kind<T>,
      options: WatchOptions,
      onEvent: (event: WatchEvent<T>) => void,
    ) => {
      this.#enter("watch", options);
      if (Number(options.resourceVersion) < this.#forgotten) throw new ApiError(410, "Expired", "too old");
      await this.#watch(options, (event) => onEvent(structuredClone(event) as WatchEvent<KubeObject> as WatchEvent<T>));
    },
    log: async () => {
      throw notFound();
    },
    create: async <T extends KubeObject>(_kind: Kind<T>, object: T) => {
      this.#enter("create", {});
      return this.put(keyOf(object).name, 0, object.metadata) as KubeObject as T;
    },
    mergePatch: async <T extends KubeObject>(_kind: Kind<T>, key: Key, patch: object) => {
      this.#enter("mergePatch", {});
      const { spec } = patch as Thing;
      return this.put(key.name, spec?.value ?? 0) as KubeObject as T;
    },
    delete: async (_kind, key) => {
      this.#enter("delete", {});
      if (!this.remove(key.name)) throw notFound();
    },
    replace: () => Promise.reject(new Error("not in this server")),
    apply: () => Promise.reject(new Error("not in this server")),
  };

  #enter(verb: Verb, options: ListOptions | WatchOptions): void {
    this.calls.push({ verb, options });
    const error = this.refuse(verb);
    if (error !== undefined) throw error;
  }

  #page(options: ListOptions): Page<Thing> {
    const [token, offset] = options.continue?.split(":").map(Number) ?? [undefined, 0];
    const snapshot = token === undefined ? (this.past ?? this.state()) : this.#snapshots.get(token);
    if (snapshot === undefined) throw new ApiError(410, "Expired", "the continue token is too old");
    this.#snapshots.set(snapshot.version, snapshot);
    const start = offset ?? 0;
    const end = start + (options.limit ?? snapshot.items.length);
    const more = end < snapshot.items.length ? { continue: `${snapshot.version}:${end}` } : {};
    const items = structuredClone(snapshot.items.slice(start, end));
    return { items, resourceVersion: String(snapshot.version), ...more };
  }

  #watch(options: WatchOptions, tell: Watcher["tell"]): Promise<void> {
    return new Promise((resolve, reject) => {
      const from = Number(options.resourceVersion);
      const start = this.#history.findIndex(({ version }) => version > from);
      const end = (error?: Error): void => {
        this.#watchers.delete(watcher);
        cancelTimeout?.();
        options.signal.removeEventListener("abort", onAbort);
        if (error === undefined) resolve();
        else reject(error);
      };
      const watcher: Watcher = { options, next: start < 0 ? this.#history.length : start, tell, end };
      const onAbort = (): void => end(new Error("aborted", { cause: options.signal.reason }));
      const cancelTimeout = this.#clock?.after((options.timeoutSeconds ?? 1e6) * 1000, () => end());
      options.signal.addEventListener("abort", onAbort);
      this.#watchers.add(watcher);
      this.#tellAll();
    });
  }

  #record(event: WatchEvent<Thing>): void {
    this.#history.push({ version: this.version, event });
    this.#tellAll();
  }

  #tellAll(): void {
    for (const watcher of this.#watchers) {
      while (!this.lagging && this.#watchers.has(watcher) && watcher.next < this.#history.length) {
        const entry = this.#history[watcher.next];
        watcher.next += 1;
        if (entry !== undefined) watcher.tell(entry.event);
      }
    }
  }
}

function notFound(): ApiError {
  return new ApiError(404, "NotFound", "there is none");
}
