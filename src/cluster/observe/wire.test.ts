// How often certificates are read on the wire, and under which name.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Endpoint } from "../../etcd/members.ts";
import { plainText } from "../objects/tls.ts";
import { samplePod } from "../testing/sample-world.ts";
import { type WireRead, Wire } from "./wire.ts";

const both = samplePod("demo-a", { tls: { ...plainText, peer: "tls", client: true } });
const identity = { ca: "CA", identity: { cert: "C", key: "K" } };
const { signal } = new AbortController();

function reading() {
  const asked: Endpoint[] = [];
  let presents: string | undefined = "old";
  const wire = new Wire((endpoint) => {
    asked.push(endpoint);
    return Promise.resolve(presents === undefined ? undefined : { cert: presents, fingerprint: presents, notAfter: 0 });
  });
  const read = (now: number, change: Partial<WireRead> = {}) =>
    wire.read({
      key: "shop/demo",
      pods: [both],
      serverName: ({ name }) => `${name}.demo.shop.svc`,
      sides: { peer: { tls: identity, expected: "new" }, client: { tls: identity, expected: "new" } },
      now,
      signal,
      ...change,
    });
  return { asked, read, wire, present: (what: string | undefined) => (presents = what) };
}

test("each side that speaks TLS is dialled at its port, under the name of the member and with a certificate", async () => {
  const { asked, read } = reading();
  const seen = await read(0);
  assert.deepEqual(asked, [
    { url: "https://10.0.0.1:2380", serverName: "demo-a.demo.shop.svc", tls: identity },
    { url: "https://10.0.0.1:2379", serverName: "demo-a.demo.shop.svc", tls: identity },
  ]);
  assert.equal(seen.get(both.uid)?.peer?.fingerprint, "old");
  for (const pods of [[samplePod("demo-b", {})], [{ ...both, address: undefined }]]) {
    asked.length = 0;
    assert.equal((await read(0, { pods })).size, 0);
    assert.deepEqual(asked, []);
  }
});

test("one that presents what it should is left alone for ten minutes, another is looked at each second", async () => {
  const { asked, read, present, wire } = reading();
  await read(0);
  await read(500);
  assert.equal(asked.length, 2);
  present("new");
  assert.equal((await read(1000)).get(both.uid)?.client?.fingerprint, "new");
  assert.equal(asked.length, 4);
  await read(600_000);
  assert.equal(asked.length, 4);
  await read(601_000);
  assert.equal(asked.length, 6);
  wire.forget("shop/demo");
  await read(601_001);
  assert.equal(asked.length, 8);
});

test("one that cannot be looked at is asked less and less often, and at once when something else is expected of it", async () => {
  const { asked, read, present } = reading();
  present(undefined);
  for (let now = 0; now < 600_000; now += 500) await read(now);
  // At 0, 1, 3, 7, 15, 31, 63 s, then once a minute, at two ports each time: not at each of 1200 reconciles.
  assert.equal(asked.length, 2 * (7 + 8));
  asked.length = 0;
  const renewed = { peer: { tls: identity, expected: "newer" } };
  await read(600_000, { sides: renewed });
  await read(600_500, { sides: renewed });
  assert.equal(asked.length, 1);
  present("newer");
  await read(601_000, { sides: renewed });
  await read(602_000, { sides: renewed });
  assert.equal(asked.length, 2);
});
