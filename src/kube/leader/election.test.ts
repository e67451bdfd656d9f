import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  attemptFailed,
  campaign,
  isLeading,
  leaseChanged,
  nextStep,
  recordFor,
  releasedRecord,
  sawLease,
  steppedDown,
  type Election,
  type ElectionStep,
  type LeaseRecord,
  type StoredLease,
  usualTiming,
  writeConflicted,
  wroteLease,
} from "./election.ts";

const record = (holder: string, renewTime = "r1"): LeaseRecord => ({
  holder,
  durationSeconds: 15,
  acquireTime: "a1",
  renewTime,
  transitions: 3,
});
const stored = (holder: string, renewTime?: string): StoredLease => ({
  record: record(holder, renewTime),
  resourceVersion: "7",
});
const fresh = campaign("me", usualTiming);
const led = wroteLease(fresh, stored("me"), 1000, 1200);

const steps: { name: string; election: Election; now: number; step: ElectionStep }[] = [
  { name: "a new candidate reads first", election: fresh, now: 0, step: { do: "read" } },
  {
    name: "where there is no lease one is made",
    election: sawLease(fresh, undefined, 0, 0),
    now: 0,
    step: { do: "create" },
  },
  {
    name: "a lease held by another is waited for",
    election: sawLease(fresh, stored("other"), 100, 0),
    now: 100,
    step: { do: "rest", until: 2100 },
  },
  {
    name: "a standby's wait is shortened by chance, and never longer than the retry period",
    election: sawLease(fresh, stored("other"), 100, 0.5),
    now: 100,
    step: { do: "rest", until: 1600 },
  },
  {
    name: "a standby that has rested reads again",
    election: sawLease(fresh, stored("other"), 100, 0),
    now: 2100,
    step: { do: "read" },
  },
  {
    name: "a lease that was given up is taken at once",
    election: sawLease(fresh, stored(""), 0, 0),
    now: 0,
    step: { do: "takeOver", from: stored("") },
  },
  {
    name: "a record unchanged for exactly its duration is still believed",
    election: sawLease(sawLease(fresh, stored("other"), 100, 0), stored("other"), 15_100, 0),
    now: 15_100,
    step: { do: "rest", until: 15_101 },
  },
  {
    name: "a standby reads at the very moment when the lease has run out",
    election: sawLease(sawLease(fresh, stored("other"), 100, 0), stored("other"), 14_000, 0),
    now: 14_000,
    step: { do: "rest", until: 15_101 },
  },
  {
    name: "a standby that hears of a change reads at once",
    election: leaseChanged(sawLease(fresh, stored("other"), 100, 0)),
    now: 200,
    step: { do: "read" },
  },
  {
    name: "a leader that hears of a change keeps to its renewals",
    election: leaseChanged(led),
    now: 1300,
    step: { do: "rest", until: 3000 },
  },
  {
    name: "a record unchanged for longer than its duration is taken over",
    election: sawLease(sawLease(fresh, stored("other"), 100, 0), stored("other"), 15_101, 0),
    now: 15_101,
    step: { do: "takeOver", from: stored("other") },
  },
  {
    name: "a record that changed is believed for its whole duration again",
    election: sawLease(sawLease(fresh, stored("other"), 100, 0), stored("other", "r2"), 15_101, 0),
    now: 15_101,
    step: { do: "rest", until: 17_101 },
  },
  {
    name: "a lease in our own name, from a write whose answer was lost, is renewed",
    election: sawLease(fresh, stored("me"), 0, 0),
    now: 0,
    step: { do: "renew", from: stored("me") },
  },
  {
    name: "a leader rests between renewals, counted from the sending",
    election: led,
    now: 1300,
    step: { do: "rest", until: 3000 },
  },
  {
    name: "a leader renews over what it wrote, without reading",
    election: led,
    now: 3000,
    step: { do: "renew", from: stored("me") },
  },
  {
    name: "a leader whose renewal met a conflict reads at once",
    election: writeConflicted(led),
    now: 3000,
    step: { do: "read" },
  },
  {
    name: "a leader that finds another holder steps down at once",
    election: sawLease(writeConflicted(led), stored("other"), 3000, 0),
    now: 3000,
    step: { do: "stepDown", because: { t: "deposed", by: "other" } },
  },
  {
    name: "a leader whose renewal failed reads after a retry period",
    election: attemptFailed(led, 3000, 0.9),
    now: 5000,
    step: { do: "read" },
  },
  {
    name: "a leader's rest ends with its deadline",
    election: attemptFailed(led, 10_500, 0),
    now: 10_500,
    step: { do: "rest", until: 11_000 },
  },
  {
    name: "a leader steps down when the deadline has passed",
    election: led,
    now: 11_000,
    step: { do: "stepDown", because: { t: "deadline" } },
  },
  {
    name: "an answer that comes after the deadline makes no leader",
    election: wroteLease(fresh, stored("me"), 0, 60_000),
    now: 60_000,
    step: { do: "stepDown", because: { t: "deadline" } },
  },
  {
    name: "a leader whose lease was deleted recreates it",
    election: sawLease(writeConflicted(led), undefined, 3000, 0),
    now: 3000,
    step: { do: "create" },
  },
  { name: "who stepped down reads again", election: steppedDown(led), now: 60_000, step: { do: "read" } },
];
for (const { name, election, now, step } of steps) {
  test(name, () => assert.deepEqual(nextStep(election, now), step));
}

test("leadership counts from the sending of the last renewal that succeeded", () => {
  assert.equal(isLeading(led, 10_999), true);
  assert.equal(isLeading(led, 11_000), false);
  assert.equal(isLeading(fresh, 0), false);
});

test("the transitions grow with each take-over and with nothing else", () => {
  const claim = { holder: "me", durationSeconds: 15, renewTime: "now" };
  assert.deepEqual(recordFor({ do: "create" }, fresh, "now"), { ...claim, acquireTime: "now", transitions: 0 });
  assert.deepEqual(recordFor({ do: "takeOver", from: stored("other") }, fresh, "now"), {
    ...claim,
    acquireTime: "now",
    transitions: 4,
  });
  assert.deepEqual(recordFor({ do: "renew", from: stored("me") }, fresh, "now"), {
    ...claim,
    acquireTime: "a1",
    transitions: 3,
  });
  assert.deepEqual(releasedRecord(record("me"), "now"), {
    holder: "",
    durationSeconds: 1,
    acquireTime: "now",
    renewTime: "now",
    transitions: 3,
  });
});

test("timings that cannot be safe are refused", () => {
  assert.throws(() => campaign("me", { ...usualTiming, renewDeadline: 15_000 }), RangeError);
  assert.throws(() => campaign("me", { ...usualTiming, retryPeriod: 9000 }), RangeError);
  assert.throws(() => campaign("", usualTiming), RangeError);
});

// A world of candidates whose clocks run at their own speeds, whose requests and answers take as long as they like or
// get lost, and which are stopped and resumed at any time.
interface Process {
  election: Election;
  /** Milliseconds of its clock in one of the world's, and its start. */
  rate: number;
  offset: number;
  /** The number of the request whose answer it waits for: later answers are of no interest. */
  waitingFor: number;
}
interface Plan {
  rates: number[];
  chances: number[];
}

class World {
  #time = 0;
  #events: { at: number; run: () => void }[] = [];
  #lease: StoredLease | undefined;
  #version = 0;
  #chance = 0;
  #requests = 0;
  leaders = new Set<string>();
  readonly #plan: Plan;
  readonly #processes: Process[];

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#processes = plan.rates.map((rate, i) => ({
      election: campaign(`p${i}`, usualTiming),
      rate,
      offset: i * 1e6,
      waitingFor: 0,
    }));
    for (const process of this.#processes) this.#at(this.#draw() * 5000, () => this.#act(process));
  }

  run(until: number): void {
    for (;;) {
      this.#events.sort((a, b) => a.at - b.at);
      const next = this.#events.shift();
      if (next === undefined || next.at > until) return;
      this.#time = next.at;
      next.run();
      const now = this.#processes.filter((p) => isLeading(p.election, this.#clock(p))).map((p) => p.election.identity);
      assert.ok(now.length <= 1, `at ${this.#time} all of these lead: ${now.join(", ")}`);
      for (const leader of now) this.leaders.add(leader);
    }
  }

  #draw(): number {
    this.#chance += 1;
    return this.#plan.chances[this.#chance % this.#plan.chances.length] ?? 0;
  }

  #at(delay: number, run: () => void): void {
    this.#events.push({ at: this.#time + delay, run });
  }

  #clock(process: Process): number {
    return process.offset + this.#time * process.rate;
  }

  /** Mostly quick, at times slow, now and then longer than every deadline. */
  #delay(): number {
    const chance = this.#draw();
    return chance < 0.7 ? chance * 100 : (chance - 0.7) * 60_000;
  }

  #act(process: Process): void {
    // Stopped for a while: whatever was due comes late.
    if (this.#draw() > 0.95) return this.#at(this.#draw() * 40_000, () => this.#act(process));
    const now = this.#clock(process);
    const step = nextStep(process.election, now);
    if (step.do === "rest") return this.#at((step.until - now) / process.rate, () => this.#act(process));
    if (step.do === "stepDown") {
      process.election = steppedDown(process.election);
      return this.#act(process);
    }
    if (step.do === "renew" && this.#draw() > 0.9) return this.#release(process, step.from);
    this.#send(process, step, now);
  }

  #send(process: Process, step: Exclude<ElectionStep, { do: "rest" | "stepDown" }>, sentAt: number): void {
    this.#requests += 1;
    const request = this.#requests;
    process.waitingFor = request;
    const answer = (settle: () => Election): void => {
      if (process.waitingFor !== request) return;
      process.waitingFor = 0;
      process.election = settle();
      this.#act(process);
    };
    this.#at(this.#delay(), () => {
      const found = this.#lease;
      const put = step.do === "read" ? undefined : recordFor(step, process.election, `t${request}`);
      const over = step.do === "takeOver" || step.do === "renew" ? step.from.resourceVersion : undefined;
      const written = put && found?.resourceVersion === over ? this.#store(put) : undefined;
      if (this.#draw() > 0.9) return;
      this.#at(this.#delay(), () =>
        answer(() => {
          const now = this.#clock(process);
          if (put === undefined) return sawLease(process.election, found, now, this.#draw());
          return written === undefined
            ? writeConflicted(process.election)
            : wroteLease(process.election, written, sentAt, now);
        }),
      );
    });
    this.#at((usualTiming.renewDeadline * (0.5 + this.#draw())) / process.rate, () =>
      answer(() => attemptFailed(process.election, this.#clock(process), this.#draw())),
    );
  }

  #release(process: Process, from: StoredLease): void {
    process.election = steppedDown(process.election);
    this.#at(this.#delay(), () => {
      if (this.#lease?.resourceVersion === from.resourceVersion) this.#store(releasedRecord(from.record, "gone"));
    });
    this.#at(this.#delay(), () => this.#act(process));
  }

  #store(put: LeaseRecord): StoredLease {
    this.#version += 1;
    this.#lease = { record: put, resourceVersion: String(this.#version) };
    return this.#lease;
  }
}

test("there is never a second leader, whatever the clocks, the network and the processes do", () => {
  let changes = 0;
  // Speeds from 0.8 to 1.19 differ by less than the factor 1.5 between lease duration and renew deadline.
  const plan = fc.record({
    rates: fc.array(fc.double({ min: 0.8, max: 1.19, noNaN: true }), { minLength: 2, maxLength: 4 }),
    chances: fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { minLength: 211, maxLength: 211 }),
  });
  fc.assert(
    fc.property(plan, (drawn) => {
      const world = new World(drawn);
      world.run(600_000);
      changes += world.leaders.size;
    }),
    { numRuns: 150 },
  );
  // The world must not be so hostile that the property is empty.
  assert.ok(changes > 150, `only ${changes} leaders in 150 worlds`);
});
