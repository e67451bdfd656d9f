// Takes out of objects what nobody should send around: values of Secrets and of variables, and copies of them in
// annotations. Names stay, so that a reader sees what is there.
import { isFields } from "../../kube/client/status.ts";

const removed = "(removed)";
/** kubectl keeps the whole object in it, values and all. */
const copies = new Set(["kubectl.kubernetes.io/last-applied-configuration"]);
/** Fields that hold values and nothing else, in any object of ours or of Kubernetes. */
const secretive = new Set(["data", "stringData", "binaryData"]);

export function redacted(object: unknown): unknown {
  if (Array.isArray(object)) return object.map(redacted);
  if (!isFields(object)) return object;
  return Object.fromEntries(Object.entries(object).flatMap(([name, value]) => entryOf(name, value)));
}

function entryOf(name: string, value: unknown): (readonly [string, unknown])[] {
  if (name === "managedFields") return [];
  if (secretive.has(name) && isFields(value)) return [[name, withoutValues(value)]];
  if (name === "annotations" && isFields(value))
    return [[name, Object.fromEntries(Object.entries(value).filter(([key]) => !copies.has(key)))]];
  if ((name === "env" || name === "etcdEnv") && Array.isArray(value)) return [[name, value.map(variable)]];
  return [[name, redacted(value)]];
}

const withoutValues = (fields: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(Object.keys(fields).map((key) => [key, removed]));

/** A reference says from where a value comes, and is kept. */
function variable(row: unknown): unknown {
  if (!isFields(row) || row["value"] === undefined || row["value"] === "") return row;
  return { ...row, value: removed };
}
