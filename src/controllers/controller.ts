// Makes the controller of a kind.
import type { Events } from "../api/events.ts";
import { isInScope, type Scope } from "../api/scope.ts";
import type { KubeApi } from "../kube/client/api.ts";
import { type Clock, systemClock } from "../kube/clock.ts";
import { Controller } from "../kube/controller/controller.ts";
import type { Next, ReconcileContext } from "../kube/controller/run-reconcile.ts";
import type { Source } from "../kube/controller/source.ts";
import type { Key, Kind } from "../kube/objects/objects.ts";
import type { RunningCache } from "../kube/process/manager.ts";
import type { RuntimeObserver } from "../kube/process/runtime-observer.ts";
import type { CacheOptions } from "./caches.ts";
import type { SharedContext } from "./context.ts";
import { type StoredObject, Unclaimed } from "./unclaimed/unclaimed.ts";

export interface ControllerParts {
  readonly api: KubeApi;
  readonly scope: Scope;
  readonly events: Events;
  readonly observer: RuntimeObserver;
  /** The image of workers: the operator's own. Undefined while it is not known; it is asked for again. */
  readonly workerImage?: () => string | undefined;
  readonly clock?: Clock;
  /** The time of day in milliseconds, as Kubernetes writes it into objects. */
  readonly now?: () => number;
  readonly random?: () => number;
}

/** The caches of a controller, of which a reconcile reads those of one namespace. */
interface CachesOf<Caches> {
  readonly all: readonly RunningCache[];
  readonly sources: readonly Source[];
  of(namespace: string): Caches;
}

interface ControllerDefinition<T extends StoredObject, Caches, All extends CachesOf<Caches>, Context> {
  readonly kind: Kind<T>;
  /** The Lease of an operator that manages this kind. */
  readonly lease: string;
  /** How many objects are reconciled side by side. */
  readonly workers: number;
  readonly caches: (options: CacheOptions) => All;
  /** Selects the pods of an object that are made before its status is written. */
  readonly podsOf?: (name: string) => string;
  readonly context: (shared: SharedContext<T, Caches>) => Context;
  readonly reconcile: (key: Key, reconcile: ReconcileContext, context: Context) => Promise<Next>;
}

export interface MadeController<Context, All = unknown> {
  readonly controller: Controller;
  readonly informers: readonly RunningCache[];
  readonly caches: All;
  readonly context: Context;
}

export function makeController<T extends StoredObject, Caches, All extends CachesOf<Caches>, Context>(
  parts: ControllerParts,
  definition: ControllerDefinition<T, Caches, All, Context>,
): MadeController<Context, All> {
  const { api, scope, events, observer, workerImage = () => undefined, clock = systemClock, now = Date.now } = parts;
  const { random } = parts;
  const { kind, lease, workers, podsOf, reconcile } = definition;
  const caches = definition.caches({ api, scope, observer, clock });
  const context = definition.context({
    caches: (namespace) => caches.of(namespace),
    scope: scope.t,
    isOurs: (object) => isInScope(object, scope),
    unclaimed: new Unclaimed({ kind, scope: scope.t, lease, events, now, ...(podsOf && { podsOf }) }),
    workerImage,
    events,
    log: observer.log,
    now,
  });
  const name = kind.kind.toLowerCase();
  const controller = new Controller({
    name,
    sources: caches.sources,
    reconcile: (key, one) => reconcile(key, one, context),
    workers,
    clock,
    ...(random !== undefined && { random }),
    observe: observer.controller(name),
  });
  return { controller, informers: caches.all, caches, context };
}
