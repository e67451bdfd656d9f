// The Kubernetes API over HTTP/2, verb by verb: what is asked for becomes a path, a query and a body, and JSON comes
// back. Watches and requests share connections; a second client on the same credentials has its own (for the Lease).
import { TransportError } from "../../transport/errors.ts";
import type {
  ApplyOptions,
  DeleteOptions,
  KubeApi,
  ListOptions,
  LogOptions,
  Page,
  RequestOptions,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from "./api.ts";
import { type Answer, ApiServer, type ApiServerOptions, type Call, describeCall, type Method } from "./api-server.ts";
import { Pod } from "../objects/kinds.ts";
import { apiVersionOf, type Key, type Kind, type KubeObject, keyOf } from "../objects/objects.ts";
import { collectionPath, creationPath, objectPath, selectionQuery, withQuery } from "./paths.ts";
import { isFields } from "./status.ts";
import { WatchDecoder } from "./watch-decoder.ts";

const json = "application/json";

export type KubeClientOptions = ApiServerOptions;

export function connectKube(options: KubeClientOptions): KubeClient {
  return new KubeClient(options);
}

export class KubeClient implements KubeApi, Disposable {
  readonly #server: ApiServer;

  constructor(options: KubeClientOptions) {
    this.#server = new ApiServer(options);
  }

  async get<T extends KubeObject>(kind: Kind<T>, key: Key, options: RequestOptions = {}): Promise<T> {
    const path = objectPath(kind, key);
    return this.#object({ ...of(kind), verb: "get", method: "GET", path, repeatability: "idempotent" }, options);
  }

  async list<T extends KubeObject>(kind: Kind<T>, options: ListOptions = {}): Promise<Page<T>> {
    const { namespace, limit, resourceVersion, resourceVersionMatch } = options;
    const path = withQuery(collectionPath(kind, namespace), {
      ...selectionQuery(options),
      limit,
      continue: options.continue,
      resourceVersion,
      resourceVersionMatch,
    });
    const call: Call = { ...of(kind), verb: "list", method: "GET", path, repeatability: "idempotent" };
    return pageOf<T>(call, parse(call, await this.#server.send(call, options)));
  }

  async watch<T extends KubeObject>(
    kind: Kind<T>,
    options: WatchOptions,
    onEvent: (event: WatchEvent<T>) => void,
  ): Promise<void> {
    const path = withQuery(collectionPath(kind, options.namespace), {
      watch: 1,
      allowWatchBookmarks: true,
      ...selectionQuery(options),
      resourceVersion: options.resourceVersion,
      timeoutSeconds: options.timeoutSeconds,
    });
    const call: Call = { ...of(kind), verb: "watch", method: "GET", path, repeatability: "once" };
    const decoder = new WatchDecoder<T>(onEvent);
    await this.#server.stream(call, options.signal, (chunk) => decoder.push(chunk));
    if (decoder.hasRest) throw new TransportError("broken", `${describeCall(call)} ended in the middle of an event`);
  }

  async create<T extends KubeObject>(kind: Kind<T>, object: T, options: WriteOptions = {}): Promise<T> {
    const path = withQuery(creationPath(kind, keyOf(object).namespace), writeQuery(options));
    const body = typed(kind, object);
    return this.#object({ ...of(kind), verb: "create", method: "POST", path, body, repeatability: "once" }, options);
  }

  async replace<T extends KubeObject>(kind: Kind<T>, object: T, options: WriteOptions = {}): Promise<T> {
    const path = withQuery(objectPath(kind, keyOf(object), options.subresource), writeQuery(options));
    const body = typed(kind, object);
    return this.#object({ ...of(kind), verb: "update", method: "PUT", path, body, repeatability: "once" }, options);
  }

  async apply<T extends KubeObject>(kind: Kind<T>, object: T, options: ApplyOptions): Promise<T> {
    const query = { ...writeQuery(options), force: options.force };
    const call: Call = {
      ...of(kind),
      verb: "apply",
      method: "PATCH",
      path: withQuery(objectPath(kind, keyOf(object), options.subresource), query),
      body: typed(kind, object),
      contentType: "application/apply-patch+yaml", // JSON is YAML, and the name with `+json` is refused
      repeatability: "idempotent",
    };
    return this.#object(call, options);
  }

  async mergePatch<T extends KubeObject>(
    kind: Kind<T>,
    key: Key,
    patch: object,
    options: WriteOptions = {},
  ): Promise<T> {
    const call: Call = {
      ...of(kind),
      verb: "patch",
      method: "PATCH",
      path: withQuery(objectPath(kind, key, options.subresource), writeQuery(options)),
      body: patch,
      contentType: "application/merge-patch+json",
      repeatability: "once",
    };
    return this.#object(call, options);
  }

  async delete<T extends KubeObject>(kind: Kind<T>, key: Key, options: DeleteOptions = {}): Promise<void> {
    const call: Call = {
      ...of(kind),
      verb: "delete",
      method: "DELETE",
      path: objectPath(kind, key),
      body: deleteOptions(options),
      // By name alone, the second delete could hit an object that someone created after the first.
      repeatability: options.uid === undefined ? "once" : "idempotent",
    };
    await this.#server.send(call, options);
  }

  async log(pod: Key, options: LogOptions): Promise<string> {
    const { container, limitBytes, tailLines } = options;
    const path = withQuery(`${objectPath(Pod, pod)}/log`, { container, limitBytes, tailLines });
    const call: Call = { ...of(Pod), verb: "get", method: "GET", path, repeatability: "idempotent" };
    return (await this.#server.send(call, options)).text;
  }

  /** For what has no kind: `/version`, `/readyz`, an eviction. Gives parsed JSON, or the text as it is. */
  async raw(method: Method, path: string, body?: object, options: RequestOptions = {}): Promise<unknown> {
    const call: Call = {
      verb: "raw",
      resource: "",
      method,
      path,
      repeatability: method === "GET" ? "idempotent" : "once",
      ...(body === undefined ? {} : { body }),
    };
    const answer = await this.#server.send(call, options);
    return answer.contentType.startsWith(json) ? parse(call, answer) : answer.text;
  }

  /** Breaks off whatever is under way. */
  close(): void {
    this.#server.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  async #object<T>(call: Call, options: RequestOptions): Promise<T> {
    const object = parse(call, await this.#server.send(call, options));
    if (!isFields(object)) throw unusable(call);
    // The server vouches for the shape: it is of the kind that was asked for.
    return object as T;
  }
}

function of(kind: Kind<KubeObject>): { resource: string } {
  return { resource: kind.group === "" ? kind.plural : `${kind.plural}.${kind.group}` };
}

function writeQuery({ fieldManager, dryRun }: WriteOptions): Record<string, string | undefined> {
  return { fieldManager, dryRun: dryRun ? "All" : undefined };
}

/** The server wants apiVersion and kind in the body, even where the path says them. */
function typed(kind: Kind<KubeObject>, object: KubeObject): KubeObject {
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, ...object };
}

function deleteOptions({ uid, resourceVersion, gracePeriodSeconds, dryRun }: DeleteOptions): object {
  // All of it in the body: a server that gets a body ignores the query.
  return {
    apiVersion: "v1",
    kind: "DeleteOptions",
    ...(uid === undefined && resourceVersion === undefined ? {} : { preconditions: { uid, resourceVersion } }),
    gracePeriodSeconds,
    dryRun: dryRun ? ["All"] : undefined,
  };
}

function parse(call: Call, answer: Answer): unknown {
  try {
    return JSON.parse(answer.text);
  } catch (error) {
    // A body can be cut short in ways that HTTP/2 does not show.
    throw unusable(call, error);
  }
}

function unusable(call: Call, cause?: unknown): TransportError {
  return new TransportError("broken", `the answer to ${describeCall(call)} is not what an API server sends`, cause);
}

function pageOf<T extends KubeObject>(call: Call, list: unknown): Page<T> {
  const metadata = isFields(list) ? list["metadata"] : undefined;
  if (!isFields(list) || !isFields(metadata)) throw unusable(call);
  const { resourceVersion } = metadata;
  const next = metadata["continue"];
  const items = list["items"] ?? [];
  if (typeof resourceVersion !== "string" || !Array.isArray(items)) throw unusable(call);
  return { items, resourceVersion, ...(typeof next === "string" && next !== "" ? { continue: next } : {}) };
}
