// What is not there is no error to most callers: the API server's 404 as undefined.
import type { Key, Kind, KubeObject } from "../objects/objects.ts";
import type { KubeApi, RequestOptions } from "./api.ts";
import { isNotFound } from "./errors.ts";

export function getOrUndefined<T extends KubeObject>(
  api: Pick<KubeApi, "get">,
  kind: Kind<T>,
  key: Key,
  options?: RequestOptions,
): Promise<T | undefined> {
  return api.get(kind, key, options).catch(unlessNotFound);
}

/** For `catch`. */
export function unlessNotFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}
