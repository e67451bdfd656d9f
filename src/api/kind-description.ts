// All that is known of a kind of ours, as one value. The CustomResourceDefinition, the reference, the example manifest
// and the in-memory API server of tests are made from it.
import type { Kind, KubeObject } from "../kube/objects/objects.ts";
import type { Rule, Schema } from "./schema/schema.ts";

export interface PrinterColumn {
  name: string;
  type: "string" | "integer" | "date";
  jsonPath: string;
  description: string;
  /** 1: only with `--output=wide`. */
  priority?: 1;
}

/** Where `kubectl scale` finds the size, as JSON paths. */
export interface ScalePaths {
  specReplicasPath: string;
  statusReplicasPath: string;
  labelSelectorPath: string;
}

/** Refuses a `metadata.name`; `holds` takes the name. The API server enforces these too, so `cel` is required. */
export type NameRule = Rule<string> & { readonly cel: string };

export interface KindDescription<T extends KubeObject = KubeObject> {
  readonly kind: Kind<T>;
  /** What `kubectl explain` says first. */
  readonly description: string;
  readonly names: {
    readonly singular: string;
    readonly shortNames: readonly string[];
    readonly categories: readonly string[];
  };
  readonly spec: Schema;
  readonly status: Schema;
  readonly nameRules: readonly NameRule[];
  readonly columns: readonly PrinterColumn[];
  readonly scale?: ScalePaths;
  /** Markdown, at the top of the kind's part of the reference. */
  readonly introduction: string;
}
