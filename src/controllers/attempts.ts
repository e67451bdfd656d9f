// When a worker that has failed is replaced by another one, and after how many attempts it is given up.
import type { FailureCode } from "../worker/job.ts";

export const mostAttempts = 5;

/**
 * Whether another attempt may end otherwise. The rest is about the backup, its key or a setting, and stays as it is until
 * somebody changes it. `dataExists` is one of these: no worker removes files that it did not make, and the next attempt, on
 * the same volume, finds them again.
 */
const mayPass: Readonly<Record<FailureCode, boolean>> = {
  store: true,
  etcd: true,
  stalled: true,
  failed: true,
  notFound: false,
  damaged: false,
  tampered: false,
  wrongKey: false,
  keyMissing: false,
  newerVersion: false,
  dataExists: false,
  misconfigured: false,
};

/** A worker of another release may give a code that this one does not know: it is tried again. */
export const isDefinite = (code: FailureCode): boolean => mayPass[code] === false;
