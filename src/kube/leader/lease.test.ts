import assert from "node:assert/strict";
import { test } from "node:test";
import { usualTiming } from "./election.ts";
import { ApiError } from "../client/errors.ts";
import { LeadershipLost, fenced, type Fence } from "./fence.ts";
import { ConfigMap, Lease } from "../objects/kinds.ts";
import { lead, type LeadOptions, type LeaseEvent, type Work } from "./lease.ts";
import { SimulatedClock } from "../testing/simulated-clock.ts";
import { FakeApi } from "../testing/fake-api/fake-api.ts";

const key = { namespace: "ops", name: "cluster-controller" };

class Candidate {
  readonly news: LeaseEvent[] = [];
  readonly end = new AbortController();
  fence: Fence | undefined;
  signal: AbortSignal | undefined;
  terms = 0;
  running: Promise<unknown>;

  constructor(api: FakeApi, clock: SimulatedClock, identity: string, work?: Work, more: Partial<LeadOptions> = {}) {
    const untilStopped: Work = (signal) =>
      new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    const run: Work = (signal, fence) => {
      this.terms += 1;
      this.signal = signal;
      this.fence = fence;
      return (work ?? untilStopped)(signal, fence);
    };
    // A second of the simulation takes much less than a millisecond, so the real time of day would stand still.
    const timeOfDay = (): Date => new Date(Date.UTC(2026, 0) + clock.now());
    const { signal } = this.end;
    const options = { api, lease: key, identity, clock, timeOfDay, signal, onEvent: this.#note, ...more };
    this.running = lead(options, run).then(
      () => "ended",
      (error: unknown) => error,
    );
  }

  get leads(): boolean {
    return this.fence?.holds() ?? false;
  }

  readonly #note = (news: LeaseEvent): void => void this.news.push(news);
}

function world(): { api: FakeApi; clock: SimulatedClock } {
  const clock = new SimulatedClock();
  return { clock, api: new FakeApi({ kinds: [{ kind: Lease }, { kind: ConfigMap }], clock }) };
}

const spec = async (api: FakeApi) => (await api.get(Lease, key)).spec!;

test("the first candidate makes the lease and leads, the second follows and says whom", async () => {
  const { api, clock } = world();
  const a = new Candidate(api, clock, "a");
  await clock.advance(100);
  const b = new Candidate(api, clock, "b");
  await clock.advance(60_000);
  assert.deepEqual([a.leads, b.leads, a.terms, b.terms], [true, false, 1, 0]);
  assert.deepEqual(b.news, [{ t: "following", leader: "a" }]);
  const { holderIdentity, leaseDurationSeconds, leaseTransitions, acquireTime, renewTime } = await spec(api);
  assert.deepEqual([holderIdentity, leaseDurationSeconds, leaseTransitions], ["a", 15, 0]);
  assert.match(acquireTime!, /T\d\d:\d\d:\d\d\.\d{6}Z$/);
  assert.match(renewTime!, /T\d\d:\d\d:\d\d\.\d{6}Z$/);
  a.end.abort();
  b.end.abort();
  await clock.advance(30_000);
  assert.deepEqual([await a.running, await b.running], ["ended", "ended"]);
  assert.equal(clock.waiting, 0, "a timer was left behind");
});

test("a leader renews with one PUT each two seconds and no read", async () => {
  const { api, clock } = world();
  const a = new Candidate(api, clock, "a");
  await clock.advance(100);
  api.forgetRequests();
  await clock.advance(20_000);
  assert.deepEqual(
    api.requests.map((request) => request.verb),
    Array.from({ length: 10 }, () => "replace"),
  );
  a.end.abort();
  await a.running;
});

test("a leader that ends lets its work stop, then releases, and the next one takes over at its next read", async () => {
  const { api, clock } = world();
  const a = new Candidate(api, clock, "a", async (signal, fence) => {
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    // Winding up takes longer than a lease lasts, and may still write.
    await new Promise<void>((resolve) => clock.after(18_000, resolve));
    assert.equal(fence.holds(), true);
    await fenced(api, fence).create(ConfigMap, { metadata: { namespace: "ops", name: "last-words" } });
  });
  await clock.advance(100);
  const b = new Candidate(api, clock, "b");
  await clock.advance(100);
  a.end.abort();
  await clock.advance(17_000);
  assert.equal(b.terms, 0);
  await clock.advance(1000 + usualTiming.retryPeriod * 2.2);
  assert.equal(await a.running, "ended");
  assert.deepEqual(a.news.at(-1), { t: "released" });
  assert.deepEqual([a.leads, b.leads], [false, true]);
  assert.equal((await spec(api)).leaseTransitions, 1);
  assert.equal((await api.get(ConfigMap, { namespace: "ops", name: "last-words" })).metadata?.name, "last-words");
  b.end.abort();
  await b.running;
});

test("a lease that is given up does not lie there until the next read of a standby", async () => {
  const { api, clock } = world();
  const a = new Candidate(api, clock, "a");
  await clock.advance(100);
  const b = new Candidate(api, clock, "b");
  await clock.advance(usualTiming.retryPeriod * 3);
  a.end.abort();
  await a.running;
  await clock.advance(1);
  assert.equal(b.leads, true);
  assert.equal(api.watching, 0);
  b.end.abort();
  await b.running;
  assert.equal(clock.waiting, 0);
});

test("a standby that may not watch the lease takes it within a retry period, and does not try to watch again and again", async () => {
  const { api, clock } = world();
  const forbidden = (): Error => new ApiError(403, "Forbidden", "leases cannot be watched");
  api.faults.fail({ verb: "watch" }, forbidden, { times: Number.POSITIVE_INFINITY });
  const a = new Candidate(api, clock, "a");
  await clock.advance(100);
  const b = new Candidate(api, clock, "b");
  await clock.advance(usualTiming.retryPeriod * 5);
  a.end.abort();
  await a.running;
  await clock.advance(usualTiming.retryPeriod);
  assert.equal(b.leads, true);
  assert.deepEqual(
    b.news.map(({ t }) => t),
    ["following", "attemptFailed", "leading"],
  );
  b.end.abort();
  await b.running;
});

test("a released lease names nobody and lasts a second", async () => {
  const { api, clock } = world();
  const a = new Candidate(api, clock, "a");
  await clock.advance(100);
  a.end.abort();
  await a.running;
  const { holderIdentity, leaseDurationSeconds } = await spec(api);
  assert.deepEqual([holderIdentity ?? "", leaseDurationSeconds], ["", 1]);
});

test("a leader that cannot renew stops within the renew deadline, before anyone else can lead, and leads again later", async () => {
  const { api, clock } = world();
  const a = new Candidate(api, clock, "a");
  await clock.advance(100);
  const thaw = api.faults.freeze();
  const b = new Candidate(api, clock, "b");
  await clock.advance(9000);
  assert.equal(a.leads, true);
  await clock.advance(1900);
  assert.deepEqual([a.leads, a.signal?.aborted, a.fence?.signal.aborted], [false, true, true]);
  assert.deepEqual(a.news.at(-1), { t: "lost", because: { t: "deadline" } });
  assert.equal(b.terms, 0);
  thaw();
  await clock.advance(30_000);
  assert.equal(Number(a.leads) + Number(b.leads), 1);
  assert.equal(a.terms + b.terms, 2);
  a.end.abort();
  b.end.abort();
  await clock.advance(30_000);
  await Promise.all([a.running, b.running]);
});

test("a crashed leader is followed after its lease has run out by the follower's clock", async () => {
  const { api, clock } = world();
  await api.create(Lease, {
    metadata: { ...key },
    // Long past, by any wall clock: only what the candidate sees counts.
    spec: { holderIdentity: "dead", leaseDurationSeconds: 15, renewTime: "2001-01-01T00:00:00.000000Z" },
  });
  const b = new Candidate(api, clock, "b");
  await clock.advance(15_000);
  assert.equal(b.terms, 0);
  await clock.advance(usualTiming.retryPeriod * 2.2);
  assert.equal(b.leads, true);
  b.end.abort();
  await b.running;
});

test("a leader that is deposed stops at its next renewal", async () => {
  const { api, clock } = world();
  const a = new Candidate(api, clock, "a");
  await clock.advance(100);
  await api.mergePatch(Lease, key, { spec: { holderIdentity: "usurper" } });
  await clock.advance(2000);
  assert.equal(a.signal?.aborted, true);
  assert.deepEqual(a.news.slice(-2), [
    { t: "following", leader: "usurper" },
    { t: "lost", because: { t: "deposed", by: "usurper" } },
  ]);
  a.end.abort();
  await clock.advance(5000);
  await a.running;
  assert.equal((await spec(api)).holderIdentity, "usurper");
});

test("a write whose answer was lost, the winning one or a renewal, does not confuse the candidate", async () => {
  const { api, clock } = world();
  api.faults.breakConnection({ verb: "create" }, { when: "after" });
  const a = new Candidate(api, clock, "a");
  await clock.advance(5000);
  assert.equal(a.leads, true);
  api.faults.breakConnection({ verb: "replace" }, { when: "after" });
  await clock.advance(20_000);
  assert.deepEqual([a.leads, a.terms], [true, 1]);
  assert.equal((await spec(api)).leaseTransitions, 0);
  a.end.abort();
  await a.running;
});

test("a deleted lease is recreated by its leader", async () => {
  const { api, clock } = world();
  const a = new Candidate(api, clock, "a");
  await clock.advance(100);
  await api.delete(Lease, key);
  await clock.advance(usualTiming.retryPeriod * 2);
  assert.deepEqual([a.leads, a.terms, (await spec(api)).holderIdentity], [true, 1, "a"]);
  a.end.abort();
  await a.running;
});

test("labels that others put on the lease stay", async () => {
  const { api, clock } = world();
  const a = new Candidate(api, clock, "a");
  await clock.advance(100);
  await api.mergePatch(Lease, key, { metadata: { labels: { team: "x" } } });
  await clock.advance(10_000);
  a.end.abort();
  await a.running;
  assert.deepEqual((await api.get(Lease, key)).metadata?.labels, { team: "x" });
});

test("work that ends by itself releases the lease, and its failure is passed on", async () => {
  const { api, clock } = world();
  const done = new Candidate(api, clock, "a", () => Promise.resolve());
  await clock.advance(100);
  assert.equal(await done.running, "ended");
  const failure = new Error("broken");
  const broken = new Candidate(api, clock, "b", () => {
    throw failure;
  });
  await clock.advance(100);
  assert.equal(await broken.running, failure);
  assert.equal((await spec(api)).holderIdentity ?? "", "");
});

test("work that does not stop in time fails the candidacy, and its lease is left to run out", async () => {
  const { api, clock } = world();
  const a = new Candidate(api, clock, "a", () => new Promise(() => undefined), { stopWithin: 3000 });
  await clock.advance(100);
  a.end.abort();
  await clock.advance(3000);
  const error = await a.running;
  assert.ok(error instanceof LeadershipLost, String(error));
  assert.deepEqual([a.leads, a.fence?.signal.aborted, (await spec(api)).holderIdentity], [false, true, "a"]);
});

test("a candidacy that ends while the winning write is on its way gives the lease back", async () => {
  const { api, clock } = world();
  api.faults.delay({ verb: "create" }, 1000, 1);
  const a = new Candidate(api, clock, "a");
  api.onWrite(() => a.end.abort());
  await clock.advance(1000);
  assert.equal(await a.running, "ended");
  assert.deepEqual([a.terms, (await spec(api)).holderIdentity ?? ""], [0, ""]);
});
