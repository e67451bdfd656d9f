// The caches of a controller: one set for the whole Kubernetes cluster or one for each namespace.
import type { Scope } from "../api/scope.ts";
import { Informer, type InformerOptions } from "../kube/cache/informer.ts";
import type { StoreView } from "../kube/cache/store.ts";
import type { KubeApi, Selection } from "../kube/client/api.ts";
import type { Clock } from "../kube/clock.ts";
import type { Source } from "../kube/controller/source.ts";
import type { Pod } from "../kube/objects/kinds.ts";
import { type Kind, type KubeObject, keyText } from "../kube/objects/objects.ts";
import type { RunningCache } from "../kube/process/manager.ts";
import type { RuntimeObserver } from "../kube/process/runtime-observer.ts";
import { defined } from "../defined.ts";

export interface CacheOptions {
  readonly api: KubeApi;
  readonly scope: Scope;
  readonly observer: RuntimeObserver;
  readonly clock: Clock;
}

/** Makes informers that report to the observer of the process. */
export function informersOf({ api, observer, clock }: CacheOptions) {
  return <T extends KubeObject>(
    kind: Kind<T>,
    selection: Selection,
    more: Pick<InformerOptions<T>, "transform" | "indexes" | "optional"> = {},
  ): Informer<T> => new Informer({ api, kind, selection, clock, observe: observer.informer(kind.kind), ...more });
}

interface CachesOptions<Informers, Caches> {
  readonly scope: Scope;
  readonly informers: (selection: Selection) => Informers;
  /** Which changes requeue an object. */
  readonly sources: (informers: Informers) => readonly Source[];
  readonly read: (informers: Informers) => Caches;
}

export class CachesByScope<Informers extends { readonly [K in keyof Informers]: RunningCache }, Caches> {
  readonly sets: readonly Informers[];
  /** The empty namespace stands for all of them. */
  readonly #byNamespace: ReadonlyMap<string, Informers>;
  readonly #options: CachesOptions<Informers, Caches>;

  constructor(options: CachesOptions<Informers, Caches>) {
    const { scope, informers } = options;
    this.#byNamespace = new Map(
      scope.t === "clusterwide"
        ? [["", informers({})]]
        : scope.names.map((namespace) => [namespace, informers({ namespace })] as const),
    );
    this.sets = [...this.#byNamespace.values()];
    this.#options = options;
  }

  get sources(): readonly Source[] {
    return this.sets.flatMap((informers) => this.#options.sources(informers));
  }

  get all(): RunningCache[] {
    return this.sets.flatMap((informers) => Object.values<RunningCache>(informers));
  }

  of(namespace: string): Caches {
    const informers = this.#byNamespace.get(namespace) ?? this.#byNamespace.get("");
    if (informers === undefined) throw new RangeError(`the operator does not manage the namespace ${namespace}`);
    return this.#options.read(informers);
  }
}

/** Undefined while it may not be read, or has not been read yet. */
export const readable = <T extends KubeObject>({ readable, store }: Informer<T>): StoreView<T> | undefined =>
  readable ? store : undefined;

/** For an index: the key of what the object names in its own namespace. */
export function inItsNamespace({ metadata }: KubeObject, name: string | undefined): string[] {
  return name === undefined ? [] : [keyText({ namespace: metadata?.namespace ?? "", name })];
}

/** What caches keep of the status of a pod: what a decision or a sentence rests on. The rest is several times as large. */
export function leanStatus({ status }: Pod): NonNullable<Pod["status"]> {
  const { phase, reason, message, podIP, conditions, containerStatuses, initContainerStatuses } = status ?? {};
  return defined({ phase, reason, message, podIP, conditions, containerStatuses, initContainerStatuses });
}
