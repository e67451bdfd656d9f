// A cache of one kind that stays equal to the server, shared by all users of that kind. Handlers get changes
// in order; what was missed while the connection was down is found by comparison.
import type { KubeApi, Selection } from "../client/api.ts";
import { changesBetween, isSameObject, isSameVersion, type Change } from "./change.ts";
import { systemClock, type Clock } from "../clock.ts";
import { AwaitedConditions } from "./await-condition.ts";
import { isForbidden } from "../client/errors.ts";
import { Store, deepFreeze, type IndexFunction, type StoreView } from "./store.ts";
import {
  apiVersionOf,
  isAtLeast,
  isOlder,
  keyOf,
  keyText,
  parseKey,
  type Key,
  type Kind,
  type KubeObject,
} from "../objects/objects.ts";
import { reflect, type ReflectorEvent, type Sink } from "./reflector.ts";

/** What a controller needs of the caches that its reconciles read: whether they are filled, and show a certain write. */
export interface Cache {
  readonly kind: Kind<KubeObject>;
  readonly selection: Selection;
  /** False while it is not filled, or the server forbids to read it. */
  readonly readable: boolean;
  whenSynced(signal: AbortSignal): Promise<void>;
  held(key: Key): KubeObject | undefined;
  /** True when the cache holds the effect of the write that gave the object this version, or of a later one. */
  hasSeen(key: Key, resourceVersion: string): boolean;
  /** True when the cache knows that the object with this uid is gone or going. */
  hasSeenDeletion(key: Key, uid: string): boolean;
  /** Resolves when `hasSeen`. Rejects with the signal's reason if the signal aborts first. */
  waitForVersion(key: Key, resourceVersion: string, signal: AbortSignal): Promise<void>;
  waitForDeletion(key: Key, uid: string, signal: AbortSignal): Promise<void>;
}

type Handler<T> = (change: Change<T>) => void;

export type InformerEvent =
  | ReflectorEvent
  /** An optional kind may not be read. `first`: it could be read until now, or was never asked for. */
  | {
      readonly type: "forbidden";
      readonly first: boolean;
      readonly kind: Kind<KubeObject>;
      readonly without: string;
      readonly retryInMs: number;
    }
  | { readonly type: "permitted" }
  /** Code given to the informer threw. The cache and the other handlers are unharmed. */
  | { readonly type: "threw"; readonly what: "handler" | "transform" | "index"; readonly error: unknown };

export interface InformerOptions<T extends KubeObject> {
  api: KubeApi;
  kind: Kind<T>;
  selection?: Selection;
  /** Returns the object without what its users do not need. Name, namespace, uid and resourceVersion must stay. */
  transform?: (object: T) => T;
  indexes?: Readonly<Record<string, IndexFunction<T>>>;
  /**
   * Set for a kind that the program can do without, to what does not work without it. Nothing waits for such a cache,
   * and it may be forbidden.
   */
  optional?: string;
  /** For metrics and logs; must not throw. */
  observe: (event: InformerEvent) => void;
  pageSize?: number;
  clock?: Clock;
  random?: () => number;
}

interface Subscription<T> {
  readonly handle: Handler<T>;
  active: boolean;
}

export class Informer<T extends KubeObject> implements Cache {
  readonly kind: Kind<T>;
  readonly selection: Selection;
  readonly #options: InformerOptions<T>;
  readonly #store: Store<T>;
  readonly #subscriptions = new Set<Subscription<T>>();
  readonly #deliveries: { changes: readonly Change<T>[]; to: readonly Subscription<T>[] }[] = [];
  readonly #awaited = new AwaitedConditions();
  #delivering = false;
  #running = false;
  #synced = false;
  #forbidden = false;
  /** Everything up to this version is in the store; empty before the first list. */
  #seen = "";

  constructor(options: InformerOptions<T>) {
    this.kind = options.kind;
    this.selection = options.selection ?? {};
    this.#options = options;
    this.#store = new Store({
      ...(options.indexes === undefined ? {} : { indexes: options.indexes }),
      onError: (error) => options.observe({ type: "threw", what: "index", error }),
    });
  }

  get store(): StoreView<T> {
    return this.#store;
  }

  /** True once a whole list is in the store and every handler has got it. */
  get synced(): boolean {
    return this.#synced;
  }

  get optional(): boolean {
    return this.#options.optional !== undefined;
  }

  /** False before the first list, and while the server forbids to read it: then the store is out of date. */
  get readable(): boolean {
    return this.#synced && !this.#forbidden;
  }

  whenSynced(signal: AbortSignal): Promise<void> {
    return this.#awaited.when(() => this.#synced, signal);
  }

  /** Runs until the signal aborts, whatever the server does. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#running) throw new Error(`The informer of ${this.kind.kind} runs already`);
    this.#running = true;
    const { api, pageSize = 100, clock = systemClock, random = Math.random } = this.#options;
    const { kind, selection, optional } = this;
    const observe = (event: ReflectorEvent): void => this.#observe(event);
    try {
      await reflect({ api, kind, selection, sink: this.#sink, clock, random, pageSize, optional, observe }, signal);
    } finally {
      this.#running = false;
    }
  }

  /** Calls the handler for all present objects now, and for every change from now on. Returns how to stop it. */
  subscribe(handle: Handler<T>): () => void {
    const subscription = { handle, active: true };
    this.#subscriptions.add(subscription);
    const present = [...this.#store.values()];
    this.#deliver(
      present.map((object) => ({ type: "added", object, initial: true })),
      [subscription],
    );
    return () => {
      subscription.active = false;
      this.#subscriptions.delete(subscription);
    };
  }

  held(key: Key): T | undefined {
    return this.#store.get(key);
  }

  hasSeen(key: Key, resourceVersion: string): boolean {
    if (isAtLeast(this.#seen, resourceVersion)) return true;
    return isAtLeast(this.#store.get(key)?.metadata?.resourceVersion ?? "", resourceVersion);
  }

  hasSeenDeletion(key: Key, uid: string): boolean {
    const meta = this.#store.get(key)?.metadata;
    return this.#synced && (meta?.uid !== uid || meta.deletionTimestamp !== undefined);
  }

  waitForVersion(key: Key, resourceVersion: string, signal: AbortSignal): Promise<void> {
    return this.#awaited.when(() => this.hasSeen(key, resourceVersion), signal);
  }

  waitForDeletion(key: Key, uid: string, signal: AbortSignal): Promise<void> {
    return this.#awaited.when(() => this.hasSeenDeletion(key, uid), signal);
  }

  readonly #sink: Sink<T> = {
    admit: (object) => this.#admit(object),
    replace: (objects, resourceVersion) => {
      const changes = this.#replace(objects).map((change) => markInitial(change, !this.#synced));
      this.#seen = resourceVersion;
      this.#permitted();
      this.#deliver(changes, [...this.#subscriptions]);
      this.#synced = true;
      this.#awaited.check();
    },
    put: (object) => {
      const old = this.#store.get(keyOf(object));
      if (old !== undefined && isOlder(versionOf(object), versionOf(old))) return;
      const admitted = this.#admit(object);
      this.#store.put(admitted);
      this.#deliver(changesBetween(old, admitted), [...this.#subscriptions]);
    },
    remove: (object) => {
      const old = this.#store.get(keyOf(object));
      // The deletion of an object whose successor is here already must not take the successor.
      if (old === undefined || !isSameObject(old, object)) return;
      this.#store.remove(keyOf(object));
      this.#deliver(changesBetween<T>(this.#admit(object), undefined), [...this.#subscriptions]);
    },
    advance: (resourceVersion) => {
      this.#permitted();
      this.#seen = resourceVersion;
      this.#awaited.check();
    },
  };

  #observe(event: ReflectorEvent): void {
    const { observe, optional: without } = this.#options;
    if (event.type !== "failed" || without === undefined || !isForbidden(event.error)) return observe(event);
    const first = !this.#forbidden;
    this.#forbidden = true;
    observe({ type: "forbidden", first, kind: this.kind, without, retryInMs: event.retryInMs });
  }

  #permitted(): void {
    if (!this.#forbidden) return;
    this.#forbidden = false;
    this.#options.observe({ type: "permitted" });
  }

  /** Brings the store to exactly these objects, and only then calls handlers, so that none sees half of it. */
  #replace(objects: readonly T[]): Change<T>[] {
    const changes: Change<T>[] = [];
    const listed = new Set<string>();
    for (const object of objects) listed.add(keyText(keyOf(object)));
    for (const key of this.#store.keys()) {
      if (!listed.has(key)) changes.push(...changesBetween(this.#store.remove(parseKey(key)), undefined));
    }
    for (const object of objects) changes.push(...changesBetween(this.#store.put(object), object));
    return changes;
  }

  /** What the cache keeps of an object. One that it holds already in this version is kept as it is. */
  #admit(object: T): T {
    const held = this.#store.get(keyOf(object));
    if (held !== undefined && versionOf(object) !== "" && isSameVersion(held, object)) return held;
    const lean = withoutCopies(object);
    // Items of a list come without their kind, those of a watch with it.
    lean.apiVersion ??= apiVersionOf(this.kind);
    lean.kind ??= this.kind.kind;
    return deepFreeze(this.#transform(lean));
  }

  #transform(object: T): T {
    const { transform, observe } = this.#options;
    if (transform === undefined) return object;
    try {
      return transform(object);
    } catch (error) {
      observe({ type: "threw", what: "transform", error });
      return object;
    }
  }

  /** A change that a handler itself causes is delivered after this one, so that all handlers see one order. */
  #deliver(changes: readonly Change<T>[], to: readonly Subscription<T>[]): void {
    if (changes.length === 0 || to.length === 0) return;
    this.#deliveries.push({ changes, to });
    if (this.#delivering) return;
    this.#delivering = true;
    for (let next = this.#deliveries.shift(); next !== undefined; next = this.#deliveries.shift()) {
      for (const change of next.changes) for (const subscription of next.to) this.#tell(subscription, change);
    }
    this.#delivering = false;
  }

  #tell(subscription: Subscription<T>, change: Change<T>): void {
    if (!subscription.active) return;
    try {
      subscription.handle(change);
    } catch (error) {
      this.#options.observe({ type: "threw", what: "handler", error });
    }
  }
}

function versionOf(object: KubeObject): string {
  return object.metadata?.resourceVersion ?? "";
}

function markInitial<T>(change: Change<T>, initial: boolean): Change<T> {
  return change.type === "added" ? { ...change, initial } : change;
}

/** What says the object once more: who set which field, and what `kubectl apply` was given. */
function withoutCopies<T extends KubeObject>(object: T): T {
  if (object.metadata === undefined) return { ...object };
  const { managedFields: _, annotations, ...metadata } = object.metadata;
  if (annotations === undefined) return { ...object, metadata };
  const { [lastApplied]: __, ...kept } = annotations;
  return { ...object, metadata: { ...metadata, annotations: kept } };
}

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";
