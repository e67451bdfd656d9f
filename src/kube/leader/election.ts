// Leader election as a pure state machine: what is known of a lease, and what to do next. It knows no server and no
// clock; `lease.ts` carries the steps out and feeds back the results.
//
// Why there is never a second leader, with the usual 15 s lease, 10 s renew deadline and 2 s retry period:
// - A leader believes in itself for 10 s by its own clock, counted from when it *sent* the last renewal that succeeded.
// - A rival takes over when by its own clock it has seen the record unchanged for more than 15 s. It cannot have seen
//   that record before the renewal was sent, so 15 s of its time start after 10 s of the leader's did.
// - So clocks may differ by any amount, and their speeds by a factor of 1.5. Times written in the record are for
//   people: they are never compared with a clock.
// This does not cover a lease that is deleted while it is held: a candidate that finds none creates one.

export interface ElectionTiming {
  /** How long a rival waits, in milliseconds of its own clock, after the last change that it saw. */
  readonly leaseDuration: number;
  /** How long a leader believes in itself after it sent the last renewal that succeeded. */
  readonly renewDeadline: number;
  /** Between two attempts at most. A standby shortens it by chance, down to half. */
  readonly retryPeriod: number;
}

export const usualTiming: ElectionTiming = { leaseDuration: 15_000, renewDeadline: 10_000, retryPeriod: 2_000 };

/** The part of a Lease that elections are about. */
export interface LeaseRecord {
  /** Empty when the last holder gave it up. */
  readonly holder: string;
  readonly durationSeconds: number;
  readonly acquireTime: string;
  readonly renewTime: string;
  readonly transitions: number;
}

/** A record as the server holds it. */
export interface StoredLease {
  readonly record: LeaseRecord;
  readonly resourceVersion: string;
}

type Known =
  | { readonly t: "nothing" }
  | { readonly t: "absent" }
  /** `since`: when, by our clock, this record was first seen. */
  | { readonly t: "stored"; readonly lease: StoredLease; readonly since: number };

type Role =
  | { readonly t: "standby" }
  /** `renewedAt`: when the last renewal that succeeded was sent. */
  | { readonly t: "leading"; readonly renewedAt: number }
  | { readonly t: "deposed"; readonly by: string };

type Phase = { readonly t: "read" } | { readonly t: "write" } | { readonly t: "rest"; readonly until: number };

export interface Election {
  readonly identity: string;
  readonly timing: ElectionTiming;
  readonly known: Known;
  readonly role: Role;
  readonly phase: Phase;
}

export type ElectionStep =
  | { readonly do: "read" }
  | { readonly do: "create" }
  | { readonly do: "takeOver"; readonly from: StoredLease }
  | { readonly do: "renew"; readonly from: StoredLease }
  | { readonly do: "rest"; readonly until: number }
  /** Leadership is over: everything that was done in its name stops now. */
  | { readonly do: "stepDown"; readonly because: Loss };

export type Loss = { readonly t: "deadline" } | { readonly t: "deposed"; readonly by: string };

export function campaign(identity: string, timing: ElectionTiming): Election {
  checkTiming(identity, timing);
  return { identity, timing, known: { t: "nothing" }, role: { t: "standby" }, phase: { t: "read" } };
}

function checkTiming(identity: string, timing: ElectionTiming): void {
  if (identity === "") throw new RangeError("a candidate needs an identity");
  if (!(timing.retryPeriod > 0 && timing.renewDeadline > timing.retryPeriod * 1.2)) {
    throw new RangeError("the renew deadline must be longer than 1.2 retry periods");
  }
  if (!(timing.leaseDuration > timing.renewDeadline)) {
    throw new RangeError("the lease duration must be longer than the renew deadline");
  }
}

/** The one question that every write is asked: by our own clock, can no rival have taken over yet? */
export function isLeading(election: Election, now: number): boolean {
  return election.role.t === "leading" && now < leadsUntil(election.role, election.timing);
}

export function leadsUntil(role: { readonly renewedAt: number }, timing: ElectionTiming): number {
  return role.renewedAt + timing.renewDeadline;
}

export function nextStep(election: Election, now: number): ElectionStep {
  const { role, phase, known, timing } = election;
  if (role.t === "deposed") return { do: "stepDown", because: role };
  if (role.t === "leading" && !isLeading(election, now)) return { do: "stepDown", because: { t: "deadline" } };
  if (phase.t === "rest" && now < phase.until) {
    return {
      do: "rest",
      until: role.t === "leading" ? Math.min(phase.until, leadsUntil(role, timing)) : phase.until,
    };
  }
  // A leader renews over the record it wrote itself; a standby does not know what happened while it rested.
  if (phase.t === "read" || known.t === "nothing" || (phase.t === "rest" && role.t === "standby"))
    return { do: "read" };
  if (known.t === "absent") return { do: "create" };
  return known.lease.record.holder === election.identity
    ? { do: "renew", from: known.lease }
    : { do: "takeOver", from: known.lease };
}

/** What a read found; `undefined` when there is no lease. */
export function sawLease(election: Election, lease: StoredLease | undefined, now: number, chance: number): Election {
  if (lease === undefined) return { ...election, known: { t: "absent" }, phase: { t: "write" } };
  const unchanged = election.known.t === "stored" && sameRecord(election.known.lease.record, lease.record);
  const since = unchanged && election.known.t === "stored" ? election.known.since : now;
  const seen: Election = { ...election, known: { t: "stored", lease, since } };
  const { holder, durationSeconds } = lease.record;
  if (holder === election.identity) return { ...seen, phase: { t: "write" } };
  if (election.role.t === "leading") return { ...seen, role: { t: "deposed", by: holder } };
  // A record that names no duration gets ours.
  const held = durationSeconds > 0 ? durationSeconds * 1000 : election.timing.leaseDuration;
  const free = holder === "" || now - since > held;
  return { ...seen, phase: free ? { t: "write" } : resting(election, now, chance, since + held + 1) };
}

/** A write succeeded; `sentAt` is our clock just before it was sent. */
export function wroteLease(election: Election, lease: StoredLease, sentAt: number, now: number): Election {
  return {
    ...election,
    known: { t: "stored", lease, since: now },
    role: { t: "leading", renewedAt: sentAt },
    phase: { t: "rest", until: sentAt + election.timing.retryPeriod },
  };
}

/** A watch reported a change of the lease: a standby that waits for its next read reads now. */
export function leaseChanged(election: Election): Election {
  const waits = election.role.t === "standby" && election.phase.t === "rest";
  return waits ? { ...election, phase: { t: "read" } } : election;
}

/** Another writer was first: see at once who it was, it may have been our own write whose answer got lost. */
export function writeConflicted(election: Election): Election {
  return { ...election, phase: { t: "read" } };
}

/** No answer, or a refusal that says nothing about the record. */
export function attemptFailed(election: Election, now: number, chance: number): Election {
  // Whether a leader's renewal was carried out is open, so it reads before it writes again.
  const known: Known = election.role.t === "leading" ? { t: "nothing" } : election.known;
  return { ...election, known, phase: resting(election, now, chance) };
}

/** After the step down: an ordinary candidate again, with what was seen of the lease kept. */
export function steppedDown(election: Election): Election {
  return { ...election, role: { t: "standby" }, phase: { t: "read" } };
}

/** The record to write for a step; `now` is the time of day, for people to read. */
export function recordFor(
  step: Extract<ElectionStep, { do: "create" | "takeOver" | "renew" }>,
  election: Election,
  now: string,
): LeaseRecord {
  const claim = {
    holder: election.identity,
    durationSeconds: Math.ceil(election.timing.leaseDuration / 1000),
    renewTime: now,
  };
  if (step.do === "create") return { ...claim, acquireTime: now, transitions: 0 };
  const { acquireTime, transitions } = step.from.record;
  if (step.do === "renew") return { ...claim, acquireTime, transitions };
  return { ...claim, acquireTime: now, transitions: transitions + 1 };
}

/** A released lease has no holder, so the next candidate takes it without waiting. */
export function releasedRecord(record: LeaseRecord, now: string): LeaseRecord {
  return { holder: "", durationSeconds: 1, acquireTime: now, renewTime: now, transitions: record.transitions };
}

function resting(election: Election, now: number, chance: number, atLatest = Number.POSITIVE_INFINITY): Phase {
  const { retryPeriod } = election.timing;
  // Standbys spread out so that they do not all rush at the same moment. They never wait longer than the period, or
  // a released lease would go unnoticed.
  const share = election.role.t === "leading" ? 1 : 1 - 0.5 * chance;
  return { t: "rest", until: Math.min(now + retryPeriod * share, atLatest) };
}

function sameRecord(a: LeaseRecord, b: LeaseRecord): boolean {
  return (
    a.holder === b.holder &&
    a.durationSeconds === b.durationSeconds &&
    a.acquireTime === b.acquireTime &&
    a.renewTime === b.renewTime &&
    a.transitions === b.transitions
  );
}
