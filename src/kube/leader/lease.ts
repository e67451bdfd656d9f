// Leader election by a Lease: carries out the steps that `election.ts` decides on, and runs work only while it leads.
// One lease a controller, so that several processes can share the work between them.
import { follow, whenAborted } from "../abort.ts";
import type { KubeApi } from "../client/api.ts";
import { pause, systemClock, type Clock } from "../clock.ts";
import {
  attemptFailed,
  campaign,
  isLeading,
  leadsUntil,
  leaseChanged,
  nextStep,
  recordFor,
  releasedRecord,
  sawLease,
  steppedDown,
  type Election,
  type ElectionStep,
  type ElectionTiming,
  type Loss,
  usualTiming,
  writeConflicted,
  wroteLease,
} from "./election.ts";
import { isAlreadyExists, isConflict, isForbidden, isNotFound } from "../client/errors.ts";
import { LeadershipLost, type Fence } from "./fence.ts";
import { LeaseObject } from "./lease-object.ts";
import { keyText, microTime, type Key } from "../objects/objects.ts";

export type LeaseEvent =
  | { readonly t: "leading" }
  /** Another process leads; said once for each of them. */
  | { readonly t: "following"; readonly leader: string }
  | { readonly t: "lost"; readonly because: Loss }
  | { readonly t: "released" }
  | { readonly t: "attemptFailed"; readonly error: unknown };

export interface LeadOptions {
  readonly api: KubeApi;
  readonly lease: Key;
  /** Must differ between any two processes that ever live at the same time, also between two of one pod. */
  readonly identity: string;
  /** Ends the candidacy: the work is asked to stop, then the lease is released. */
  readonly signal: AbortSignal;
  readonly timing?: ElectionTiming;
  /** How long the work may take to stop, in milliseconds, before the process fails. */
  readonly stopWithin?: number;
  readonly clock?: Clock;
  /** What is written into the lease. Two renewals must not have the same: an unchanged lease looks like one left alone. */
  readonly timeOfDay?: () => Date;
  readonly onEvent?: (news: LeaseEvent) => void;
}

/** `signal` aborts when the work shall stop, whether leadership was lost or the process shuts down. */
export type Work = (signal: AbortSignal, fence: Fence) => Promise<void>;

/**
 * Runs `run` whenever this process leads, again after each loss, until the signal aborts or `run` ends by itself.
 * While the work stops after the signal the lease is still renewed; then it is released for a quick handover.
 */
export async function lead(options: LeadOptions, run: Work): Promise<void> {
  const candidate = new Candidate(options);
  while (await candidate.win()) {
    const end = await candidate.serve(run);
    if (end === "released") return;
  }
}

class Candidate {
  readonly #options: LeadOptions;
  readonly #clock: Clock;
  readonly #lease: LeaseObject;
  #election: Election;
  #following = "";
  #wake: () => void = () => {};

  constructor(options: LeadOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#lease = new LeaseObject(options.api, options.lease);
    this.#election = campaign(options.identity, options.timing ?? usualTiming);
  }

  /** False when the signal aborted before it won. */
  async win(): Promise<boolean> {
    const { signal } = this.#options;
    const decided = follow(signal);
    const watching = this.#watchLease(decided.signal);
    try {
      while (!signal.aborted) {
        if (isLeading(this.#election, this.#clock.now())) return true;
        await this.#attempt(signal);
      }
    } finally {
      decided.abort(new Error("The election is decided"));
      decided.release();
      await watching;
    }
    // The end may have come together with the win, or while it was on its way.
    if (this.#election.role.t === "leading" || this.#election.phase.t === "write") await this.#release();
    return false;
  }

  /** One term of office, from the win to the loss or to the end of the work. */
  async serve(run: Work): Promise<"lost" | "released"> {
    const lost = new AbortController();
    const finished = new AbortController();
    const stop = follow(lost.signal, this.#options.signal);
    this.#report({ t: "leading" });
    const renewing = this.#renewUntil(finished.signal, lost);
    const work = outcomeOf(() => run(stop.signal, this.#fence(lost.signal)));
    const outcome = await this.#endInTime(work, stop.signal);
    finished.abort();
    await renewing;
    stop.release();
    const wasLost = lost.signal.aborted;
    lost.abort(this.#over(outcome.t === "unfinished" ? "the work did not stop in time" : "it was released"));
    // Something of unfinished work may still act, so the lease is not released but left to run out.
    if (outcome.t === "unfinished") throw lost.signal.reason;
    if (wasLost) this.#election = steppedDown(this.#election);
    else await this.#release();
    // Work that ends with the signal's own reason did not fail.
    const stopped = outcome.t === "failed" && stop.signal.aborted && outcome.error === stop.signal.reason;
    if (outcome.t === "failed" && !stopped && !(outcome.error instanceof LeadershipLost)) throw outcome.error;
    return wasLost ? "lost" : "released";
  }

  #fence(signal: AbortSignal): Fence {
    const holds = (): boolean => !signal.aborted && isLeading(this.#election, this.#clock.now());
    const check = (): void => {
      if (!holds()) throw signal.aborted ? signal.reason : this.#over("the last renewal is too old");
    };
    return { holds, check, signal };
  }

  #over(why: string): LeadershipLost {
    return new LeadershipLost(keyText(this.#options.lease), why);
  }

  /** Keeps the lease until `finished`, or aborts `lost`. Never throws: what goes wrong costs the lease at most. */
  async #renewUntil(finished: AbortSignal, lost: AbortController): Promise<void> {
    const both = follow(finished, lost.signal);
    const lose = (because: Loss): void => {
      if (both.signal.aborted) return;
      lost.abort(this.#over(because.t === "deadline" ? "it was not renewed in time" : `"${because.by}" holds it now`));
      this.#report({ t: "lost", because });
    };
    // The deadline counts even while a renewal hangs.
    const watch = async (): Promise<void> => {
      while (!both.signal.aborted) {
        const { role, timing } = this.#election;
        const left = role.t === "leading" ? leadsUntil(role, timing) - this.#clock.now() : 0;
        if (left <= 0) lose({ t: "deadline" });
        else await pause(this.#clock, left, both.signal);
      }
    };
    const renew = async (): Promise<void> => {
      while (!both.signal.aborted) {
        const step = await this.#attempt(both.signal);
        if (step.do === "stepDown") lose(step.because);
      }
    };
    await Promise.all([watch(), renew()]);
    both.release();
  }

  /** Waits for the work, but only so long after it was asked to stop. */
  async #endInTime(work: Promise<Outcome>, stop: AbortSignal): Promise<Outcome> {
    const ended = new AbortController();
    const asked = follow(stop, ended.signal);
    const tooLate = async (): Promise<Outcome> => {
      await whenAborted(asked.signal);
      asked.release();
      await pause(this.#clock, this.#options.stopWithin ?? 20_000, ended.signal);
      return { t: "unfinished" };
    };
    const outcome = await Promise.race([work, tooLate()]);
    ended.abort();
    return outcome;
  }

  /**
   * While it stands by: reads as soon as the lease changes, so that a released one is taken at once. It is a
   * help only; without the permission to watch, or with a watch that is silent, the regular reads go on.
   */
  async #watchLease(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const { known, timing } = this.#election;
      try {
        if (known.t === "stored") {
          await this.#lease.watch(known.lease, signal, () => {
            this.#election = leaseChanged(this.#election);
            this.#wake();
          });
        }
      } catch (error) {
        if (signal.aborted) return;
        this.#report({ t: "attemptFailed", error });
        if (isForbidden(error)) return;
      }
      await pause(this.#clock, timing.retryPeriod, signal);
    }
  }

  async #rest(milliseconds: number, signal: AbortSignal): Promise<void> {
    const rest = follow(signal);
    this.#wake = () => rest.abort(new Error("The lease has changed"));
    await pause(this.#clock, milliseconds, rest.signal);
    rest.release();
  }

  /** One step of the election, and what came of it. */
  async #attempt(signal: AbortSignal): Promise<ElectionStep> {
    const now = this.#clock.now();
    const step = nextStep(this.#election, now);
    if (step.do === "rest") {
      await this.#rest(step.until - now, signal);
    } else if (step.do === "stepDown") {
      this.#election = steppedDown(this.#election);
    } else {
      try {
        await this.#carryOut(step, { signal, deadline: this.#election.timing.renewDeadline / 2 });
      } catch (error) {
        if (signal.aborted) return step;
        this.#report({ t: "attemptFailed", error });
        this.#election = attemptFailed(this.#election, this.#clock.now(), Math.random());
      }
    }
    return step;
  }

  async #carryOut(
    step: Exclude<ElectionStep, { do: "rest" | "stepDown" }>,
    request: { signal: AbortSignal; deadline: number },
  ): Promise<void> {
    if (step.do === "read") {
      const seen = await this.#lease.read(request);
      this.#election = sawLease(this.#election, seen, this.#clock.now(), Math.random());
      this.#reportLeader(seen?.record.holder ?? "");
      return;
    }
    const sentAt = this.#clock.now();
    const record = recordFor(step, this.#election, this.#timeOfDay());
    try {
      const written = await (step.do === "create"
        ? this.#lease.create(record, request)
        : this.#lease.replace(step.from, record, request));
      this.#election = wroteLease(this.#election, written, sentAt, this.#clock.now());
      this.#following = "";
    } catch (error) {
      if (!isConflict(error) && !isAlreadyExists(error) && !isNotFound(error)) throw error;
      this.#election = writeConflicted(this.#election);
    }
  }

  /** Best effort: a lease that cannot be released runs out by itself. */
  async #release(): Promise<void> {
    const request = { deadline: this.#election.timing.renewDeadline / 2 };
    this.#election = steppedDown(this.#election);
    try {
      // Read again: a renewal whose answer was not awaited may have gone through.
      const held = await this.#lease.read(request);
      if (held?.record.holder !== this.#options.identity) return;
      await this.#lease.replace(held, releasedRecord(held.record, this.#timeOfDay()), request);
      this.#report({ t: "released" });
    } catch (error) {
      this.#report({ t: "attemptFailed", error });
    }
  }

  #timeOfDay(): string {
    return microTime(this.#options.timeOfDay?.() ?? new Date());
  }

  #reportLeader(holder: string): void {
    if (holder === "" || holder === this.#options.identity || holder === this.#following) return;
    this.#following = holder;
    this.#report({ t: "following", leader: holder });
  }

  #report(news: LeaseEvent): void {
    this.#options.onEvent?.(news);
  }
}

type Outcome =
  | { readonly t: "done" }
  | { readonly t: "failed"; readonly error: unknown }
  | { readonly t: "unfinished" };

async function outcomeOf(work: () => Promise<void>): Promise<Outcome> {
  try {
    await work();
    return { t: "done" };
  } catch (error) {
    return { t: "failed", error };
  }
}
