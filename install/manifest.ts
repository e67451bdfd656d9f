// A Kubernetes object as a person applies it, and how several of them are written into a file.
import { stringify } from "yaml";

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

export const yamlOf = (value: unknown): string => stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });

/** The comment is one line or more, without marks. */
export function fileOf(comment: string, manifests: readonly object[]): string {
  const head = comment.trim().replaceAll(/^/gm, "# ");
  return `${head}\n${manifests.map(yamlOf).join("---\n")}`;
}
