import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../kube/client/errors.ts";
import { Pod } from "../kube/objects/kinds.ts";
import { logger, silent } from "../kube/process/log.ts";
import { SimulatedClock } from "../kube/testing/simulated-clock.ts";
import { FakeApi } from "../kube/testing/fake-api/fake-api.ts";
import { type ChaosLevel, runChaos } from "./chaos.ts";

const minute = 60_000;

async function practised(level: ChaosLevel, minutes: number, luck: () => number): Promise<number[]> {
  const clock = new SimulatedClock();
  const api = new FakeApi({ kinds: [{ kind: Pod }], clock });
  const names = ["a", "b", "c", "d", "e", "f", "g"];
  for (const name of names)
    await api.create(Pod, { metadata: { namespace: "n", name }, spec: { containers: [{ name: "etcd" }] } });
  const left = async (): Promise<Pod[]> => (await api.list(Pod, { namespace: "n" })).items;
  let pods = await left();
  const end = new AbortController();
  const ended = runChaos({ level, pods: () => pods, clock, random: luck, log: silent }, api, end.signal);
  const counts: number[] = [];
  for (let half = 0; half < 2 * minutes; half += 1) {
    await clock.advance(minute / 2);
    pods = await left();
    counts.push(pods.length);
  }
  end.abort();
  await ended;
  return counts;
}

test("on the first level one member is killed every half a minute at most, and none in the first minute", async () => {
  assert.deepEqual(await practised(1, 3, () => 0.4), [7, 7, 6, 5, 4, 3]);
});

test("on the second level several are killed at once, from the start, and it goes on when nobody is left", async () => {
  assert.deepEqual(await practised(2, 2, () => 0.4), [4, 1, 0, 0]);
});

test("fate spares them half of the time", async () => {
  assert.deepEqual(await practised(1, 3, () => 0.5), [7, 7, 7, 7, 7, 7]);
});

test("any of them may be killed", async () => {
  const clock = new SimulatedClock();
  const api = new FakeApi({ kinds: [{ kind: Pod }], clock });
  for (const name of ["a", "b", "c"])
    await api.create(Pod, { metadata: { namespace: "n", name }, spec: { containers: [] } });
  const { items } = await api.list(Pod);
  const numbers = [0, 0, 0.9];
  const end = new AbortController();
  const chaos = { level: 2, pods: () => items, clock, random: () => numbers.shift() ?? 1, log: silent } as const;
  const ended = runChaos(chaos, api, end.signal);
  await clock.advance(2 * minute);
  end.abort();
  await ended;
  assert.deepEqual(
    (await api.list(Pod)).items.map(({ metadata }) => metadata?.name),
    ["a", "b"],
  );
});

test("one that is another by now is not killed", async () => {
  const clock = new SimulatedClock();
  const api = new FakeApi({ kinds: [{ kind: Pod }], clock });
  const made = await api.create(Pod, { metadata: { namespace: "n", name: "a" }, spec: { containers: [] } });
  const old: Pod = { ...made, metadata: { ...made.metadata, uid: "an-older-one" } };
  const end = new AbortController();
  const ended = runChaos({ level: 2, pods: () => [old], clock, random: () => 0, log: silent }, api, end.signal);
  await clock.advance(2 * minute);
  end.abort();
  await ended;
  assert.equal((await api.get(Pod, { namespace: "n", name: "a" })).metadata?.uid, made.metadata?.uid);
});

test("a pod that is already gone is fine, and one that cannot be killed is told", async () => {
  const clock = new SimulatedClock();
  const api = new FakeApi({ kinds: [{ kind: Pod }], clock });
  const lines: { message: string }[] = [];
  const log = logger({ write: (line) => lines.push(JSON.parse(line)) });
  const pods: Pod[] = [{ metadata: { namespace: "n", name: "gone", uid: "u" } }];
  const end = new AbortController();
  const ended = runChaos({ level: 2, pods: () => pods, clock, random: () => 0, log }, api, end.signal);
  const told = (): string[] => lines.slice(1).map(({ message }) => message);
  await clock.advance(minute / 2);
  assert.deepEqual(told(), []);
  api.faults.fail({ verb: "delete" }, new ApiError(403, "Forbidden", ""));
  await clock.advance(minute / 2);
  assert.deepEqual(told(), ["not killed"]);
  end.abort();
  await ended;
});
