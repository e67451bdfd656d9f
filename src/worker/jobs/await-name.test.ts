import assert from "node:assert/strict";
import { test } from "node:test";
import { SimulatedClock } from "../../kube/testing/simulated-clock.ts";
import { awaitName, fullName, type Names, reverseName, searchList } from "./await-name.ts";

const host = "c-a.c.ns.svc";
const full = `${host}.cluster.local`;
const place = { address: "10.0.0.7", search: ["ns.svc.cluster.local", "svc.cluster.local", "cluster.local"] };

/** DNS as it is after this many milliseconds. */
function namesAt(clock: SimulatedClock, knows: { name: number; address: number }) {
  const asked: string[] = [];
  const answer = (question: string, from: number, value: string): string[] => {
    asked.push(question);
    if (clock.now() < from) throw new Error(`ENOTFOUND ${question}`);
    return [value];
  };
  const names: Names = {
    addressesOf: async (name) => answer(name, name === full ? knows.name : Number.POSITIVE_INFINITY, "10.0.0.7"),
    namesOf: async (address) => answer(address, knows.address, full),
  };
  return { names, asked };
}

async function waitFor(knows: { name: number; address: number }, withinSeconds = 60) {
  const clock = new SimulatedClock();
  const { names, asked } = namesAt(clock, knows);
  const worker = { clock, signal: new AbortController().signal, time: () => clock.now() };
  const waiting = awaitName({ do: "awaitName", host, withinSeconds }, { ...place, names }, worker);
  await clock.advance(120_000);
  return { done: await waiting, asked };
}

test("etcd starts as soon as DNS has both name and address", async () => {
  const { done } = await waitFor({ name: 1250, address: 1400 });
  assert.deepEqual(done, { do: "awaitName", found: true, waitedMs: 1400, lastSeen: `10.0.0.7 is ${full}` });
});

test("the address is not asked for before the name is there: a DNS cache would keep that it was not", async () => {
  const { asked } = await waitFor({ name: 950, address: 0 });
  assert.equal(asked.indexOf("10.0.0.7"), asked.length - 1);
  assert.ok(asked.length > 5);
});

test("after its deadline it lets etcd try, and says what DNS lacked", async () => {
  const { done } = await waitFor({ name: 0, address: Number.POSITIVE_INFINITY }, 5);
  assert.deepEqual(done, { do: "awaitName", found: false, waitedMs: 5000, lastSeen: "ENOTFOUND 10.0.0.7" });
});

test("a name is asked for in full, in whatever domain the pod is", () => {
  assert.equal(fullName(host, place.search), full);
  assert.equal(fullName(`${host}.corp`, ["ns.svc.corp", "svc.corp"]), `${host}.corp`);
  assert.equal(fullName(host, []), host);
  assert.deepEqual(searchList("nameserver 10.99.0.1\nsearch a.svc.d svc.d d\noptions ndots:5\n"), [
    "a.svc.d",
    "svc.d",
    "d",
  ]);
  assert.deepEqual(searchList("nameserver 10.99.0.1\n"), []);
});

test("an address is asked for under its name in DNS", () => {
  assert.equal(reverseName("10.89.18.11"), "11.18.89.10.in-addr.arpa");
  const zeros = "0.".repeat(19);
  assert.equal(
    reverseName("fd00:0:0:1::a1"),
    `1.a.0.0.0.0.0.0.0.0.0.0.0.0.0.0.1.0.0.0.0.0.0.0.0.0.0.0.0.0.d.f.ip6.arpa`,
  );
  assert.equal(reverseName("::1"), `1.${"0.".repeat(31)}ip6.arpa`);
  assert.ok(reverseName("2001:db8::1").startsWith(`1.${zeros}`));
});
