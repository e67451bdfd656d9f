// The port to Kubernetes: everything the rest of the program may ask of an API server. The real one is
// `client.ts`, the in-memory twin is `testing/fake-api.ts`; one contract suite holds both to the same behaviour.
import type { Key, Kind, KubeObject } from "../objects/objects.ts";

export interface RequestOptions {
  signal?: AbortSignal;
  /** Milliseconds for this request, connecting and retries included; a default applies when absent. */
  deadline?: number;
  /** Called each time just before the request goes out, repeats included. What it throws ends the request, unsent. */
  beforeSend?: () => void;
}

export interface Selection {
  /** Absent: all namespaces. */
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
}

export interface ListOptions extends RequestOptions, Selection {
  limit?: number;
  continue?: string;
  resourceVersion?: string;
  resourceVersionMatch?: "NotOlderThan";
}

export interface Page<T> {
  items: T[];
  resourceVersion: string;
  /** Absent on the last page. */
  continue?: string;
}

export interface WatchOptions extends Selection {
  resourceVersion: string;
  /** The server ends the watch cleanly after this many seconds. */
  timeoutSeconds?: number;
  signal: AbortSignal;
}

export type WatchEvent<T> =
  | { type: "ADDED" | "MODIFIED" | "DELETED"; object: T }
  | { type: "BOOKMARK"; resourceVersion: string };

export type Subresource = "status" | "resize";

export interface WriteOptions extends RequestOptions {
  subresource?: Subresource;
  fieldManager?: string;
  dryRun?: boolean;
}

export interface ApplyOptions extends WriteOptions {
  fieldManager: string;
  /** Take fields that another manager owns instead of failing with a conflict. */
  force?: boolean;
}

export interface DeleteOptions extends RequestOptions {
  /** The object is deleted only if it is still this very one … */
  uid?: string;
  /** … and still in this very version. */
  resourceVersion?: string;
  gracePeriodSeconds?: number;
  dryRun?: boolean;
}

export interface LogOptions extends RequestOptions {
  container: string;
  /** Its last lines alone. */
  tailLines?: number;
  /** No more than this is read, from the beginning or from the first of those lines on. */
  limitBytes: number;
}

export interface KubeApi {
  /** Fails with `ApiError` whose `reason` is `NotFound` when there is none. */
  get<T extends KubeObject>(kind: Kind<T>, key: Key, options?: RequestOptions): Promise<T>;
  /** One page; `continue` asks for the next. */
  list<T extends KubeObject>(kind: Kind<T>, options?: ListOptions): Promise<Page<T>>;
  /**
   * Calls `onEvent` for each event, in order, one after another, and resolves when the server ends the stream
   * cleanly. An in-band or HTTP error rejects with `ApiError` (410 is `reason: "Expired"`), a broken connection
   * with `TransportError`, an abort with the signal's reason.
   */
  watch<T extends KubeObject>(
    kind: Kind<T>,
    options: WatchOptions,
    onEvent: (event: WatchEvent<T>) => void,
  ): Promise<void>;
  create<T extends KubeObject>(kind: Kind<T>, object: T, options?: WriteOptions): Promise<T>;
  /** PUT: replaces the whole object; fails with `Conflict` if its resourceVersion is not the current one. */
  replace<T extends KubeObject>(kind: Kind<T>, object: T, options?: WriteOptions): Promise<T>;
  /** Server-side apply of the fields in `object`, in the name of `fieldManager`. */
  apply<T extends KubeObject>(kind: Kind<T>, object: T, options: ApplyOptions): Promise<T>;
  /** JSON merge patch; `metadata.resourceVersion` inside it is an optimistic lock. */
  mergePatch<T extends KubeObject>(kind: Kind<T>, key: Key, patch: object, options?: WriteOptions): Promise<T>;
  /** What a container of a pod has printed: nothing, as long as it is on no node. `NotFound` without the pod. */
  log(pod: Key, options: LogOptions): Promise<string>;
  /** Resolves with the object as it was or as it is now terminating; `NotFound` when there is none. */
  delete<T extends KubeObject>(kind: Kind<T>, key: Key, options?: DeleteOptions): Promise<void>;
}
