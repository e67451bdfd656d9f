// What a pod was made from, as a short text that is kept with it. A pod that cannot start is made again as soon as this
// differs from what the spec says now, and not before: the same settings would fail the same way.
import { createHash } from "node:crypto";
import { type CompleteSpec, imageOf } from "../../api/etcd-cluster/etcd-cluster.ts";

/** The same for specs that make the same pod: size, pause and failover are no part of it. */
export function settingsOf(spec: CompleteSpec): string {
  const settings = [imageOf(spec), spec.version, spec.pod, spec.etcd];
  return createHash("sha256").update(JSON.stringify(settings)).digest("hex").slice(0, 16);
}
