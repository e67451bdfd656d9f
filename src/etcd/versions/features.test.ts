import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type EtcdFeature, has, learnersAdmitted, probesOf } from "./features.ts";
import { version } from "./version.ts";

describe("what a version can do", () => {
  const rows: readonly (readonly [EtcdFeature, readonly string[], readonly string[]])[] = [
    ["learners", ["3.4.0", "3.7.3"], ["3.3.27", "3.2.13"]],
    ["maxLearners", ["3.6.0", "3.7.3"], ["3.5.35", "3.4.23"]],
    ["metricsListener", ["3.3.0", "3.4.23"], ["3.2.32"]],
    ["livezReadyz", ["3.4.29", "3.5.11", "3.6.0"], ["3.4.28", "3.5.10", "3.5.0"]],
    ["addWithMinorityDown", ["3.5.30", "3.6.11", "3.7.0"], ["3.5.29", "3.6.10", "3.4.37"]],
  ];
  for (const [feature, with_, without] of rows)
    test(`${feature} from the right patch on, in each minor`, () => {
      for (const text of with_) assert.equal(has(version(text), feature), true, text);
      for (const text of without) assert.equal(has(version(text), feature), false, text);
    });

  const admitted: readonly (readonly [string, number | undefined, number])[] = [
    ["3.2.13", undefined, 0],
    ["3.3.27", 8, 0],
    ["3.4.23", undefined, 1],
    ["3.5.35", 8, 1],
    ["3.6.0", undefined, 1],
    ["3.6.16", 8, 8],
    ["3.7.3", 3, 3],
  ];
  for (const [text, setting, wanted] of admitted)
    test(`etcd ${text} started with max-learners ${setting ?? "unset"} admits ${wanted} learners`, () =>
      assert.equal(learnersAdmitted(version(text), setting), wanted));

  test("a liveness probe never reads, neither through the quorum nor from the database, which a defragmentation locks", () => {
    for (const text of ["3.5.10", "3.4.23", "3.3.27", "3.2.13"])
      assert.deepEqual(probesOf(version(text)).liveness, { on: "clientPort" }, text);
    for (const text of ["3.7.3", "3.6.0", "3.5.35", "3.4.29"]) {
      const path = "/livez?exclude=serializable_read";
      assert.deepEqual(probesOf(version(text)).liveness, { on: "metrics", path }, text);
    }
  });

  for (const [text, path] of [
    ["3.2.13", "/version"],
    ["3.3.27", "/version"],
    ["3.4.23", "/version"],
    ["3.5.10", "/health?exclude=NOSPACE&exclude=CORRUPT"],
    ["3.4.29", "/readyz?exclude=data_corruption"],
    ["3.5.35", "/readyz?exclude=data_corruption"],
    ["3.6.16", "/readyz?exclude=data_corruption"],
    ["3.7.3", "/readyz?exclude=data_corruption"],
  ] as const)
    test(`the readiness of etcd ${text} is asked for where clients connect, and no alarm takes it away`, () =>
      assert.deepEqual(probesOf(version(text)).readiness, { on: "client", path }));
});
