// Corrects an invalid EtcdCluster as its messages say.
import type { BadCluster } from "../../../src/api/etcd-cluster/testing/bad-clusters.ts";
import { currentEtcd } from "../support/cluster.ts";

type Json = Record<string, unknown>;

/** Replacement values; all other fields named in a message are removed. */
const instead: Readonly<Json> = { "spec.size": 1, "spec.version": currentEtcd };

/** Also removed, where removing the first field that a message names is not enough. */
const alsoLeftOut: readonly string[] = [
  "spec.pod.persistentVolumeClaimSpec",
  "spec.etcd.autoCompactionMode",
  "spec.etcd.autoCompactionRetention",
  "spec.TLS",
];

/** With one member, because it may be created. */
export function correctedSpec({ spec, problems }: BadCluster): Json {
  const named = problems.flatMap((sentence) => /\bspec(?:\.\w+)+/.exec(sentence)?.[0] ?? []);
  const alsoNamed = alsoLeftOut.filter((field) =>
    problems.some((sentence) => sentence.includes(field.split(".").at(-1) ?? "")),
  );
  const given = isObject(spec) ? structuredClone(spec) : {};
  const right = { spec: { version: currentEtcd, ...given, size: 1 } };
  for (const field of [...named, ...alsoNamed]) put(right, field.split("."), instead[field]);
  return right.spec;
}

function put(object: Json, [name = "", ...rest]: readonly string[], value: unknown): void {
  const inside = object[name];
  if (rest.length > 0 && isObject(inside)) put(inside, rest, value);
  else if (rest.length === 0 && value === undefined) delete object[name];
  else if (rest.length === 0) object[name] = value;
}

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);
