// The in-memory twin of the Kubernetes client: a whole API server in one object, good for a thousand clusters in a
// unit test. `faults` makes it misbehave, `requests` and `writes` tell what was asked of it.
import type {
  ApplyOptions,
  DeleteOptions,
  KubeApi,
  ListOptions,
  LogOptions,
  Page,
  RequestOptions,
  Subresource,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from "../../client/api.ts";
import { systemClock, type Clock } from "../../clock.ts";
import { Pod } from "../../objects/kinds.ts";
import { keyOf, type Key, type Kind, type KubeObject } from "../../objects/objects.ts";
import { ApiServer, type Write } from "./api-server.ts";
import type { Call, FinishedCall, Verb } from "./calls.ts";
import { Faults } from "./faults.ts";
import { GarbageCollector } from "./garbage.ts";
import { copyObject, type JsonObject } from "./json.ts";
import { selected } from "./listing.ts";
import { internalError, invalidRequest } from "./refusals.ts";
import { Resources, type FakeKind, type Resource } from "./resources.ts";
import { Storage } from "./storage.ts";
import { WatchStream } from "./watch-stream.ts";

interface FakeApiOptions {
  kinds: readonly FakeKind[];
  clock?: Clock;
  /** The time of day, for timestamps. */
  date?: () => Date;
  /** How many changes a kind remembers at least; watches from before that are 410. */
  history?: number;
}

type WriteListener = (write: FinishedCall, count: number) => void;

export class FakeApi implements KubeApi {
  readonly faults: Faults;
  /** Every call that came to an end, in order; watches count when they are opened. */
  readonly requests: FinishedCall[] = [];
  /** What containers have printed, by the uid of their pod. */
  readonly logs = new Map<string, string>();
  readonly #resources: Resources;
  readonly #storage: Storage;
  readonly #server: ApiServer;
  readonly #clock: Clock;
  readonly #watches = new Set<WatchStream>();
  readonly #listeners = new Set<WriteListener>();
  #writes = 0;
  #cleaning = false;

  constructor({ kinds, clock = systemClock, date = (): Date => new Date(), history = 10_000 }: FakeApiOptions) {
    this.#clock = clock;
    this.#resources = new Resources(kinds);
    this.#storage = new Storage(
      [...this.#resources].map((resource) => resource.table),
      history,
    );
    this.#server = new ApiServer(this.#storage, date);
    this.faults = new Faults({
      clock,
      revision: () => this.#storage.revision,
      watches: () => this.#watches,
      forget: () => this.#storage.forget(),
    });
    const collector = new GarbageCollector(this.#server, this.#resources, (resource, object) =>
      this.#collected(resource, object),
    );
    this.#storage.onChange((change) => {
      for (const watch of this.#watches) if (watch.resource.table === change.table) watch.wake();
      collector.note(change);
      if (this.#cleaning) return;
      this.#cleaning = true;
      // After the write has been answered, as controllers of their own do.
      queueMicrotask(() => {
        try {
          collector.work();
        } finally {
          this.#cleaning = false;
        }
      });
    });
  }

  /** The calls that changed something: a settled controller makes none. */
  get writes(): FinishedCall[] {
    return this.requests.filter((call) => call.outcome === "changed");
  }

  /** Called after each write has taken effect; what it throws is what the caller of the write gets. */
  onWrite(listener: WriteListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Forgets the requests so far. */
  forgetRequests(): void {
    this.requests.length = 0;
  }

  /** How many watches are open. */
  get watching(): number {
    return this.#watches.size;
  }

  async get<T extends KubeObject>(kind: Kind<T>, key: Key, options: RequestOptions = {}): Promise<T> {
    return await this.#read(callOn("get", kind, key), options, kind, (resource, revision) =>
      answer(kind, this.#server.get(resource, scoped(resource, key), revision)),
    );
  }

  async list<T extends KubeObject>(kind: Kind<T>, options: ListOptions = {}): Promise<Page<T>> {
    const { labelSelector = "", namespace = "" } = options;
    const paged = options.limit !== undefined;
    const call = {
      paged,
      ...callOn("list", kind, { namespace, name: "" }),
      ...(labelSelector !== "" && { labelSelector }),
    };
    return await this.#read(call, options, kind, (resource, present) => {
      const listing = this.#server.list(resource, options, present);
      return {
        items: listing.items.map((item) => listItem(kind, resource, item)),
        resourceVersion: String(listing.revision),
        ...(listing.continue === undefined ? {} : { continue: listing.continue }),
      };
    });
  }

  async watch<T extends KubeObject>(
    kind: Kind<T>,
    options: WatchOptions,
    onEvent: (event: WatchEvent<T>) => void,
  ): Promise<void> {
    const call = callOn("watch", kind, { namespace: options.namespace ?? "", name: "" });
    const { signal, resourceVersion } = options;
    const stream = await this.#read(call, { signal, deadline: Number.POSITIVE_INFINITY }, kind, (resource) => {
      const opened = new WatchStream({
        storage: this.#storage,
        clock: this.#clock,
        resource,
        call,
        matches: selected(resource, options),
        from: resourceVersion === "" || resourceVersion === "0" ? undefined : watchedFrom(resourceVersion),
        timeoutMs: options.timeoutSeconds === undefined ? undefined : options.timeoutSeconds * 1000,
        onEvent: (event) =>
          onEvent(event.type === "BOOKMARK" ? event : { type: event.type, object: answer(kind, event.object) }),
        isHeld: () => this.faults.holds(call),
      });
      this.#watches.add(opened);
      return opened;
    });
    const abort = (): void => stream.end(signal.reason);
    signal.addEventListener("abort", abort);
    if (signal.aborted) abort();
    stream.wake();
    try {
      await stream.ended;
    } finally {
      signal.removeEventListener("abort", abort);
      this.#watches.delete(stream);
    }
  }

  async log(pod: Key, options: LogOptions): Promise<string> {
    return await this.#read(callOn("log", Pod, pod), options, Pod, (resource, revision) => {
      const { metadata } = answer(Pod, this.#server.get(resource, scoped(resource, pod), revision));
      const lines = (this.logs.get(metadata?.uid ?? "") ?? "").split("\n");
      const last = options.tailLines === undefined ? lines : lines.slice(-options.tailLines);
      return last.join("\n").slice(0, options.limitBytes);
    });
  }

  async create<T extends KubeObject>(kind: Kind<T>, object: T, options: WriteOptions = {}): Promise<T> {
    const call = callOn("create", kind, keyOf(object), options.subresource);
    const asked = copyObject(object);
    return await this.#write(call, options, kind, (resource, write) => this.#server.create(resource, asked, write));
  }

  async replace<T extends KubeObject>(kind: Kind<T>, object: T, options: WriteOptions = {}): Promise<T> {
    const call = callOn("replace", kind, keyOf(object), options.subresource);
    const asked = copyObject(object);
    return await this.#write(call, options, kind, (resource, write) => this.#server.replace(resource, asked, write));
  }

  async apply<T extends KubeObject>(kind: Kind<T>, object: T, options: ApplyOptions): Promise<T> {
    const call = callOn("apply", kind, keyOf(object), options.subresource);
    const asked = copyObject(object);
    if (options.fieldManager === "") throw invalidRequest("fieldManager", "is required for apply patch");
    return await this.#write(call, options, kind, (resource, write) =>
      this.#server.apply(resource, asked, { ...write, force: options.force ?? false }),
    );
  }

  async mergePatch<T extends KubeObject>(
    kind: Kind<T>,
    key: Key,
    patch: object,
    options: WriteOptions = {},
  ): Promise<T> {
    const call = callOn("mergePatch", kind, key, options.subresource);
    const asked = copyObject(patch);
    return await this.#write(call, options, kind, (resource, write) =>
      this.#server.mergePatch(resource, scoped(resource, key), asked, write),
    );
  }

  async delete<T extends KubeObject>(kind: Kind<T>, key: Key, options: DeleteOptions = {}): Promise<void> {
    const call = callOn("delete", kind, key);
    await this.#write(call, options, kind, (resource) => {
      const before = this.#server.get(resource, scoped(resource, key), this.#storage.revision);
      this.#server.delete(resource, scoped(resource, key), options);
      return before;
    });
  }

  /** Nobody asked for it, so it is no request; but kubelets and other controllers hear of it. */
  #collected({ kind }: Resource, object: JsonObject): void {
    const copy: KubeObject = copyObject(object);
    const call: Call = { verb: "delete", kind, key: keyOf(copy), subresource: "" };
    this.#writes += 1;
    for (const listener of this.#listeners) listener({ ...call, outcome: "changed", object: copy }, this.#writes);
  }

  async #read<R>(
    call: Call,
    options: RequestOptions,
    kind: Kind<KubeObject>,
    run: (resource: Resource, revision: number) => R,
  ): Promise<R> {
    try {
      await this.faults.admit(call, options);
      const result = run(this.#resources.of(kind), this.faults.revisionFor(call));
      this.faults.answered(call);
      this.requests.push({ ...call, outcome: "answered" });
      return result;
    } catch (error) {
      this.requests.push({ ...call, outcome: "refused" });
      throw error;
    }
  }

  async #write<T extends KubeObject>(
    call: Call,
    options: WriteOptions,
    kind: Kind<T>,
    run: (resource: Resource, write: Write) => JsonObject,
  ): Promise<T> {
    const { subresource = "", dryRun = false, fieldManager = "fake" } = options;
    const before = { revision: 0 };
    let result: T;
    try {
      await this.faults.admit(call, options);
      options.beforeSend?.();
      before.revision = this.#storage.revision;
      result = answer(kind, run(this.#resources.of(kind), { subresource, dryRun, manager: fieldManager }));
    } catch (error) {
      this.requests.push({ ...call, outcome: "refused" });
      throw error;
    }
    const changed = this.#storage.revision !== before.revision;
    const finished: FinishedCall = {
      ...call,
      outcome: changed ? "changed" : "answered",
      object: copyObject(result),
    };
    this.requests.push(finished);
    if (changed) {
      this.#writes += 1;
      for (const listener of this.#listeners) listener(finished, this.#writes);
    }
    this.faults.answered(call);
    return result;
  }
}

function callOn(verb: Verb, kind: Kind<KubeObject>, key: Key, subresource: "" | Subresource = ""): Call {
  return { verb, kind: kind.kind, key, subresource };
}

const scoped = (resource: Resource, key: Key): Key => (resource.namespaced ? key : { namespace: "", name: key.name });

// The one place where stored JSON becomes the caller's type again, as parsing does in the real client.
function answer<T extends KubeObject>(_kind: Kind<T>, object: JsonObject): T {
  const copy: KubeObject = copyObject(object);
  return copy as T;
}

function watchedFrom(resourceVersion: string): number {
  if (!/^\d+$/.test(resourceVersion)) throw internalError(`invalid resource version "${resourceVersion}"`);
  return Number(resourceVersion);
}

/** In lists of built-in kinds the items do not say what they are. */
function listItem<T extends KubeObject>(kind: Kind<T>, resource: Resource, object: JsonObject): T {
  const item = answer(kind, object);
  if (resource.bareItems) {
    delete item.apiVersion;
    delete item.kind;
  }
  return item;
}
