// What an etcd without data is told about its cluster, in annotations of its own pod: the container reads them as
// environment variables each time it starts. Before the first start they say how to join; after it they are changed so
// that an etcd without data exits. With data etcd reads none of this. So a member never comes back empty: it would
// have forgotten what it voted for and acknowledged.
import type { EnvVar } from "kubernetes-types/core/v1.js";
import { type CompleteEtcdCluster, EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { WorkerPolicy } from "../../api/backups/worker-policy.ts";
import type { RestoreJob } from "../../worker/job.ts";
import type { Mount } from "../../worker/mounts.ts";
import { type MemberName, peerUrlOf } from "./names.ts";
import type { Scheme } from "./tls.ts";

export const initialClusterAnnotation = `${EtcdCluster.group}/initial-cluster`;
export const initialStateAnnotation = `${EtcdCluster.group}/initial-cluster-state`;

/** As etcd knows it, with the name that it has or will have. */
export interface ListedMember {
  readonly name: string;
  readonly peerUrls: readonly string[];
}

/** The job of the init container of a first member of a restored cluster, and what it mounts. */
export interface SeedRestore {
  readonly image: string;
  readonly job: RestoreJob;
  readonly mounts: readonly Mount[];
  /** Whom the store knows the worker as, what its image is pulled with, and what it may use. */
  readonly policy: Pick<WorkerPolicy, "serviceAccountName" | "imagePullSecrets" | "resources" | "scratchSize">;
}

/** How a member comes to its first data. */
export type FirstStart =
  /** The first of all, alone. */
  | { readonly as: "seed" }
  /** With data that its init container makes from a backup, alone or with others that are made from it. */
  | { readonly as: "restored"; readonly restore: SeedRestore }
  /**
   * With the list exactly as etcd has it, the member itself included: it exits when they differ. `worker` is the image
   * that can wait for DNS; undefined: nobody waits.
   */
  | { readonly as: "joining"; readonly members: readonly ListedMember[]; readonly worker?: string | undefined }
  /** It has data in its volume, and must not start without. */
  | { readonly as: "returning" };

export function startAnnotations(
  cluster: CompleteEtcdCluster,
  member: MemberName,
  start: FirstStart,
  scheme: Scheme = "http",
): Record<string, string> {
  if (start.as === "returning") return guardAnnotations(cluster, member, scheme);
  const list = listOf(start) ?? [alone(cluster, member, scheme)];
  return annotations(list.join(","), start.as === "joining" ? "existing" : "new");
}

/** Undefined: it is the only one. */
function listOf(start: FirstStart): readonly string[] | undefined {
  if (start.as === "joining")
    return start.members.flatMap(({ name, peerUrls }) => peerUrls.map((url) => `${name}=${url}`));
  if (start.as !== "restored") return undefined;
  return start.restore.job.initialCluster?.map(({ name, peerUrl }) => `${name}=${peerUrl}`);
}

/** A cluster that exists, and nobody but itself to ask about it: without data etcd cannot start. */
export function guardAnnotations(
  cluster: CompleteEtcdCluster,
  member: MemberName,
  scheme: Scheme = "http",
): Record<string, string> {
  return annotations(alone(cluster, member, scheme), "existing");
}

/** Whether it is what `guardAnnotations` says. Who joins is given a list of two at least; who begins, another state. */
export function isClosed(
  member: MemberName,
  { list, state }: { readonly list: string; readonly state: string },
): boolean {
  return state === "existing" && list.startsWith(`${member}=`) && !list.includes(",");
}

export const initialClusterVariable = "ETCD_INITIAL_CLUSTER";
export const initialStateVariable = "ETCD_INITIAL_CLUSTER_STATE";

/**
 * A kubelet reads annotations again at each start of a container, unlike arguments. Who joins, and who has the data of a
 * backup, never begins a cluster, so its state is fixed: should somebody take the annotations away, an etcd without data
 * still cannot start.
 */
export function startVariables({ as }: FirstStart): EnvVar[] {
  const state = initialStateVariable;
  return [
    fromAnnotation(initialClusterVariable, initialClusterAnnotation),
    as === "seed" ? fromAnnotation(state, initialStateAnnotation) : { name: state, value: "existing" },
  ];
}

const alone = (cluster: CompleteEtcdCluster, member: MemberName, scheme: Scheme): string =>
  `${member}=${peerUrlOf(cluster, member, scheme)}`;

const annotations = (list: string, state: "new" | "existing"): Record<string, string> => ({
  [initialClusterAnnotation]: list,
  [initialStateAnnotation]: state,
});

/**
 * Whether a worker may make data where there is none: only before the first start. Afterwards data that is missing was
 * lost, and a member that came back with that of the backup would have forgotten what it acknowledged since.
 */
export const mayRestoreVariable: EnvVar = fromAnnotation("ETCD_WORKER_MAY_RESTORE", initialStateAnnotation);

function fromAnnotation(name: string, annotation: string): EnvVar {
  return { name, valueFrom: { fieldRef: { fieldPath: `metadata.annotations['${annotation}']` } } };
}
