// Rendered manifests that can be compared: by kind and name, without what only Helm adds.
import { parseAllDocuments } from "yaml";
import type { Manifest } from "../../install/manifest.ts";

export function manifestsIn(yaml: string): Manifest[] {
  return parseAllDocuments(yaml)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);
}

const ofHelm = new Set(["helm.sh/chart", "app.kubernetes.io/managed-by", "helm.sh/resource-policy"]);

/** The same object as others would write it: labels of Helm are gone, and with them those of a CRD. */
function plain(manifest: Manifest): Manifest {
  const copy = withoutHelm(structuredClone(manifest)) as Manifest;
  if (copy.kind !== "CustomResourceDefinition") return copy;
  return { ...copy, metadata: { name: copy.metadata.name } };
}

function withoutHelm(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutHelm);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).filter(([name]) => !ofHelm.has(name));
  return Object.fromEntries(fields.map(([name, inside]) => [name, withoutHelm(inside)]));
}

/** By kind, namespace and name, so that their order does not count. */
export function comparable(manifests: readonly Manifest[]): Record<string, Manifest> {
  const named = manifests.map((manifest) => [titleOf(manifest), plain(manifest)] as const);
  return Object.fromEntries(named.sort(([a], [b]) => (a < b ? -1 : 1)));
}

export const titleOf = ({ kind, metadata: { name, namespace = "" } }: Manifest): string =>
  `${kind} ${namespace}/${name}`;
