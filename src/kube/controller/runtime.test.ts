// Informers, queue, controller and the in-memory API server together: a small controller that keeps three children
// for each parent is put through everything that can go wrong between it and the server.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { Controller } from "./controller.ts";
import { Informer } from "../cache/informer.ts";
import { ConfigMap } from "../objects/kinds.ts";
import { done } from "./run-reconcile.ts";
import { SimulatedClock } from "../testing/simulated-clock.ts";
import { from } from "./source.ts";
import { FakeApi } from "../testing/fake-api/fake-api.ts";
import { TransportError } from "../../transport/errors.ts";

const wanted = 3;
const parent = { namespace: "default", name: "parent" };

async function world() {
  const clock = new SimulatedClock();
  const api = new FakeApi({ kinds: [{ kind: ConfigMap }], clock });
  const stop = new AbortController();
  const live = async (): Promise<number> => (await api.list(ConfigMap, { labelSelector: "of=parent" })).items.length;
  const informers = ["of=parent", "!of"].map(
    (labelSelector) =>
      new Informer({ api, kind: ConfigMap, selection: { labelSelector }, clock, observe: () => undefined }),
  );
  const [children, parents] = informers as [Informer<ConfigMap>, Informer<ConfigMap>];
  /** What happens right before the next write of a reconcile. */
  const beforeWrite: (() => unknown)[] = [];
  let made = 0;
  let most = 0;
  const controller = new Controller({
    name: "children",
    clock,
    sources: [from(parents), from(children, { toKeys: () => ["default/parent"] })],
    async reconcile(_key, { api }) {
      // Names that never repeat, so that nothing but the barrier keeps a stale cache from making one too many.
      for (let missing = wanted - children.store.size; missing > 0; missing -= 1) {
        made += 1;
        const metadata = { namespace: "default", name: `child-${made}`, labels: { of: "parent" } };
        beforeWrite.shift()?.();
        try {
          await api.create(ConfigMap, { metadata });
        } finally {
          most = Math.max(most, await live());
        }
      }
      return done;
    },
  });
  await api.create(ConfigMap, { metadata: parent });
  const running = Promise.all([
    ...informers.map((informer) => informer.run(stop.signal)),
    controller.run(api, stop.signal),
  ]);
  await clock.advance(0);
  const halt = async (): Promise<void> => {
    stop.abort(new Error("stop"));
    await running;
  };
  return { clock, api, controller, children, live, beforeWrite, halt, most: () => most };
}

test("a settled controller writes nothing, however often it reconciles", async () => {
  const { clock, api, controller, live, halt } = await world();
  assert.equal(await live(), wanted);
  const writes = api.writes.length;
  controller.enqueue("default/parent");
  await clock.advance(3_600_000);
  assert.equal(api.writes.length, writes);
  await halt();
});

const step = fc.constantFrom(
  "hold",
  "holdAtWrite",
  "release",
  "cut",
  "end",
  "expire",
  "loseAnswer",
  "loseCall",
  "resync",
  "kill",
  "wait",
);

test("under any series of faults there is never one child too many, and in the end there are enough", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30, size: "max" }), async (steps) => {
      const { clock, api, controller, children, live, beforeWrite, halt, most } = await world();
      for (const step of steps) {
        if (step === "hold") api.faults.holdWatches();
        if (step === "holdAtWrite") beforeWrite.push(() => api.faults.holdWatches());
        if (step === "release") api.faults.clear();
        if (step === "cut") api.faults.cutWatches(new TransportError("broken", "cut"));
        if (step === "end") api.faults.cutWatches();
        if (step === "expire") api.faults.expireHistory();
        if (step === "loseAnswer") api.faults.breakConnection({ verb: "create" }, { when: "after" });
        if (step === "loseCall") api.faults.breakConnection({ verb: "create" });
        if (step === "resync") controller.enqueue("default/parent");
        if (step === "kill") {
          const [victim] = (await api.list(ConfigMap, { labelSelector: "of=parent" })).items;
          if (victim !== undefined) await api.delete(ConfigMap, { ...parent, name: victim.metadata?.name ?? "" });
        }
        await clock.advance(step === "wait" ? 2000 : 10);
      }
      beforeWrite.length = 0;
      api.faults.clear();
      await clock.advance(120_000);
      assert.ok(most() <= wanted, `there were ${most()} children`);
      assert.equal(await live(), wanted);
      assert.equal(children.store.size, wanted);
      await halt();
    }),
    { numRuns: 100 },
  );
});
