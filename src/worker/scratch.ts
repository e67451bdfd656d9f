// How much a worker may keep in its scratch volume. What a store answers is not trusted with the disk of a node: the worker
// stops at the limit and says so, and a kubelet evicts its pod where something else grows there.
import { amountOf } from "../api/etcd-cluster/resource-problems.ts";
import type { Job } from "./job.ts";

const MiB = 2 ** 20;
const GiB = 2 ** 30;

/** For jobs that pass everything on in streams. */
const noFile = 64 * MiB;
/** Where nobody knows the size of the backup: four times the largest database that etcd recommends. */
const unknownSize = 32 * GiB;
/** etcd's log, which is made in pieces of 64 MiB, and what a database grows by when it is opened. */
const slack = GiB;

export function scratchOf(job: Job, { scratchSize = "" }: { readonly scratchSize?: string | undefined }): number {
  if (job.do !== "check" && job.do !== "restore") return noFile;
  const asked = amountOf(scratchSize);
  if (asked !== undefined) return asked;
  const { expectedBytes = 0 } = job;
  if (job.do === "restore" && expectedBytes > 0) return 2 * expectedBytes + slack;
  return Math.max(unknownSize, 2 * expectedBytes + slack);
}

/** For the throwaway member that verifies a backup: a snapshot as large as the scratch volume takes, and etcd's log. */
export const memberScratchOf = (bytes: number): number => bytes + slack;

export const limited = (bytes: number): { readonly sizeLimit: string } => ({
  sizeLimit: `${Math.ceil(bytes / MiB)}Mi`,
});

const overflown = /EmptyDir volume "(?:scratch|data)" exceeds/;

/** What to do when Kubernetes has evicted a worker for its volumes. It has one reason for all evictions, and these words. */
export const adviceOnEviction = (reason: string | undefined, message: string): string | undefined =>
  reason === "Evicted" && overflown.test(message) ? "Raise spec.worker.scratchSize." : undefined;
