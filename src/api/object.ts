// What the three kinds have in common: group and version, and how an object gets the defaults of its schemas.
import { type Kind, type KubeObject, keyOf, type ObjectMeta } from "../kube/objects/objects.ts";
import { complete } from "./schema/complete.ts";
import type { Schema } from "./schema/schema.ts";

export const ourKind = <T extends KubeObject>(kind: string): Kind<T> => ({
  group: "etcd.database.coreos.com",
  version: "v1beta2",
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced: true,
});

/** With every default filled in: what the rest of the operator works with. */
export type Completed<T extends KubeObject, Spec, Status> = Omit<T, "metadata" | "spec" | "status"> & {
  metadata: ObjectMeta & { name: string; namespace: string };
  spec: Spec;
  status: Status;
};

/** Pure, and never stored: the stored object keeps showing what the person wrote and what is a default. */
export function completed<T extends KubeObject, S, Spec extends object, R, Status extends object>(
  object: T & { spec?: unknown; status?: unknown },
  specSchema: Schema<S, Spec>,
  statusSchema: Schema<R, Status>,
): Completed<T, Spec, Status> {
  const { name, namespace } = keyOf(object);
  const metadata = { ...object.metadata, name, namespace };
  return {
    ...object,
    metadata,
    spec: complete(specSchema, object.spec),
    status: complete(statusSchema, object.status),
  };
}
