// A call on the API as faults match it and logs keep it.
import type { Subresource } from "../../client/api.ts";
import type { Key, Kind, KubeObject } from "../../objects/objects.ts";

export type Verb = "get" | "list" | "watch" | "log" | "create" | "replace" | "apply" | "mergePatch" | "delete";

export interface Call {
  readonly verb: Verb;
  readonly kind: string;
  /** Empty name: a list or watch, or a name still to be generated. Empty namespace: cluster-scoped, or everywhere. */
  readonly key: Key;
  readonly subresource: "" | Subresource;
  /** A list that is asked for in pages, as caches do; whoever needs the present asks for all at once. */
  readonly paged?: boolean;
  /** The selector of a list that asks for some objects only. */
  readonly labelSelector?: string;
}

/** What came of it: `changed` means that something was written, `refused` that the server or a fault said no. */
type Outcome = "answered" | "changed" | "refused";

export interface FinishedCall extends Call {
  readonly outcome: Outcome;
  /** The object after a write that changed it; for a deletion as it was before. */
  readonly object?: KubeObject;
}

/** All that is given must hold; nothing given matches every call. */
export interface Match {
  verb?: Verb | readonly Verb[];
  kind?: Kind<KubeObject>;
  name?: string | RegExp;
  namespace?: string;
  subresource?: "" | Subresource;
  paged?: boolean;
  /** The selector of a list; empty: it asks for all of them. */
  labelSelector?: string;
}

export function matchesCall(match: Match, call: Call): boolean {
  const { verb, kind, name, namespace, subresource, labelSelector, paged } = match;
  if (verb !== undefined && !(typeof verb === "string" ? verb === call.verb : verb.includes(call.verb))) return false;
  if (kind !== undefined && kind.kind !== call.kind) return false;
  if (typeof name === "string" && name !== call.key.name) return false;
  if (name instanceof RegExp && !name.test(call.key.name)) return false;
  if (namespace !== undefined && namespace !== call.key.namespace) return false;
  if (paged !== undefined && paged !== (call.paged ?? false)) return false;
  if (labelSelector !== undefined && labelSelector !== (call.labelSelector ?? "")) return false;
  return subresource === undefined || subresource === call.subresource;
}
