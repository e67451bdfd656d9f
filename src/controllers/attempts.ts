// When a worker that has failed is replaced by another one, and after how many attempts it is given up.
import type { FailureCode } from "../worker/job.ts";

export const mostAttempts = 5;

/**
 * Whether another attempt may end otherwise. The rest is about the backup, its key or a setting, and stays as it is until
 * somebody changes it. `dataExists` is one of these: no worker removes files that it did not make, and the next attempt, on
 * the same volume, finds them again.
 */
const failures: Readonly<Record<FailureCode, "transient" | "definite">> = {
  store: "transient",
  etcd: "transient",
  stalled: "transient",
  failed: "transient",
  notFound: "definite",
  damaged: "definite",
  tampered: "definite",
  wrongKey: "definite",
  keyMissing: "definite",
  newerVersion: "definite",
  dataExists: "definite",
  misconfigured: "definite",
};

/** A worker of another release may give a code that this one does not know: it is tried again. */
export const isDefinite = (code: FailureCode): boolean => failures[code] === "definite";
