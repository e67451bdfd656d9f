// Takes out of objects what nobody should send around: values of Secrets and of variables, and copies of them in
// annotations. Names stay, so that a reader sees what is there.
import type { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
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
  if (name === "annotations" && isFields(value)) {
    const kept = Object.entries(value).filter(([key]) => !copies.has(key));
    return [[name, Object.fromEntries(kept.map(([key, text]) => [key, annotation(text)]))]];
  }
  if ((name === "env" || name === "etcdEnv") && Array.isArray(value)) return [[name, value.map(variable)]];
  return [[name, redacted(value)]];
}

/** Many hold objects as JSON, and so did ours: older releases kept the variables of a pod in one. */
function annotation(text: unknown): unknown {
  if (typeof text !== "string" || !/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.stringify(redacted(JSON.parse(text)));
  } catch {
    return text;
  }
}

const withoutValues = (fields: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(Object.keys(fields).map((key) => [key, removed]));

/** A reference says from where a value comes, and is kept. */
function variable(row: unknown): unknown {
  if (!isFields(row) || row["value"] === undefined || row["value"] === "") return row;
  return { ...row, value: removed };
}

/** Short ones are words, as `true`, that say nothing and stand everywhere. */
const shortestSecret = 6;

/**
 * Values of variables that a person gave to etcd, as texts: etcd writes those that it uses into its log, and repeats one that
 * it cannot use in the message that ends it.
 */
export function givenValues(cluster: EtcdCluster): string[] {
  const values = (cluster.spec.pod?.etcdEnv ?? []).flatMap(({ value }) => value ?? []);
  return values.filter((value) => value.length >= shortestSecret).toSorted((a, b) => b.length - a.length);
}

export const without = (text: string, values: readonly string[]): string =>
  values.reduce((rest, value) => rest.replaceAll(value, removed), text);
