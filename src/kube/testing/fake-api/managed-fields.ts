// Who owns which field: `metadata.managedFields`, kept up by every write and consulted by server-side apply.
import {
  difference,
  fieldText,
  fromFieldsV1,
  leavesOf,
  merged,
  toFieldsV1,
  type FieldPath,
  type FieldSet,
  without,
} from "./field-set.ts";
import { copyObject, equalJson, isJsonObject, metadataOf, textAt, type Json, type JsonObject } from "./json.ts";
import { fieldConflicts } from "./refusals.ts";
import type { Shape } from "./shapes.ts";

export interface Writer {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly subresource: string;
  /** RFC 3339, of this write. */
  readonly time: string;
}

interface Owner extends Writer {
  fields: Set<FieldPath>;
}

// Set by the server, so nobody owns them.
const unowned = new Set([
  "f:apiVersion\n",
  "f:kind\n",
  ...[
    "name",
    "namespace",
    "creationTimestamp",
    "selfLink",
    "uid",
    "generation",
    "managedFields",
    "resourceVersion",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
  ].map((field) => `f:metadata\nf:${field}\n`),
]);

const isOwnable = (path: FieldPath): boolean => {
  const second = path.indexOf("\n", path.indexOf("\n") + 1);
  return path !== "f:metadata\n" && !unowned.has(path) && !unowned.has(path.slice(0, second + 1));
};

function ownersOf(object: JsonObject): Owner[] {
  const entries = isJsonObject(object["metadata"]) ? object["metadata"]["managedFields"] : undefined;
  if (!Array.isArray(entries)) return [];
  return entries.map((entry) => ({
    manager: textAt(entry, "manager"),
    operation: textAt(entry, "operation") === "Apply" ? "Apply" : "Update",
    apiVersion: textAt(entry, "apiVersion"),
    subresource: textAt(entry, "subresource"),
    time: textAt(entry, "time"),
    fields: fromFieldsV1(isJsonObject(entry) ? entry["fieldsV1"] : undefined),
  }));
}

const isSameWriter = (a: Writer, b: Writer): boolean =>
  a.manager === b.manager &&
  a.operation === b.operation &&
  a.subresource === b.subresource &&
  a.apiVersion === b.apiVersion;

function entry(owner: Owner): JsonObject {
  return {
    manager: owner.manager,
    operation: owner.operation,
    apiVersion: owner.apiVersion,
    time: owner.time,
    fieldsType: "FieldsV1",
    fieldsV1: toFieldsV1(owner.fields),
    ...(owner.subresource === "" ? {} : { subresource: owner.subresource }),
  };
}

function record(object: JsonObject, owners: readonly Owner[]): void {
  const metadata = metadataOf(object);
  const entries = owners.filter((owner) => owner.fields.size > 0).map(entry);
  if (entries.length === 0) delete metadata["managedFields"];
  else metadata["managedFields"] = entries;
}

const sameFields = (a: FieldSet, b: FieldSet): boolean => a.size === b.size && [...a].every((path) => b.has(path));

/** Records a plain write: what it changed is the writer's now, what it removed is nobody's. */
export function recordUpdate(before: JsonObject | undefined, after: JsonObject, writer: Writer, shape: Shape): void {
  const { changed, removed } = difference(before ?? {}, after, shape);
  const taken = new Set([...changed].filter(isOwnable));
  const owners = before === undefined ? [] : ownersOf(before);
  const mine = owners.find((owner) => isSameWriter(owner, writer));
  for (const owner of owners) {
    owner.fields = new Set(
      [...owner.fields].filter((path) => !removed.has(path) && (owner === mine || !taken.has(path))),
    );
  }
  if (taken.size > 0) {
    if (mine === undefined) owners.push({ ...writer, fields: taken });
    else if ([...taken].some((path) => !mine.fields.has(path))) {
      for (const path of taken) mine.fields.add(path);
      Object.assign(mine, { time: writer.time });
    }
  }
  record(after, owners);
}

interface Application {
  readonly live: JsonObject;
  readonly applied: JsonObject;
  readonly writer: Writer;
  readonly shape: Shape;
  readonly force: boolean;
}

/** Server-side apply: the object that results, with its owners. Fails with Conflict over a field of somebody else. */
export function applyTo({ live, applied, writer, shape, force }: Application): JsonObject {
  const owners = ownersOf(live);
  const mine = owners.find((owner) => isSameWriter(owner, writer));
  const others = owners.filter((owner) => owner !== mine);
  const wanted = new Set([...leavesOf(applied, shape).keys()].filter(isOwnable));
  const kept = new Set([...wanted, ...others.flatMap((owner) => [...owner.fields])]);
  const givenUp = new Set([...(mine?.fields ?? [])].filter((path) => !kept.has(path)));

  const withApplied = merged(live, applied, shape);
  const pruned = givenUp.size === 0 ? withApplied : without(withApplied, shape, givenUp);
  const result = isJsonObject(pruned) ? copyObject(pruned) : {};

  const { changed, removed } = difference(live, result, shape);
  const contested = others
    .map((owner) => ({ owner, fields: [...owner.fields].filter((path) => changed.has(path)) }))
    .filter(({ fields }) => fields.length > 0);
  if (contested.length > 0 && !force) {
    throw fieldConflicts(
      contested.flatMap(({ owner, fields }) =>
        fields.map((path) => ({
          reason: "FieldManagerConflict",
          field: fieldText(path),
          message: `conflict with "${owner.manager}"`,
        })),
      ),
    );
  }
  for (const owner of others) {
    owner.fields = new Set([...owner.fields].filter((path) => !changed.has(path) && !removed.has(path)));
  }
  if (mine === undefined) owners.push({ ...writer, fields: wanted });
  else if (!sameFields(mine.fields, wanted)) Object.assign(mine, { fields: wanted, time: writer.time });
  record(result, owners);
  return result;
}

/** Whether two versions differ in anything but the times of their managers' entries. */
export function isSameButTimes(a: JsonObject, b: JsonObject): boolean {
  const timeless = (object: JsonObject): Json => {
    const metadata = object["metadata"];
    if (!isJsonObject(metadata)) return object;
    const entries = metadata["managedFields"];
    if (!Array.isArray(entries)) return object;
    const managedFields = entries.map((item) => (isJsonObject(item) ? { ...item, time: "" } : item));
    return { ...object, metadata: { ...metadata, managedFields } };
  };
  return equalJson(timeless(a), timeless(b));
}
