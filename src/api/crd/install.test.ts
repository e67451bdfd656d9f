// Installing CRDs: it retries until the API server serves them, and respects a CRD that exists.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ApiError } from "../../kube/client/errors.ts";
import { CustomResourceDefinition } from "../../kube/objects/kinds.ts";
import { logger, silent } from "../../kube/process/log.ts";
import { SimulatedClock } from "../../kube/testing/simulated-clock.ts";
import { FakeApi } from "../../kube/testing/fake-api/fake-api.ts";
import { etcdCluster } from "../etcd-cluster/kind.ts";
import { crdOf } from "./crd.ts";
import { besideOtherVersions, installCrd, installCrds, NotEstablishedError } from "./install.ts";

const crd = crdOf(etcdCluster);
const key = { namespace: "", name: crd.metadata.name };
const never = new AbortController().signal;

function server(): { api: FakeApi; clock: SimulatedClock } {
  const clock = new SimulatedClock();
  return { api: new FakeApi({ kinds: [{ kind: CustomResourceDefinition, status: true }], clock }), clock };
}

/** What the API server does to a CRD some time after it is applied. */
async function serve(api: FakeApi, established: "True" | "False", message = ""): Promise<void> {
  const conditions = [
    { type: "NamesAccepted", status: established, message },
    { type: "Established", status: established, message },
  ];
  await api.mergePatch(CustomResourceDefinition, key, { status: { conditions } }, { subresource: "status" });
}

/** Advances the clock until `done` settles, at most by `ms`. */
async function within(clock: SimulatedClock, ms: number, done: Promise<unknown>): Promise<unknown> {
  const state = { over: false };
  const finished = done.finally(() => {
    state.over = true;
  });
  finished.catch(() => undefined);
  for (let passed = 0; passed < ms && !state.over; passed += 50) await clock.advance(50);
  assert.ok(state.over, `not done within ${ms} ms`);
  return await finished;
}

describe("installing the CRD", () => {
  it("ends when the API server serves it", async () => {
    const { api, clock } = server();
    const done = installCrds(api, [crd], never, silent, clock);
    await clock.advance(200);
    await serve(api, "True");
    await within(clock, 2000, done);
    const stored = await api.get(CustomResourceDefinition, key);
    assert.deepEqual(stored.spec.versions, crd.spec.versions);
    assert.equal(clock.waiting, 0);
  });

  it("fails with the API server's reason when the names are taken", async () => {
    const { api, clock } = server();
    const done = installCrd(api, crd, never, clock);
    await clock.advance(100);
    await serve(api, "False", '"etcd" is already in use');
    await assert.rejects(within(clock, 60_000, done), (error) => {
      assert.ok(error instanceof NotEstablishedError);
      assert.match(error.message, /"etcd" is already in use/);
      return true;
    });
  });

  it("is retried with back-off until it succeeds", async () => {
    const { api, clock } = server();
    const lines: { message: string; againInMs: number }[] = [];
    const log = logger({ write: (line) => lines.push(JSON.parse(line)) });
    api.faults.fail({ verb: "apply" }, new ApiError(403, "Forbidden", "no"), { times: 3 });
    const done = installCrds(api, [crd], never, log, clock);
    await clock.advance(10_000);
    await serve(api, "True");
    await within(clock, 5000, done);
    const complaints = lines.slice(0, 3);
    for (const { message } of complaints) assert.match(message, /-create-crd=false/);
    const delays = complaints.map(({ againInMs }) => againInMs);
    assert.deepEqual(
      delays,
      [...delays].sort((a, b) => a - b),
    );
  });

  it("ends with the signal's reason", async () => {
    const { api, clock } = server();
    const stop = new AbortController();
    const done = installCrds(api, [crd], stop.signal, silent, clock);
    await clock.advance(100);
    stop.abort(new Error("enough"));
    await assert.rejects(within(clock, 1000, done), { message: "enough" });
    assert.equal(clock.waiting, 0);
  });

  it("keeps versions that somebody else serves, without storing in them", () => {
    const other = { name: "v1beta3", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } };
    const old = { name: "v1beta2", served: true, storage: true };
    const merged = besideOtherVersions(crd, {
      spec: { ...crd.spec, versions: [old, other] },
    });
    assert.deepEqual(merged.spec.versions, [...crd.spec.versions, { ...other, storage: false }]);
  });
});
