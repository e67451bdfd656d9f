// The namespace controller beside the in-memory API server: a namespace that is deleted takes all that is in it along,
// and goes when the last of it is gone.
import type { ApiServer } from "../api-server.ts";
import { isTerminating } from "./admission.ts";
import { copyObject, textAt } from "./json.ts";
import type { Resources } from "./resources.ts";

export class NamespaceController {
  readonly #server: ApiServer;
  readonly #resources: Resources;

  constructor(server: ApiServer, resources: Resources) {
    this.#server = server;
    this.#resources = resources;
  }

  work(): void {
    const namespaces = this.#resources.byApiVersion("v1", "Namespace");
    if (namespaces === undefined) return;
    for (const [name, namespace] of this.#server.storage.values(namespaces.table)) {
      if (!isTerminating(namespace) || this.#empty(name) > 0) continue;
      const next = copyObject(namespace);
      next["spec"] = { finalizers: [] };
      this.#server.store(namespaces, namespace, next);
    }
  }

  /** Deletes what is in the namespace and returns how much of it is still there. */
  #empty(namespace: string): number {
    let left = 0;
    for (const resource of this.#resources) {
      if (!resource.namespaced) continue;
      for (const [key, object] of this.#server.storage.values(resource.table)) {
        if (textAt(object, "metadata.namespace") !== namespace) continue;
        if (!isTerminating(object)) {
          this.#server.delete(resource, { namespace, name: textAt(object, "metadata.name") }, {});
        }
        if (this.#server.storage.get(resource.table, key) !== undefined) left += 1;
      }
    }
    return left;
  }
}
