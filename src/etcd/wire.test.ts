import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { StatusResponseSchema } from "./gen/etcdserverpb/rpc_pb.ts";
import { memberId, parseClusterId, wireId } from "./ids.ts";
import { memberStatus, prefixEnd } from "./wire.ts";

describe("ids", () => {
  test("are hexadecimal as etcd writes them, and go back to what they were", () => {
    const id = memberId(10501334649042878790n);
    assert.equal(id, "91bc3c398fb3c146");
    assert.equal(wireId(id), 10501334649042878790n);
    assert.equal(memberId(0xffffffffffffffffn), "ffffffffffffffff");
  });

  test("are read only when they are ids", () => {
    assert.equal(parseClusterId("91bc3c398fb3c146"), "91bc3c398fb3c146");
    for (const text of ["", "0", "01", "91BC", "0x91", "91bc3c398fb3c146f", "m0"])
      assert.equal(parseClusterId(text), undefined, text);
  });
});

describe("a status", () => {
  test("reports alarms and leaves other errors out", () => {
    const { alarms, leader, dbSizeQuota } = memberStatus(
      create(StatusResponseSchema, {
        header: {},
        errors: [
          "etcdserver: no leader",
          "memberID:10501334649042878790 alarm:NOSPACE ",
          "memberID:1  alarm:CORRUPT", // servers since 3.7 put one or two spaces there, at random
        ],
      }),
    );
    assert.deepEqual(alarms, [
      { member: "91bc3c398fb3c146", type: "noSpace" },
      { member: "1", type: "corrupt" },
    ]);
    assert.deepEqual([leader, dbSizeQuota], [undefined, undefined]);
  });
});

describe("a status of a downgrade", () => {
  const downgradeIn = (downgradeInfo?: { enabled: boolean; targetVersion: string }): string | undefined =>
    memberStatus(create(StatusResponseSchema, { header: {}, ...(downgradeInfo && { downgradeInfo }) })).downgrade;

  test("tells its target while it is enabled, and nothing after it", () => {
    assert.equal(downgradeIn({ enabled: true, targetVersion: "3.5.0" }), "3.5.0");
    assert.equal(downgradeIn({ enabled: false, targetVersion: "" }), undefined);
    assert.equal(downgradeIn(), undefined);
  });
});

describe("the end of a prefix", () => {
  for (const [prefix, end] of [
    ["a/", "a0"],
    ["", "\0"],
  ] as const)
    test(`"${prefix}" is ${JSON.stringify(end)}`, () => {
      assert.equal(Buffer.from(prefixEnd(prefix)).toString(), end);
    });
});
