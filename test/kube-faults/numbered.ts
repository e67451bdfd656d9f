// The small objects that the writer numbers and the informers watch: three kinds, two of them built in and one custom,
// each with a sequence number somewhere in its data.
import { ConfigMap, type CustomResourceDefinition, Secret } from "../../src/kube/objects/kinds.ts";
import type { Kind, KubeObject, ObjectMeta } from "../../src/kube/objects/objects.ts";

export interface Numbered extends KubeObject {
  data?: Record<string, string>;
  spec?: { sequence: number };
}

export interface NumberedKind {
  readonly kind: Kind<Numbered>;
  content(sequence: number): Pick<Numbered, "data" | "spec">;
  sequenceOf(object: Numbered): number;
}

/** Only objects with this label are watched: others in the namespace are none of the test's business. */
const numberedLabel = { numbered: "yes" };
export const numberedSelector = "numbered=yes";

const tally: Kind<Numbered> = {
  group: "kube-faults.example.com",
  version: "v1",
  kind: "Tally",
  plural: "tallies",
  namespaced: true,
};

export const tallyCrd: CustomResourceDefinition = {
  metadata: { name: `${tally.plural}.${tally.group}` },
  spec: {
    group: tally.group,
    scope: "Namespaced",
    names: { kind: tally.kind, plural: tally.plural, singular: "tally" },
    versions: [
      {
        name: tally.version,
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: { spec: { type: "object", properties: { sequence: { type: "integer" } } } },
          },
        },
      },
    ],
  },
};

const base64 = (text: string): string => Buffer.from(text).toString("base64");

export const numberedKinds: readonly NumberedKind[] = [
  {
    kind: ConfigMap,
    content: (sequence) => ({ data: { sequence: String(sequence) } }),
    sequenceOf: (object) => Number(object.data?.["sequence"]),
  },
  {
    kind: Secret,
    content: (sequence) => ({ data: { sequence: base64(String(sequence)) } }),
    sequenceOf: (object) => Number(Buffer.from(object.data?.["sequence"] ?? "", "base64").toString()),
  },
  {
    kind: tally,
    content: (sequence) => ({ spec: { sequence } }),
    sequenceOf: (object) => object.spec?.sequence ?? Number.NaN,
  },
];

export function numbered(kind: NumberedKind, metadata: ObjectMeta, sequence: number): Numbered {
  return { metadata: { ...metadata, labels: numberedLabel }, ...kind.content(sequence) };
}
