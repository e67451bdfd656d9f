// The spec of an EtcdRestore as a digest, by which one is known again that comes back without its status.
import { createHash } from "node:crypto";
import type { CompleteEtcdRestore } from "../../api/etcd-restore/etcd-restore.ts";
import { specSchema } from "../../api/etcd-restore/spec.ts";
import { sparse } from "../../api/schema/sparse.ts";

/** The same with and without defaults, and in a release that adds some. It is stored in the status of clusters. */
export const specDigest = (spec: CompleteEtcdRestore["spec"]): string =>
  createHash("sha256")
    .update(JSON.stringify(sparse(specSchema, spec)))
    .digest("hex");
