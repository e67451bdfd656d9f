import assert from "node:assert/strict";
import { test } from "node:test";
import { memberId } from "../../src/etcd/ids.ts";
import type { Member } from "../../src/etcd/member.ts";
import { complaintAbout } from "./voters.ts";

const member = (name: string, learner = false): Member => ({
  id: memberId(1n),
  name,
  peerUrls: [],
  clientUrls: [],
  learner,
});

test("voters with the names of the pods are no reason to complain, in whatever order", () => {
  assert.equal(complaintAbout([member("b"), member("a")], ["a", "b"]), undefined);
});

test("a learner is no voter yet", () => {
  assert.equal(complaintAbout([member("a"), member("b", true)], ["a", "b"]), "1 of 2 are learners");
});

test("a voter that has no pod any more is still a voter", () => {
  assert.equal(complaintAbout([member("a"), member("b"), member("old")], ["a", "b"]), "the voters are a, b, old");
});

test("a voter without a name has not started", () => {
  assert.equal(complaintAbout([member("a"), member("")], ["a", "b"]), "the voters are a, ");
});
