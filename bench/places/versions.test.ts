import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeEtcd } from "../../src/etcd/testing/fake-etcd.ts";
import { votersWithStorage, votersWithVersion } from "./versions.ts";
import type { Voter } from "./voters.ts";

const clientUrl = "http://a:2379";

/** A cluster of one, and that one. */
function running(version: string): { etcd: FakeEtcd; voters: readonly Voter[] } {
  const etcd = new FakeEtcd({ name: "a", peerUrl: "http://a:2380", clientUrl, version });
  return { etcd, voters: [{ name: "a", uid: "1", etcd: etcd.at(clientUrl) }] };
}

test("a member that runs the version and reads through the quorum is not waited for", async () => {
  const { voters } = running("3.7.3");
  assert.equal(await votersWithVersion(voters, "3.7.3"), voters);
});

test("a member that still runs the version before is waited for", async () => {
  const { voters } = running("3.6.16");
  assert.equal(await votersWithVersion(voters, "3.7.3"), "a runs 3.6.16");
});

test("a member that does not answer is waited for, and says why", async () => {
  const { etcd, voters } = running("3.7.3");
  etcd.set("a", "stopped");
  const seen = await votersWithVersion(voters, "3.7.3");
  assert.ok(typeof seen === "string");
  assert.match(seen, /^a: ./);
  assert.equal(await votersWithStorage(voters, "3.7.3"), seen);
});

test("whether data is stored in a version is asked of its minor", async () => {
  const { voters } = running("3.6.16");
  assert.equal(await votersWithStorage(voters, "3.6.16"), voters);
  assert.equal(await votersWithStorage(voters, "3.7.3"), "a stores as 3.6.0");
});
