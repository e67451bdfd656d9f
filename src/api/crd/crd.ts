// The CustomResourceDefinitions of our kinds, made from their descriptions.
import type { CustomResourceDefinition } from "../../kube/objects/kinds.ts";
import type { KindDescription, PrinterColumn, ScalePaths } from "../kind-description.ts";
import { kinds } from "../kinds.ts";
import { type OpenApiSchema, openApiOf } from "../schema/openapi.ts";

interface DefinedVersion {
  name: string;
  served: boolean;
  storage: boolean;
  schema: { openAPIV3Schema: OpenApiSchema };
  subresources: { status: Record<string, never>; scale?: ScalePaths };
  additionalPrinterColumns: PrinterColumn[];
}

/** As the operator writes it. */
export interface Crd extends CustomResourceDefinition {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  spec: CustomResourceDefinition["spec"] & { preserveUnknownFields: false; versions: DefinedVersion[] };
}

export function crdOf(description: KindDescription): Crd {
  const { kind, names, columns, scale } = description;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${kind.plural}.${kind.group}` },
    spec: {
      group: kind.group,
      scope: kind.namespaced ? "Namespaced" : "Cluster",
      names: {
        kind: kind.kind,
        plural: kind.plural,
        singular: names.singular,
        // An empty list is dropped by the API server, and who applies it later is in conflict with whoever did before.
        ...(names.shortNames.length > 0 && { shortNames: [...names.shortNames] }),
        categories: [...names.categories],
      },
      // The CRD of etcd-operator 0.9 says true, and the API server would go on storing unknown fields.
      preserveUnknownFields: false,
      versions: [
        {
          name: kind.version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schemaOf(description) },
          subresources: { status: {}, ...(scale !== undefined && { scale }) },
          additionalPrinterColumns: [...columns],
        },
      ],
    },
  };
}

function schemaOf({ kind, description, spec, status, nameRules }: KindDescription): OpenApiSchema {
  // Names do not change. An object of etcd-operator 0.9 whose name is refused today can still be written to, or its
  // finalizer could never be removed.
  const validations = nameRules.map(({ cel, says }) => ({
    rule: `oldSelf.hasValue() || (${cel})`,
    message: says,
    optionalOldSelf: true,
  }));
  return {
    description,
    type: "object",
    required: ["spec"],
    properties: {
      apiVersion: { type: "string", description: `API version: ${kind.group}/${kind.version}.` },
      kind: { type: "string", description: `Object kind: ${kind.kind}.` },
      metadata: { type: "object" },
      spec: openApiOf(spec),
      status: openApiOf(status),
    },
    ...(validations.length > 0 && { "x-kubernetes-validations": validations }),
  };
}

export const crds: readonly Crd[] = kinds.map(crdOf);
