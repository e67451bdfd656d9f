// Leader election by a Lease object: carries out the steps that `election.ts` decides on, and runs work only while it
// leads. One lease a controller, so that several processes can share the work between them.
import type { KubeApi } from "./api.ts";
import type { Clock } from "./clock.ts";
import { pause, systemClock } from "./clock.ts";
import type { Election, ElectionStep, ElectionTiming, LeaseRecord, Loss, StoredLease } from "./election.ts";
import {
  attemptFailed,
  campaign,
  isLeading,
  leadsUntil,
  nextStep,
  recordFor,
  releasedRecord,
  sawLease,
  steppedDown,
  usualTiming,
  writeConflicted,
  wroteLease,
} from "./election.ts";
import { isAlreadyExists, isConflict, isNotFound } from "./errors.ts";
import type { Fence } from "./fence.ts";
import { LeadershipLost, linkSignals } from "./fence.ts";
import { microTime } from "./micro-time.ts";
import type { Key, Kind, KubeObject } from "./objects.ts";
import { keyText } from "./objects.ts";

export interface Lease extends KubeObject {
  spec?: {
    holderIdentity?: string;
    leaseDurationSeconds?: number;
    acquireTime?: string;
    renewTime?: string;
    leaseTransitions?: number;
  };
}

export const leases: Kind<Lease> = {
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  plural: "leases",
  namespaced: true,
};

export type LeaseNews =
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
  /** Ends the candidacy: the work is asked to stop, then the lease is given up. */
  readonly signal: AbortSignal;
  readonly timing?: ElectionTiming;
  /** How long the work may take to stop, in milliseconds, before it is given up on. */
  readonly stopWithin?: number;
  readonly clock?: Clock;
  readonly onNews?: (news: LeaseNews) => void;
}

/** `signal` aborts when the work shall stop, whether leadership was lost or the process winds up. */
export type Work = (signal: AbortSignal, fence: Fence) => Promise<void>;

/**
 * Runs `run` whenever this process leads, again after each loss, until the signal aborts or `run` ends by itself.
 * While the work winds up after the signal the lease is still renewed; then it is released for a quick handover.
 */
export async function lead(options: LeadOptions, run: Work): Promise<void> {
  const candidate = new Candidate(options);
  while (await candidate.win()) {
    const ended = await candidate.serve(run);
    if (ended.t !== "lost") return;
  }
}

type TermEnd = { readonly t: "lost" } | { readonly t: "released" };

class Candidate {
  readonly #options: LeadOptions;
  readonly #clock: Clock;
  #election: Election;
  /** The object as last read or written: a PUT keeps its labels and whatever else others put there. */
  #object: Lease | undefined;
  #following = "";

  constructor(options: LeadOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#election = campaign(options.identity, options.timing ?? usualTiming);
  }

  /** False when the signal aborted before it won. */
  async win(): Promise<boolean> {
    const { signal } = this.#options;
    while (!signal.aborted) {
      if (isLeading(this.#election, this.#clock.now())) return true;
      await this.#attempt(signal);
    }
    // A win and the end of the candidacy may have come together.
    if (this.#election.standing.t === "leading") await this.#release();
    return false;
  }

  async serve(run: Work): Promise<TermEnd> {
    const lost = new AbortController();
    const finished = new AbortController();
    const stop = linkSignals([lost.signal, this.#options.signal]);
    const fence = this.#fence(lost.signal);
    this.#tell({ t: "leading" });
    const renewing = this.#renewUntil(finished.signal, lost);
    const work = settled(run(stop.signal, fence));
    const outcome = await this.#stoppedInTime(work, stop.signal);
    finished.abort();
    await renewing;
    stop.unlink();
    if (outcome === undefined) {
      // Something of the work may still act, so the lease must run out by itself; nothing more passes the fence.
      const late = new LeadershipLost(keyText(this.#options.lease), "the work did not stop in time");
      lost.abort(late);
      throw late;
    }
    if (lost.signal.aborted) {
      this.#election = steppedDown(this.#election);
      if (outcome.t === "failed" && !(outcome.error instanceof LeadershipLost)) throw outcome.error;
      return { t: "lost" };
    }
    lost.abort(new LeadershipLost(keyText(this.#options.lease), "it was released"));
    await this.#release();
    if (outcome.t === "failed") throw outcome.error;
    return { t: "released" };
  }

  #fence(signal: AbortSignal): Fence {
    const holds = (): boolean => !signal.aborted && isLeading(this.#election, this.#clock.now());
    const lease = keyText(this.#options.lease);
    const check = (): void => {
      if (!holds()) throw new LeadershipLost(lease, "the last renewal is too old");
    };
    return { holds, check, signal };
  }

  /** Keeps the lease until `finished`, or aborts `lost`. Never throws: what goes wrong costs the lease at most. */
  async #renewUntil(finished: AbortSignal, lost: AbortController): Promise<void> {
    const both = linkSignals([finished, lost.signal]);
    let disarm = (): void => {};
    const lose = (because: Loss): void => {
      if (lost.signal.aborted || finished.aborted) return;
      const why = because.t === "deadline" ? "it was not renewed in time" : `${because.by || "nobody"} holds it now`;
      lost.abort(new LeadershipLost(keyText(this.#options.lease), why));
      this.#tell({ t: "lost", because });
    };
    // The deadline counts even while a renewal hangs.
    const arm = (): void => {
      disarm();
      const { standing, timing } = this.#election;
      if (standing.t !== "leading") return;
      disarm = this.#clock.after(leadsUntil(standing, timing) - this.#clock.now(), () => {
        if (!isLeading(this.#election, this.#clock.now())) lose({ t: "deadline" });
        else arm();
      });
    };
    while (!both.signal.aborted) {
      arm();
      const step = await this.#attempt(both.signal);
      if (step.do === "stepDown") lose(step.because);
    }
    disarm();
    both.unlink();
  }

  /** Waits for the work; `undefined` when it has not ended so long after it was asked to. */
  async #stoppedInTime(work: Promise<Outcome>, stop: AbortSignal): Promise<Outcome | undefined> {
    const ended = new AbortController();
    const tooLate = (async (): Promise<undefined> => {
      await aborted(stop, ended.signal);
      await pause(this.#clock, this.#options.stopWithin ?? 20_000, ended.signal);
    })();
    const outcome = await Promise.race([work, tooLate]);
    ended.abort();
    return outcome;
  }

  /** One step of the election, and what came of it. */
  async #attempt(signal: AbortSignal): Promise<ElectionStep> {
    const now = this.#clock.now();
    const step = nextStep(this.#election, now);
    if (step.do === "rest") {
      await pause(this.#clock, step.until - now, signal);
    } else if (step.do === "stepDown") {
      this.#election = steppedDown(this.#election);
    } else {
      try {
        await this.#carryOut(step, signal);
      } catch (error) {
        if (signal.aborted) return step;
        this.#tell({ t: "attemptFailed", error });
        this.#election = attemptFailed(this.#election, this.#clock.now(), Math.random());
      }
    }
    return step;
  }

  async #carryOut(step: Exclude<ElectionStep, { do: "rest" | "stepDown" }>, signal: AbortSignal): Promise<void> {
    const request = { signal, deadline: this.#election.timing.renewDeadline / 2 };
    const sentAt = this.#clock.now();
    try {
      if (step.do === "read") {
        this.#object = await this.#options.api.get(leases, this.#options.lease, request);
      } else {
        const record = recordFor(step, this.#election, microTime(new Date()));
        this.#object = await this.#write(record, step.do === "create" ? undefined : step.from, request);
      }
    } catch (error) {
      if (step.do === "read" && isNotFound(error)) {
        this.#election = sawLease(this.#election, undefined, this.#clock.now(), Math.random());
      } else if (step.do !== "read" && (isConflict(error) || isAlreadyExists(error) || isNotFound(error))) {
        this.#election = writeConflicted(this.#election);
      } else {
        throw error;
      }
      return;
    }
    const stored = storedLease(this.#object, this.#election.timing);
    const now = this.#clock.now();
    if (step.do === "read") {
      this.#election = sawLease(this.#election, stored, now, Math.random());
      this.#reportLeader(stored.record.holder);
    } else {
      this.#election = wroteLease(this.#election, stored, sentAt, now);
      this.#following = "";
    }
  }

  #write(
    record: LeaseRecord,
    over: StoredLease | undefined,
    request: { deadline: number; signal?: AbortSignal },
  ): Promise<Lease> {
    const spec = {
      ...this.#object?.spec,
      holderIdentity: record.holder,
      leaseDurationSeconds: record.durationSeconds,
      acquireTime: record.acquireTime,
      renewTime: record.renewTime,
      leaseTransitions: record.transitions,
    };
    const { api, lease } = this.#options;
    if (over === undefined) {
      return api.create(leases, { metadata: { namespace: lease.namespace, name: lease.name }, spec }, request);
    }
    const { managedFields: _, ...metadata } = this.#object?.metadata ?? {};
    return api.replace(
      leases,
      { metadata: { ...metadata, ...lease, resourceVersion: over.resourceVersion }, spec },
      request,
    );
  }

  /** Best effort: a lease that cannot be released runs out by itself. */
  async #release(): Promise<void> {
    const { api, lease, identity } = this.#options;
    const request = { deadline: this.#election.timing.renewDeadline / 2 };
    this.#election = steppedDown(this.#election);
    try {
      // Read again: a renewal whose answer was not awaited may have gone through.
      this.#object = await api.get(leases, lease, request);
      const stored = storedLease(this.#object, this.#election.timing);
      if (stored.record.holder !== identity) return;
      await this.#write(releasedRecord(stored.record, microTime(new Date())), stored, request);
      this.#tell({ t: "released" });
    } catch (error) {
      this.#tell({ t: "attemptFailed", error });
    }
  }

  #reportLeader(holder: string): void {
    if (holder === "" || holder === this.#options.identity || holder === this.#following) return;
    this.#following = holder;
    this.#tell({ t: "following", leader: holder });
  }

  #tell(news: LeaseNews): void {
    this.#options.onNews?.(news);
  }
}

type Outcome = { readonly t: "done" } | { readonly t: "failed"; readonly error: unknown };

async function settled(work: Promise<void>): Promise<Outcome> {
  try {
    await work;
    return { t: "done" };
  } catch (error) {
    return { t: "failed", error };
  }
}

function aborted(...signals: AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const link = linkSignals(signals);
    const done = (): void => {
      link.unlink();
      resolve();
    };
    if (link.signal.aborted) done();
    else link.signal.addEventListener("abort", done, { once: true });
  });
}

function storedLease(lease: Lease, timing: ElectionTiming): StoredLease {
  const spec = lease.spec ?? {};
  return {
    resourceVersion: lease.metadata?.resourceVersion ?? "",
    record: {
      holder: spec.holderIdentity ?? "",
      durationSeconds: spec.leaseDurationSeconds ?? timing.leaseDuration / 1000,
      acquireTime: spec.acquireTime ?? "",
      renewTime: spec.renewTime ?? "",
      transitions: spec.leaseTransitions ?? 0,
    },
  };
}
