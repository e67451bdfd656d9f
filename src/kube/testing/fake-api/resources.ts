// The kinds that an in-memory API server serves, each with what is known of it: built-in kinds bring their traits,
// custom ones are described by the test.
import { apiVersionOf, type Kind, type KubeObject } from "../../objects/objects.ts";
import { traitsOf, type Traits } from "./builtin.ts";
import type { Shape } from "./shapes.ts";
import { noSuchResource } from "./refusals.ts";

export interface FakeKind<T extends KubeObject = KubeObject> {
  kind: Kind<T>;
  /** It has a status subresource. Built-in kinds know. */
  status?: boolean;
  /** How its lists merge under server-side apply; without it they are taken whole, as in a CRD that says nothing. */
  shape?: Shape;
  /** Says what is wrong with an object, which is then refused as Invalid. */
  validate?(object: T, previous?: T): string | undefined;
  /** Deleted objects stay, terminating, until they are deleted with a grace period of 0, as pods do until their kubelet says so. */
  graceful?: boolean;
  /** New objects get these, as volume claims get the one that keeps them while a pod uses them. */
  finalizers?: readonly string[];
}

export interface Resource extends Traits {
  /** Names the table in the store. */
  readonly table: string;
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
  readonly apiVersion: string;
  readonly namespaced: boolean;
  readonly graceful: boolean;
  readonly registered: FakeKind;
}

export class Resources {
  readonly #byTable = new Map<string, Resource>();

  constructor(kinds: readonly FakeKind[]) {
    for (const registered of kinds) this.#byTable.set(tableOf(registered.kind), resourceOf(registered));
  }

  [Symbol.iterator](): IterableIterator<Resource> {
    return this.#byTable.values();
  }

  /** A kind that is not served is NotFound, as on a server whose CRD is not installed. */
  of(kind: Kind<KubeObject>): Resource {
    const resource = this.#byTable.get(tableOf(kind));
    if (resource === undefined) throw noSuchResource();
    return resource;
  }

  byTable(table: string): Resource | undefined {
    return this.#byTable.get(table);
  }

  byApiVersion(apiVersion: string, kind: string): Resource | undefined {
    for (const resource of this.#byTable.values()) {
      if (resource.apiVersion === apiVersion && resource.kind === kind) return resource;
    }
    return undefined;
  }
}

const tableOf = (kind: Kind<KubeObject>): string => `${apiVersionOf(kind)}/${kind.plural}`;

function resourceOf(registered: FakeKind): Resource {
  const { kind } = registered;
  const traits = traitsOf(kind.group, kind.kind);
  return {
    ...traits,
    table: tableOf(kind),
    group: kind.group,
    plural: kind.plural,
    kind: kind.kind,
    apiVersion: apiVersionOf(kind),
    namespaced: kind.namespaced,
    status: registered.status ?? traits.status,
    shape: registered.shape ?? traits.shape,
    selectable: ["metadata.name", "metadata.namespace", ...traits.selectable],
    graceful: registered.graceful ?? false,
    registered,
  };
}
