// When a controller reconciles again although no watch has brought its object back: every delay of the three, in milliseconds.
import type { Backoff } from "../kube/clock.ts";

export const delays = {
  /** The world is known to have changed by what was just done. */
  atOnce: 0,
  /** What was done to etcd brings no event. */
  afterEtcd: 20,
  /** A process starts, or etcd changes its leader: both take a tenth of a second and have no event. */
  soon: 100,
  /** It was too early for an action, and what it waits for takes a moment. */
  tooEarly: 250,
  /** etcd refuses for 5 s after a change of voters. */
  untilAccepted: 500,
  /** etcd is between two versions, compacts, or reads other certificates. */
  untilSettled: 1_000,
  /**
   * The server has another idea of an object than the cache has. The watch brings the key back as soon as the cache has
   * caught up; until then the same is seen again, so nothing is gained by looking often.
   */
  cacheIsBehind: 1_000,
  /** Nobody reports when an optional cache is filled. */
  cacheIsEmpty: 1_000,
  /** The controller of restores does not watch the pods of the first restored members. */
  seeding: 1_000,
  /** Something that should be up is not. */
  later: 2_000,
  /** Nobody reports when the operator has learned its own image. */
  ownImage: 5_000,
  /** What a person has to correct may be corrected where no watch sees it: a quota, a permission, a login. */
  untilCorrected: 10_000,
  /** etcd has no events for a member that hangs, or one that is added by hand: even a cluster at rest is observed. */
  atRest: 30_000,
  /** Backups that cannot be deleted: the store may be back, or somebody may have deleted them there. */
  deletionHeldUp: 300_000,
} as const;

/** How long until the next attempt, the more failures the longer. */
export const backoffs = {
  backup: { firstMs: 10_000, maxMs: 300_000, jitter: 0.2 },
  restore: { firstMs: 5_000, maxMs: 60_000, jitter: 0 },
  /** A pod of which admission has taken something away. */
  takenAway: { firstMs: 10_000, maxMs: 300_000, jitter: 0 },
} as const satisfies Readonly<Record<string, Backoff>>;
