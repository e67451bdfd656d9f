// What is said of a cluster whose own authentication keeps the operator out.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assess } from "../assess/assess.ts";
import { type MemberName, memberName } from "../objects/names.ts";
import type { AccessTrouble } from "../observe/world.ts";
import { three } from "../testing/plan-table.ts";
import { sampleNow, sampleWorld } from "../testing/sample-world.ts";
import { statusOf } from "./status.ts";

const done = { did: [], decision: { actions: [], because: "a test" }, obstacle: undefined, passed: [] };
const pods = ["demo-a", "demo-b", "demo-c"].map(memberName);

function statusWith(trouble: AccessTrouble, serving: readonly MemberName[] = pods, members = three) {
  const etcd = { t: "accessDenied", trouble, refusing: pods, serving } as const;
  const before = { size: 3, voters: pods, ready: "3/3", currentVersion: "3.6.16" };
  const status = statusOf(assess(sampleWorld({ members, status: before, change: { etcd } }), sampleNow), done);
  const condition = (type: string) => status.conditions?.find((one) => one.type === type);
  return { status, condition };
}

const table: [AccessTrouble, string, RegExp][] = [
  [
    { t: "noLogin" },
    "AuthRequired",
    /no login\. Create a Secret .*spec\.auth\.operatorSecret; or use a client certificate/,
  ],
  [{ t: "certificateDenied" }, "LoginRefused", /common name .*Create a Secret/],
  [{ t: "secretMissing", secret: "login" }, "AuthRequired", /no Secret login.*Create it/],
  [{ t: "secretIncomplete", secret: "login", lacks: ["password"] }, "AuthRequired", /Secret login .*has no password\./],
  [
    { t: "secretIncomplete", secret: "login", lacks: ["username", "password"] },
    "AuthRequired",
    /has no username and no password\./,
  ],
  [
    { t: "secretForbidden", secret: "login" },
    "AuthRequired",
    /may not read the Secret login.*permission to get secrets/,
  ],
  [{ t: "secretUnread", secret: "login" }, "AuthRequired", /Secret login .*could not be read/],
  [{ t: "wrongPassword", secret: "login" }, "LoginRefused", /Secret login .*no such user, or the password.*Correct/],
  [{ t: "notRoot", secret: "login" }, "LoginRefused", /Secret login .*does not have the role root\. Grant it/],
  [{ t: "tokenRefused", secret: "login" }, "LoginRefused", /does not take the token.*Secret login/],
];

describe("a cluster that does not let the operator in", () => {
  for (const [trouble, reason, sentence] of table)
    test(`says ${sentence.source}`, () => {
      const { condition } = statusWith(trouble);
      const ready = condition("Ready");
      assert.deepEqual([ready?.status, ready?.reason], ["False", reason]);
      assert.match(ready?.message ?? "", sentence);
      assert.match(ready?.message ?? "", /clients are served, and no member is replaced/);
    });

  test("is available as long as a member reads through the quorum, and is not said to have lost anything", () => {
    const { status, condition } = statusWith({ t: "noLogin" });
    assert.equal(condition("Available")?.status, "True");
    assert.equal(condition("Recovering")?.status, "False");
    assert.deepEqual([status.phase, status.size, status.ready, status.voters], ["Running", 3, "3/3", pods]);
    assert.equal(status.currentVersion, "3.6.16");
    assert.doesNotMatch(JSON.stringify(status), /QuorumLost|DataLost/);
  });

  test("has lost its data when too few pods are left, whoever they let in", () => {
    const { status, condition } = statusWith({ t: "noLogin" }, [], three.slice(0, 1));
    assert.deepEqual([status.phase, condition("Ready")?.reason], ["Failed", "DataLost"]);
    assert.equal(
      statusWith({ t: "noLogin" }, pods.slice(0, 1), three.slice(0, 1)).condition("Ready")?.reason,
      "AuthRequired",
    );
  });

  test("is not available when nobody reads through the quorum", () => {
    const { status, condition } = statusWith({ t: "noLogin" }, []);
    assert.deepEqual([condition("Available")?.status, condition("Available")?.reason], ["False", "AuthRequired"]);
    assert.match(condition("Ready")?.message ?? "", /No member has a quorum/);
    assert.equal(status.ready, "0/3");
  });
});
