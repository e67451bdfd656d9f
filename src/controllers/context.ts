// What the reconciles of every kind are given.
import type { Events } from "../api/events.ts";
import type { Scope } from "../api/scope.ts";
import type { KubeObject } from "../kube/objects/objects.ts";
import type { Logger } from "../kube/process/log.ts";
import type { StoredObject, Unclaimed } from "./unclaimed/unclaimed.ts";

/** What the reconciles of all objects of a kind share, whichever kind it is. */
export interface SharedContext<T extends StoredObject, Caches> {
  /** Those of one namespace. */
  readonly caches: (namespace: string) => Caches;
  readonly scope: Scope["t"];
  readonly isOurs: (object: KubeObject) => boolean;
  readonly unclaimed: Unclaimed<T>;
  readonly workerImage: () => string | undefined;
  readonly events: Events;
  readonly log: Logger;
  readonly now: () => number;
}
