// A state that an object of ours can be in, as our own code writes it, and what programs that wait have to make of it.
import type { Kstatus } from "../../../src/kube/testing/kstatus.ts";
import type { KubeObject } from "../../../src/kube/objects/objects.ts";
import type { Kind } from "./judges.ts";

/** What Flux says by expressions, which know no Terminating. */
type Flux = Exclude<Kstatus, "Terminating">;
type Argo = "Progressing" | "Healthy" | "Degraded" | "Suspended";
export type Expected = readonly [kstatus: Kstatus, flux: Flux, argo: Argo];

export interface Judged extends KubeObject {
  readonly spec: object;
  readonly status?: object;
}

export interface State {
  /** Completes "an EtcdCluster …". */
  readonly what: string;
  readonly object: Judged;
  readonly expected: Expected;
}

export const apiVersion = "etcd.database.coreos.com/v1beta2";

/** As an API server gives it: without fields that are undefined. */
export const objectOf = (kind: Kind, { metadata, spec, status }: Judged): Judged =>
  JSON.parse(JSON.stringify({ apiVersion, kind, metadata, spec, status })) as Judged;

export const deletionTimestamp = "2026-01-31T12:00:00Z";
