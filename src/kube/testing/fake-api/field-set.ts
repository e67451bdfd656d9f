// Sets of field paths, the currency of server-side apply: which fields an object has, which differ, and the form in
// which `metadata.managedFields` writes them down (FieldsV1).
import { copyJson, equalJson, isJsonObject, type Json, type JsonObject } from "./json.ts";
import { plain, type Shape, whole } from "./shapes.ts";

/** Path elements as FieldsV1 writes them (`f:spec`, `k:{"name":"a"}`, `v:"a"`), each followed by a newline. */
export type FieldPath = string;
export type FieldSet = ReadonlySet<FieldPath>;

/** The shape of what lies in a field; objects that nobody described merge field by field, lists are one value. */
function shapeOf(shape: Shape, field: string, value: Json | undefined): Shape {
  const described = shape.t === "fields" ? shape.fields[field] : undefined;
  return described ?? (isJsonObject(value) ? plain : whole);
}

const fieldStep = (path: FieldPath, field: string): FieldPath => `${path}f:${field}\n`;

/** The path of an item of a keyed list or a set. */
function itemStep(path: FieldPath, shape: Shape, item: Json): FieldPath {
  if (shape.t !== "keyed" || !isJsonObject(item)) return `${path}v:${JSON.stringify(item)}\n`;
  const key: JsonObject = {};
  for (const name of [...shape.keys].sort()) {
    const value = item[name] ?? shape.absent[name];
    if (value !== undefined) key[name] = value;
  }
  return `${path}k:${JSON.stringify(key)}\n`;
}

/** Marks an item of a keyed list: that it is there is a fact of its own beside its fields. */
const present: Json = true;

/** Every field that can be owned, with its value. */
export function leavesOf(
  value: Json,
  shape: Shape,
  path: FieldPath = "",
  into = new Map<FieldPath, Json>(),
): Map<FieldPath, Json> {
  if (shape.t === "fields" && isJsonObject(value)) {
    const entries = Object.entries(value);
    if (entries.length === 0 && path !== "") into.set(path, value);
    for (const [field, inner] of entries) {
      leavesOf(inner, shapeOf(shape, field, inner), fieldStep(path, field), into);
    }
  } else if ((shape.t === "keyed" || shape.t === "set") && Array.isArray(value)) {
    if (value.length === 0) into.set(path, value);
    for (const item of value) {
      const at = itemStep(path, shape, item);
      into.set(at, present);
      if (shape.t === "keyed" && shape.item.t === "fields") leavesOf(item, shape.item, at, into);
      else if (shape.t === "keyed") into.set(at, item);
    }
  } else into.set(path, value);
  return into;
}

interface Difference {
  /** Fields that are new or have another value. */
  readonly changed: FieldSet;
  readonly removed: FieldSet;
}

export function difference(before: Json, after: Json, shape: Shape): Difference {
  const old = leavesOf(before, shape);
  const now = leavesOf(after, shape);
  const changed = new Set<FieldPath>();
  const removed = new Set<FieldPath>();
  for (const [path, value] of now) if (!old.has(path) || !equalJson(old.get(path), value)) changed.add(path);
  for (const path of old.keys()) if (!now.has(path)) removed.add(path);
  return { changed, removed };
}

/** FieldsV1: a tree of path elements; `.` marks an element that is a member itself and has members below. */
export function toFieldsV1(set: FieldSet): JsonObject {
  const root: JsonObject = {};
  for (const path of [...set].sort()) {
    let at = root;
    for (const step of path.split("\n")) {
      if (step === "") continue;
      const inner = at[step];
      const next = isJsonObject(inner) ? inner : {};
      at[step] = next;
      at = next;
    }
    at["."] = {};
  }
  return withoutLoneDots(root);
}

function withoutLoneDots(node: JsonObject): JsonObject {
  const names = Object.keys(node);
  if (names.length === 1 && names[0] === ".") return {};
  const kept: JsonObject = {};
  for (const [name, inner] of Object.entries(node)) kept[name] = isJsonObject(inner) ? withoutLoneDots(inner) : inner;
  return kept;
}

export function fromFieldsV1(tree: Json | undefined): Set<FieldPath> {
  const set = new Set<FieldPath>();
  const visit = (node: JsonObject, path: FieldPath): void => {
    const names = Object.keys(node);
    if (path !== "" && (names.length === 0 || names.includes("."))) set.add(path);
    for (const [name, inner] of Object.entries(node)) {
      if (name !== "." && isJsonObject(inner)) visit(inner, `${path}${name}\n`);
    }
  };
  if (isJsonObject(tree)) visit(tree, "");
  return set;
}

/** `.spec.containers[name="etcd"].image`: how conflicts name a field. */
export function fieldText(path: FieldPath): string {
  return path
    .split("\n")
    .filter((step) => step !== "")
    .map((step) => {
      const text = step.slice(2);
      if (step.startsWith("f:")) return `.${text}`;
      if (step.startsWith("v:")) return `[=${text}]`;
      const key: unknown = JSON.parse(text);
      return `[${Object.entries(isJsonObject(key) ? key : {})
        .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
        .join(",")}]`;
    })
    .join("");
}

/** The live object with the applied fields laid over it. */
export function merged(live: Json | undefined, applied: Json, shape: Shape): Json {
  if (shape.t === "fields" && isJsonObject(applied)) {
    const result: JsonObject = isJsonObject(live) ? { ...live } : {};
    for (const [field, value] of Object.entries(applied)) {
      result[field] = merged(result[field], value, shapeOf(shape, field, value));
    }
    return result;
  }
  if ((shape.t === "keyed" || shape.t === "set") && Array.isArray(applied)) {
    const result = Array.isArray(live) ? [...live] : [];
    for (const item of applied) {
      const at = itemStep("", shape, item);
      const index = result.findIndex((other) => itemStep("", shape, other) === at);
      const value = shape.t === "keyed" ? merged(result[index], item, shape.item) : item;
      if (index < 0) result.push(value);
      else result[index] = value;
    }
    return result;
  }
  return copyJson(applied);
}

/**
 * The object without the given fields; objects and lists that this empties go too. An item of a keyed list goes whole,
 * even if somebody else owns a field in it. Undefined: nothing is left.
 */
export function without(value: Json, shape: Shape, gone: FieldSet, path: FieldPath = ""): Json | undefined {
  if (shape.t === "fields" && isJsonObject(value)) {
    const result: JsonObject = {};
    let lost = false;
    for (const [field, inner] of Object.entries(value)) {
      const left = without(inner, shapeOf(shape, field, inner), gone, fieldStep(path, field));
      if (left === undefined) lost = true;
      else result[field] = left;
    }
    const empty = Object.keys(result).length === 0;
    return empty && path !== "" && (lost || gone.has(path)) ? undefined : result;
  }
  if ((shape.t === "keyed" || shape.t === "set") && Array.isArray(value)) {
    const result: Json[] = [];
    for (const item of value) {
      const at = itemStep(path, shape, item);
      if (gone.has(at)) continue;
      const left = shape.t === "keyed" ? without(item, shape.item, gone, at) : item;
      if (left !== undefined) result.push(shape.t === "keyed" ? withKeys(left, item, shape.keys) : left);
    }
    return result.length === 0 && (value.length > 0 || gone.has(path)) ? undefined : result;
  }
  return gone.has(path) ? undefined : value;
}

function withKeys(item: Json, original: Json, keys: readonly string[]): Json {
  if (!isJsonObject(item) || !isJsonObject(original)) return item;
  const result = { ...item };
  for (const key of keys) {
    const value = original[key];
    if (value !== undefined) result[key] = value;
  }
  return result;
}
