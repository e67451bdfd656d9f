// The change of a status, of the fields that this operator knows. What a later operator has written stays after a rollback, so
// that the next upgrade goes on with it.
import type { Schema } from "../api/schema/schema.ts";
import { isJsonObject, type JsonObject } from "../api/schema/complete.ts";
import { mergePatchBetween } from "../kube/objects/merge-patch.ts";

/** A merge patch; undefined: there is nothing to write. */
export function statusPatch(schema: Schema, before: object, after: object): Record<string, unknown> | undefined {
  return withoutUnknown(schema, mergePatchBetween(before, after) ?? {});
}

function withoutUnknown({ shape }: Schema, patch: JsonObject): Record<string, unknown> | undefined {
  if (shape.t !== "object") return patch;
  const entries = Object.entries(patch).flatMap(([name, value]) => {
    const field = shape.fields[name];
    if (field === undefined && value === null) return [];
    const kept = field !== undefined && isJsonObject(value) ? withoutUnknown(field, value) : value;
    return kept === undefined ? [] : [[name, kept] as const];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
