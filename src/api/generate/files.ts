// The files in the tree that are made from src/api and src/etcd, in whole or in part.
import { stringify } from "yaml";
import { type Crd, crdOf } from "../crd/crd.ts";
import { kinds } from "../kinds.ts";
import { eventsPage } from "./events-table.ts";
import { withPathsTable } from "./paths-table.ts";
import { apiReference } from "./reference.ts";

export interface GeneratedFile {
  /** From the root of the tree. */
  readonly path: string;
  /** What the file must contain, given what it contains now: of some files only a part is generated. */
  render(current: string): string;
}

/**
 * The CRD as a person applies it. The API server does not store a field that is false, so a person and the
 * operator who both apply it would conflict over nothing. Only CRDs of etcd-operator 0.9 need the field, and the
 * operator takes those over.
 */
export function crdToApply(crd: Crd) {
  const { preserveUnknownFields: _, ...spec } = crd.spec;
  return { apiVersion: crd.apiVersion, kind: crd.kind, metadata: crd.metadata, spec };
}

function manifestOf(crd: Crd): string {
  return `# Made by \`node src/api/generate.ts\`. The operator applies the same when it starts, unless it runs with -create-crd=false.
${stringify(crdToApply(crd), { lineWidth: 0 })}`;
}

export function generatedFiles(): GeneratedFile[] {
  return [
    { path: "docs/api.md", render: () => apiReference(kinds) },
    { path: "docs/reference/events.md", render: eventsPage },
    { path: "docs/upgrades.md", render: withPathsTable },
    ...kinds.map((description) => ({
      path: `example/crd/${description.names.singular}.yaml`,
      render: () => manifestOf(crdOf(description)),
    })),
  ];
}
