// Watches exactly those Secrets that clusters name, each by its name: no other Secret of anybody is read. Watches come and
// go with what the clusters name; there is a limit to how many, and what is beyond it is read when it is needed.
import type { EtcdCluster } from "../api/etcd-cluster/etcd-cluster.ts";
import { whenAborted } from "../kube/abort.ts";
import { Informer, type InformerOptions } from "../kube/cache/informer.ts";
import type { KubeApi } from "../kube/client/api.ts";
import { getOrUndefined } from "../kube/client/get-or-undefined.ts";
import type { Clock } from "../kube/clock.ts";
import type { Source } from "../kube/controller/source.ts";
import { Secret } from "../kube/objects/kinds.ts";
import { type Key, keyOf, keyText } from "../kube/objects/objects.ts";
import type { RunningCache } from "../kube/process/manager.ts";

interface GivenSecretsOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly observe: InformerOptions<Secret>["observe"];
  readonly clusters: readonly Informer<EtcdCluster>[];
  /** The names of the Secrets that a cluster names; none, if it is not ours. */
  readonly namedBy: (cluster: EtcdCluster) => readonly string[];
  readonly limit?: number;
}

interface Watched {
  readonly informer: Informer<Secret>;
  readonly end: AbortController;
  readonly unsubscribe: () => void;
}

/** Characters of base64. A certificate, its key and its CA are 10 kB; a Secret may have 1 MiB, and many are watched. */
const mostKept = 64 << 10;

/** A larger one is known by its version, and its data is read when it is needed. */
function withoutLargeData(secret: Secret): Secret {
  const { data = {}, ...rest } = secret;
  const size = Object.values(data).reduce((sum, { length }) => sum + length, 0);
  return size > mostKept ? rest : { ...rest, data };
}

type Enqueue = Parameters<Source["subscribe"]>[0];

export class GivenSecrets implements RunningCache, Source {
  readonly kind = Secret;
  /** Nothing waits for them: a Secret that is not there yet is an observation like any other. */
  readonly optional = true;
  readonly synced = true;
  readonly #options: GivenSecretsOptions;
  readonly #limit: number;
  /** Keys of clusters, by the key of the Secret. */
  readonly #users = new Map<string, Set<string>>();
  /** Keys of Secrets, by the key of the cluster. */
  readonly #named = new Map<string, readonly Key[]>();
  readonly #watched = new Map<string, Watched>();
  readonly #subscribers = new Set<Enqueue>();

  constructor(options: GivenSecretsOptions) {
    this.#options = options;
    this.#limit = options.limit ?? 500;
  }

  whenSynced(): Promise<void> {
    return Promise.resolve();
  }

  get size(): number {
    return this.#watched.size;
  }

  async run(signal: AbortSignal): Promise<void> {
    const stops = this.#options.clusters.map((informer) =>
      informer.subscribe(({ type, object }) =>
        this.#note(object, type === "deleted" ? [] : this.#options.namedBy(object)),
      ),
    );
    await whenAborted(signal);
    for (const stop of stops) stop();
    for (const key of this.#watched.keys()) this.#unwatch(key);
  }

  subscribe(enqueue: Enqueue): () => void {
    this.#subscribers.add(enqueue);
    return () => this.#subscribers.delete(enqueue);
  }

  keys(): Iterable<string> {
    return [];
  }

  /** From the watch, or, where there is none, it has yet to begin or it keeps no data, from the server. Undefined: there is none. */
  async read(key: Key, api: KubeApi, signal: AbortSignal): Promise<Secret | undefined> {
    const informer = this.#watched.get(keyText(key))?.informer;
    const held = informer?.readable === true ? informer.store.get(key) : undefined;
    if (informer?.readable === true && (held === undefined || held.data !== undefined)) return held;
    return getOrUndefined(api, Secret, key, { signal });
  }

  #note(cluster: EtcdCluster, names: readonly string[]): void {
    const user = keyText(keyOf(cluster));
    const { namespace } = keyOf(cluster);
    const before = this.#named.get(user) ?? [];
    const now = [...new Set(names)].map((name) => ({ namespace, name }));
    if (now.length === 0) this.#named.delete(user);
    else this.#named.set(user, now);
    for (const key of now) this.#use(key, user);
    for (const key of before) if (!now.some(({ name }) => name === key.name)) this.#leave(key, user);
  }

  #use(key: Key, user: string): void {
    const text = keyText(key);
    const users = this.#users.get(text) ?? new Set();
    this.#users.set(text, users.add(user));
    if (!this.#watched.has(text) && this.#watched.size < this.#limit) this.#watch(key);
  }

  #leave(key: Key, user: string): void {
    const text = keyText(key);
    const users = this.#users.get(text);
    users?.delete(user);
    if (users !== undefined && users.size > 0) return;
    this.#users.delete(text);
    this.#unwatch(text);
  }

  #watch(key: Key): void {
    const text = keyText(key);
    const { api, clock, observe } = this.#options;
    const informer = new Informer({
      api,
      kind: Secret,
      selection: { namespace: key.namespace, fieldSelector: `metadata.name=${key.name}` },
      transform: withoutLargeData,
      optional: "certificates and logins that clusters name are read only when a cluster is reconciled",
      clock,
      observe,
    });
    const end = new AbortController();
    const unsubscribe = informer.subscribe(() => this.#tell(text));
    this.#watched.set(text, { informer, end, unsubscribe });
    informer.run(end.signal).catch((error: unknown) => {
      observe({ type: "threw", what: "handler", error });
    });
  }

  #unwatch(text: string): void {
    const watched = this.#watched.get(text);
    watched?.unsubscribe();
    watched?.end.abort(new Error("no cluster names it any more"));
    this.#watched.delete(text);
  }

  #tell(secret: string): void {
    for (const user of this.#users.get(secret) ?? []) for (const enqueue of this.#subscribers) enqueue(user, "normal");
  }
}
