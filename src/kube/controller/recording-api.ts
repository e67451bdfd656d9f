// The Kubernetes API as one reconcile pass sees it: every call ends with the pass, and every write is noted, so that
// the next pass can wait until the caches show it.
import type { KubeApi, RequestOptions } from "../client/api.ts";
import { ApiError } from "../client/errors.ts";
import { keyOf } from "../objects/objects.ts";
import type { Key, Kind, KubeObject } from "../objects/objects.ts";
import { TransportError } from "../../transport/errors.ts";

export type OwnWrite =
  | {
      readonly did: "write";
      readonly kind: Kind<KubeObject>;
      readonly key: Key;
      readonly resourceVersion: string;
      readonly labels: Readonly<Record<string, string>>;
    }
  | { readonly did: "delete"; readonly kind: Kind<KubeObject>; readonly key: Key; readonly uid: string }
  /** Something was asked for and nobody knows what came of it. Only the server can tell. */
  | { readonly did: "unknown"; readonly kind: Kind<KubeObject>; readonly key: Key };

export function wroteObject(kind: Kind<KubeObject>, object: KubeObject): OwnWrite {
  const { resourceVersion = "", labels = {} } = object.metadata ?? {};
  return { did: "write", kind, key: keyOf(object), resourceVersion, labels };
}

export interface Recording {
  signal: AbortSignal;
  note: (write: OwnWrite) => void;
}

export function recordingApi(api: KubeApi, { signal, note }: Recording): KubeApi {
  async function write<T extends KubeObject>(
    kind: Kind<T>,
    key: Key,
    dryRun: boolean,
    send: () => Promise<T>,
  ): Promise<T> {
    const object = await noteUnknown(kind, key, dryRun, send);
    if (!dryRun) note(wroteObject(kind, object));
    return object;
  }

  async function noteUnknown<R>(kind: Kind<KubeObject>, key: Key, dryRun: boolean, send: () => Promise<R>): Promise<R> {
    try {
      return await send();
    } catch (error) {
      // A name that the server was to make up cannot be asked for.
      if (!dryRun && key.name !== "" && mayHaveHappened(error)) note({ did: "unknown", kind, key });
      throw error;
    }
  }

  function bound<O extends RequestOptions>(options: O | undefined): O & { signal: AbortSignal };
  function bound(options: RequestOptions = {}): RequestOptions & { signal: AbortSignal } {
    const own = options.signal;
    return { ...options, signal: own === undefined || own === signal ? signal : AbortSignal.any([own, signal]) };
  }

  return {
    get: (kind, key, options) => api.get(kind, key, bound(options)),
    list: (kind, options) => api.list(kind, bound(options)),
    watch: (kind, options, onEvent) => api.watch(kind, bound(options), onEvent),
    create: (kind, object, options) =>
      write(kind, keyOf(object), options?.dryRun === true, () => api.create(kind, object, bound(options))),
    replace: (kind, object, options) =>
      write(kind, keyOf(object), options?.dryRun === true, () => api.replace(kind, object, bound(options))),
    apply: (kind, object, options) =>
      write(kind, keyOf(object), options.dryRun === true, () => api.apply(kind, object, bound(options))),
    mergePatch: (kind, key, patch, options) =>
      write(kind, key, options?.dryRun === true, () => api.mergePatch(kind, key, patch, bound(options))),
    async delete(kind, key, options) {
      const dryRun = options?.dryRun === true;
      await noteUnknown(kind, key, dryRun, () => api.delete(kind, key, bound(options)));
      if (dryRun) return;
      // Without a uid it is not known which of several bearers of the name was deleted.
      note(options?.uid === undefined ? { did: "unknown", kind, key } : { did: "delete", kind, key, uid: options.uid });
    },
  };
}

/** After a plain no from the server nothing was written. After silence, or a server in trouble, it may have been. */
function mayHaveHappened(error: unknown): boolean {
  if (error instanceof ApiError) return error.code >= 500;
  return !(error instanceof TransportError && error.neverSent);
}
