import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeApi } from "../client/api.ts";
import { LeadershipLost, fenced, type Fence } from "./fence.ts";
import { ConfigMap, Lease } from "../objects/kinds.ts";
import { lead } from "./lease.ts";
import { SimulatedClock } from "../testing/simulated-clock.ts";
import { FakeApi } from "../testing/fake-api/fake-api.ts";

const key = { namespace: "n", name: "a" };
const object: ConfigMap = { metadata: { ...key } };

const writes: Record<string, (api: KubeApi, signal?: AbortSignal) => Promise<unknown>> = {
  create: (api, signal) => api.create(ConfigMap, object, signal && { signal }),
  replace: (api, signal) => api.replace(ConfigMap, object, signal && { signal }),
  apply: (api, signal) => api.apply(ConfigMap, object, { fieldManager: "t", ...(signal && { signal }) }),
  mergePatch: (api, signal) => api.mergePatch(ConfigMap, key, { data: { a: "b" } }, signal && { signal }),
  delete: (api, signal) => api.delete(ConfigMap, key, signal && { signal }),
};

function fence(): Fence & { fall: (reason: Error) => void; expired: boolean } {
  const lost = new AbortController();
  const state = {
    expired: false,
    signal: lost.signal,
    fall: (reason: Error): void => lost.abort(reason),
    holds: (): boolean => !state.expired,
    check: (): void => {
      if (state.expired) throw new LeadershipLost("n/lease", "test");
    },
  };
  return state;
}

for (const [verb, write] of Object.entries(writes)) {
  test(`${verb} is not sent when the fence does not hold, although nothing has aborted yet`, async () => {
    const api = new FakeApi({ kinds: [{ kind: ConfigMap }] });
    const closed = fence();
    closed.expired = true;
    await assert.rejects(write(fenced(api, closed)), LeadershipLost);
    assert.deepEqual(api.requests, []);
  });

  test(`${verb} on its way is aborted when the fence falls, and when its own signal aborts`, async () => {
    const clock = new SimulatedClock();
    const api = new FakeApi({ kinds: [{ kind: ConfigMap }], clock });
    api.faults.freeze();
    const open = fence();
    const lost = new LeadershipLost("n/lease", "test");
    const first = assert.rejects(write(fenced(api, open)), lost);
    await clock.advance(1);
    open.fall(lost);
    await first;
    const own = new AbortController();
    const second = assert.rejects(write(fenced(api, fence()), own.signal), { message: "own" });
    await clock.advance(1);
    own.abort(new Error("own"));
    await second;
    assert.equal(clock.waiting, 0);
  });

  test(`${verb} passes a fence that holds, and checks it again when it is sent`, async () => {
    const seen: (() => void)[] = [];
    const note = (options?: { beforeSend?: () => void }): Promise<never> => {
      seen.push(options!.beforeSend!);
      return Promise.resolve({} as never);
    };
    const api = {
      create: (_k: unknown, _o: unknown, o?: object) => note(o),
      replace: (_k: unknown, _o: unknown, o?: object) => note(o),
      apply: (_k: unknown, _o: unknown, o?: object) => note(o),
      mergePatch: (_k: unknown, _key: unknown, _p: unknown, o?: object) => note(o),
      delete: (_k: unknown, _key: unknown, o?: object) => note(o),
    } as unknown as KubeApi;
    const open = fence();
    await write(fenced(api, open));
    assert.doesNotThrow(seen[0]!);
    open.expired = true;
    assert.throws(seen[0]!, LeadershipLost);
  });
}

test("reads pass a closed fence", async () => {
  const api = new FakeApi({ kinds: [{ kind: ConfigMap }] });
  await api.create(ConfigMap, object);
  const closed = fence();
  closed.expired = true;
  assert.equal((await fenced(api, closed).get(ConfigMap, key)).metadata?.name, "a");
  assert.equal((await fenced(api, closed).list(ConfigMap)).items.length, 1);
});

test("a process that was stopped for a minute and resumes sends no write before its timers have run", async () => {
  const clock = new SimulatedClock();
  // Time as a stopped process finds it: it has passed, and not a single timer has run.
  let missed = 0;
  const stopped = { now: () => clock.now() + missed, after: clock.after.bind(clock) };
  const api = new FakeApi({ kinds: [{ kind: ConfigMap }, { kind: Lease }], clock });
  const end = new AbortController();
  let asLeader: KubeApi | undefined;
  let alarm: AbortSignal | undefined;
  const running = lead(
    { api, lease: { namespace: "n", name: "lease" }, identity: "me", clock: stopped, signal: end.signal },
    (signal, held) => {
      asLeader = fenced(api, held);
      alarm = held.signal;
      return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    },
  );
  await clock.advance(100);
  await asLeader!.create(ConfigMap, object);
  missed = 60_000;
  assert.equal(alarm!.aborted, false, "no timer may have run for this test to mean anything");
  await assert.rejects(asLeader!.delete(ConfigMap, key), LeadershipLost);
  assert.equal((await api.get(ConfigMap, key)).metadata?.name, "a");
  end.abort();
  await clock.advance(30_000);
  await running;
});
