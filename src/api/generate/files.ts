// The files in the tree that are made from the schema, with what must be in them.
import { stringify } from "yaml";
import { etcdClusterDefinition } from "../crd/crd.ts";
import { etcdClusterReference } from "./reference.ts";

export interface GeneratedFile {
  /** From the root of the tree. */
  readonly path: string;
  readonly text: string;
}

/**
 * What a person applies. The API server does not keep a field that is false, so two who apply it, the operator and the
 * person, would be told of a conflict over nothing; only definitions of 2018 need it, and the operator takes those over.
 */
function applied(): object {
  const { preserveUnknownFields: _, ...spec } = etcdClusterDefinition.spec;
  return { ...etcdClusterDefinition, spec };
}

export function generatedFiles(): GeneratedFile[] {
  return [
    { path: "docs/api.md", text: etcdClusterReference() },
    {
      path: "example/crd/etcdcluster.yaml",
      text: `# Made by \`node src/api/generate.ts\`. The operator applies the same when it starts, unless told -create-crd=false.\n${stringify(applied(), { lineWidth: 0 })}`,
    },
  ];
}
