// Takes objects up that no operator manages, for an operator of all namespaces, and says so where it leaves one alone that
// nobody seems to manage. What is decided rests on what is read live, and each write on the version that was read.
import { again, done, type Next, type ReconcileContext } from "../../kube/controller/run-reconcile.ts";
import type { KubeApi } from "../../kube/client/api.ts";
import { isConflict, isForbidden, isNotFound } from "../../kube/client/errors.ts";
import { getOrUndefined } from "../../kube/client/get-or-undefined.ts";
import { Lease, Pod } from "../../kube/objects/kinds.ts";
import { type Key, type Kind, keyOf, keyText, type KubeObject } from "../../kube/objects/objects.ts";
import type { EventName, Events } from "../../api/events.ts";
import { isInScope, type Scope, scopeAnnotation } from "../../api/scope.ts";
import { delays } from "../delays.ts";
import { eventOf } from "../event.ts";
import { heldScope, ignored, ignoredForMs, takeoverStep, type TakeoverStep, type UnclaimedFacts } from "./decide.ts";

export interface StoredObject extends KubeObject {
  readonly status?: object;
}

interface UnclaimedOptions<T extends StoredObject> {
  readonly kind: Kind<T>;
  readonly scope: Scope["t"];
  /** The Lease that an operator of a namespace has there, for objects of this kind. */
  readonly lease: string;
  /** Selects the pods of an object that are made before its status is written. */
  readonly podsOf?: (name: string) => string;
  readonly events: Events;
  readonly now: () => number;
}

export class Unclaimed<T extends StoredObject> {
  readonly #options: UnclaimedOptions<T>;
  /** When it was first seen as it is now: held, or with an edit that nobody has acted on. By key and version of that. */
  readonly #since = new Map<string, { readonly what: string; readonly at: number }>();

  constructor(options: UnclaimedOptions<T>) {
    this.#options = options;
  }

  /** What this operator does not reconcile: there is none, it is going, or it is not in its scope. */
  async leave(key: Key, cached: T | undefined, reconcile: Pick<ReconcileContext, "api" | "signal">): Promise<Next> {
    if (cached !== undefined && !isInScope(cached, { t: this.#options.scope })) return this.check(cached, reconcile);
    this.forget(key);
    return done;
  }

  /** `cached`: not in the scope of this operator. */
  async check(cached: T, { api, signal }: Pick<ReconcileContext, "api" | "signal">): Promise<Next> {
    const { scope, now, kind } = this.#options;
    const annotation = scopeOf(cached);
    const isCandidate = annotation === undefined || annotation === heldScope;
    if (scope !== "clusterwide" || !isCandidate || cached.metadata?.deletionTimestamp !== undefined) {
      this.forget(keyOf(cached));
      return done;
    }
    if (annotation === undefined && isTouched(cached)) return this.#tellIfIgnored(cached);
    const live = await getOrUndefined(api, kind, keyOf(cached), { signal });
    if (live === undefined || live.metadata?.deletionTimestamp !== undefined) return done;
    const step = takeoverStep({
      scope: scopeOf(live),
      ageMs: now() - Date.parse(live.metadata?.creationTimestamp ?? ""),
      heldMs: scopeOf(live) === heldScope ? this.#seenFor(live, heldScope) : undefined,
      touched: isTouched(live) || (await this.#hasPods(live, api, signal)),
      operatorOfNamespace: await this.#operatorOf(live, api, signal),
    });
    return this.#do(step, live, api);
  }

  forget(key: Key): void {
    this.#since.delete(keyText(key));
  }

  async #do(step: TakeoverStep, live: T, api: KubeApi): Promise<Next> {
    if (step.do === "wait") return again(step.ms);
    if (step.do === "leave") {
      if (step.because === undefined) return done;
      this.#tell(live, "notTaken", step.because);
      return again(delays.untilCorrected);
    }
    const scope = { hold: heldScope, take: "clusterwide", giveBack: null }[step.do];
    const { resourceVersion } = live.metadata ?? {};
    const metadata = { resourceVersion, annotations: { [scopeAnnotation]: scope } };
    try {
      await api.mergePatch(this.#options.kind, keyOf(live), { metadata });
    } catch (error) {
      if (isConflict(error)) return again(delays.cacheIsBehind);
      if (!isNotFound(error)) throw error;
    }
    if (step.do === "take") this.#tell(live, "taken", takenNote);
    return done; // the watch brings it back
  }

  /** How long it has been seen so; undefined: this is the first time. */
  #seenFor(object: T, what: string): number | undefined {
    const key = keyText(keyOf(object));
    const seen = this.#since.get(key);
    const same = `${object.metadata?.uid} ${what}`;
    if (seen?.what === same) return this.#options.now() - seen.at;
    this.#since.set(key, { what: same, at: this.#options.now() });
    return undefined;
  }

  /** Somebody manages it, or did. An edit that nobody acts on tells the two apart. */
  #tellIfIgnored(cached: T): Next {
    const { generation } = cached.metadata ?? {};
    const seen = observedGeneration(cached);
    // etcd-operator 0.9 does not write what it has seen.
    if (generation === undefined || seen === undefined || seen < 0 || seen >= generation) {
      this.forget(keyOf(cached));
      return done;
    }
    const forMs = this.#seenFor(cached, `generation ${generation}`) ?? 0;
    if (forMs < ignoredForMs) return again(ignoredForMs - forMs);
    this.#tell(cached, "notTaken", ignored);
    return done;
  }

  #tell(object: T, name: EventName, note: string): void {
    this.#options.events.record(this.#options.kind, object, eventOf([name, note], "Take"));
  }

  async #hasPods({ metadata }: T, api: KubeApi, signal: AbortSignal): Promise<boolean> {
    const { namespace = "", name = "" } = metadata ?? {};
    const labelSelector = this.#options.podsOf?.(name);
    if (labelSelector === undefined) return false;
    return (await api.list(Pod, { namespace, labelSelector, limit: 1, signal })).items.length > 0;
  }

  async #operatorOf(
    { metadata }: T,
    api: KubeApi,
    signal: AbortSignal,
  ): Promise<UnclaimedFacts["operatorOfNamespace"]> {
    const key = { namespace: metadata?.namespace ?? "", name: this.#options.lease };
    try {
      return (await getOrUndefined(api, Lease, key, { signal })) === undefined ? "absent" : "present";
    } catch (error) {
      if (isForbidden(error)) return "unseen";
      throw error;
    }
  }
}

const takenNote =
  "No operator of this namespace manages the object, so the operator for all namespaces does from now on. It has set the annotation etcd.database.coreos.com/scope: clusterwide.";

const scopeOf = ({ metadata }: KubeObject): string | undefined => metadata?.annotations?.[scopeAnnotation];

function observedGeneration({ status }: StoredObject): number | undefined {
  const seen: unknown = status && "observedGeneration" in status ? status.observedGeneration : undefined;
  return typeof seen === "number" ? seen : undefined;
}

/** The CRDs give a new object -1 as the generation that was seen; whatever else there is somebody wrote. */
function isTouched(object: StoredObject): boolean {
  const written = Object.keys(object.status ?? {}).filter((field) => field !== "observedGeneration");
  return written.length > 0 || (observedGeneration(object) ?? -1) >= 0;
}
