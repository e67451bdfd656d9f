// Finding the image that workers run from.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "./kube/client/errors.ts";
import { Pod } from "./kube/objects/kinds.ts";
import { silent } from "./kube/process/log.ts";
import { FakeApi } from "./kube/testing/fake-api/fake-api.ts";
import { SimulatedClock } from "./kube/testing/simulated-clock.ts";
import { OwnImage } from "./own-image.ts";

const identity = { namespace: "ops", pod: "operator-1" };
const never = new AbortController().signal;

async function withPod(): Promise<{ api: FakeApi; clock: SimulatedClock }> {
  const clock = new SimulatedClock();
  const api = new FakeApi({ kinds: [{ kind: Pod }], clock });
  const containers = [
    { name: "proxy", image: "proxy:2" },
    { name: "etcd-operator", image: "operator:1" },
  ];
  await api.create(Pod, { metadata: { namespace: "ops", name: "operator-1" }, spec: { containers } });
  return { api, clock };
}

test("it is that of the operator's own container, whatever else runs in its pod", async () => {
  const { api, clock } = await withPod();
  const image = new OwnImage("");
  await image.find(api, identity, "etcd-operator", silent, never, clock);
  assert.equal(image.get(), "operator:1");
});

test("one that is named by a flag is taken as it is", async () => {
  const { api, clock } = await withPod();
  const image = new OwnImage("mirror:9");
  await image.find(api, identity, "etcd-operator", silent, never, clock);
  assert.equal(image.get(), "mirror:9");
});

test("it is found as soon as the API server lets the operator read its pod", async () => {
  const { api, clock } = await withPod();
  api.faults.fail({ verb: "get" }, new ApiError(403, "Forbidden", "no"), { times: 2 });
  const image = new OwnImage("");
  const found = image.find(api, identity, "etcd-operator", silent, never, clock);
  await clock.advance(100);
  assert.equal(image.get(), undefined);
  await clock.advance(10_000);
  await found;
  assert.equal(image.get(), "operator:1");
});

test("outside of Kubernetes there is no pod to read it from, and nobody waits for one", async () => {
  const { api, clock } = await withPod();
  const image = new OwnImage("");
  await image.find(api, { namespace: "ops", pod: "laptop" }, "etcd-operator", silent, never, clock);
  assert.equal(image.get(), undefined);
  assert.equal(clock.waiting, 0);
});
