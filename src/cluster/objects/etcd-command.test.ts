import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type EtcdClusterSpec, problemsOf, withDefaults } from "../../api/etcd-cluster/etcd-cluster.ts";
import { variableOf } from "../../api/etcd-cluster/etcd-flags.ts";
import { flagsOf } from "../../etcd/versions/flags.ts";
import { version } from "../../etcd/versions/version.ts";
import { commandOf, environmentOf } from "./etcd-command.ts";
import { memberName } from "./names.ts";

const cluster = (spec: Partial<EtcdClusterSpec> = {}) =>
  withDefaults({ metadata: { name: "c", namespace: "ns", uid: "u" }, spec: { size: 3, version: "3.6.16", ...spec } });
const withArgs = (text: string, ...extraArgs: string[]) => cluster({ version: text, etcd: { extraArgs } });

const versions = ["3.2.13", "3.3.27", "3.4.23", "3.5.35", "3.6.16", "3.7.3"];
const metrics = { name: "ETCD_LISTEN_METRICS_URLS", value: "http://0.0.0.0:2381" };
const learners = { name: "ETCD_MAX_LEARNERS", value: "8" };
const member = memberName("c-a");
/** What the extra arguments add to the variables, as `NAME=value`. */
const added = (text: string, ...extraArgs: string[]): string[] =>
  environmentOf(withArgs(text, ...extraArgs), member)
    .filter(({ name }) => name !== metrics.name && name !== learners.name)
    .map(({ name, value }) => `${name}=${value}`);

describe("the command line", () => {
  for (const text of versions)
    test(`is the same for ${text} as for every other version`, () => {
      assert.deepEqual(commandOf(cluster({ version: text }), member), [
        "/usr/local/bin/etcd",
        "--data-dir=/var/etcd/data",
        "--name=c-a",
        "--initial-advertise-peer-urls=http://c-a.c.ns.svc:2380",
        "--listen-peer-urls=http://0.0.0.0:2380",
        "--listen-client-urls=http://0.0.0.0:2379",
        "--advertise-client-urls=http://c-a.c.ns.svc:2379",
        "--initial-cluster-token=u",
      ]);
      assert.deepEqual(environmentOf(cluster({ version: text }), member), [metrics, learners]);
    });

  test("holds only flags that every version has, whatever is asked for", () => {
    const everyFlag = [...new Set(versions.flatMap((text) => [...flagsOf(version(text))]))];
    const etcd = {
      quotaBackendBytes: 100,
      autoCompactionMode: "periodic" as const,
      autoCompactionRetention: "1h",
      snapshotCount: 5,
      extraArgs: everyFlag.map((flag) => `--${flag}=1`),
    };
    for (const text of versions) {
      const asked = cluster({ version: text, etcd });
      const flags = commandOf(asked, member)
        .slice(1)
        .map((argument) => argument.slice(2, argument.indexOf("=")));
      for (const other of versions)
        assert.deepEqual(
          flags.filter((flag) => !flagsOf(version(other)).has(flag)),
          [],
          `${text} on ${other}`,
        );
      const variables = new Set(environmentOf(asked, member).map(({ name }) => name));
      assert.deepEqual(
        flags.filter((flag) => variables.has(variableOf(flag))),
        [],
        "nothing is set twice",
      );
    }
  });

  test("has the settings that every version knows", () => {
    const etcd = {
      quotaBackendBytes: 100,
      autoCompactionRetention: "1",
      snapshotCount: 5,
      extraArgs: ["--enable-pprof"],
    };
    assert.deepEqual(commandOf(cluster({ etcd }), member).slice(8), [
      "--quota-backend-bytes=100",
      "--auto-compaction-retention=1",
      "--snapshot-count=5",
      "--enable-pprof=true",
    ]);
  });
});

describe("the variables", () => {
  test("have what some version lacks", () => {
    const etcd = { autoCompactionMode: "periodic" as const, autoCompactionRetention: "1h", extraArgs: ["--pre-vote"] };
    assert.deepEqual(environmentOf(cluster({ etcd }), member), [
      metrics,
      learners,
      { name: "ETCD_AUTO_COMPACTION_MODE", value: "periodic" },
      { name: "ETCD_PRE_VOTE", value: "true" },
    ]);
  });

  for (const [what, arg, rows] of [
    [
      "a flag that lost its prefix",
      "--corrupt-check-time=1h",
      {
        "3.3.27": ["ETCD_EXPERIMENTAL_CORRUPT_CHECK_TIME=1h"],
        "3.5.35": ["ETCD_EXPERIMENTAL_CORRUPT_CHECK_TIME=1h"],
        "3.6.16": ["ETCD_CORRUPT_CHECK_TIME=1h"],
        "3.7.3": ["ETCD_CORRUPT_CHECK_TIME=1h"],
      },
    ],
    [
      "a flag whose names no version has both of",
      "--experimental-backend-bbolt-freelist-type=map",
      {
        "3.4.23": ["ETCD_EXPERIMENTAL_BACKEND_BBOLT_FREELIST_TYPE=map", "ETCD_BACKEND_BBOLT_FREELIST_TYPE=map"],
        "3.5.35": ["ETCD_BACKEND_BBOLT_FREELIST_TYPE=map", "ETCD_EXPERIMENTAL_BACKEND_BBOLT_FREELIST_TYPE=map"],
      },
    ],
    [
      "a flag that became a feature gate",
      "--experimental-initial-corrupt-check",
      {
        "3.5.35": ["ETCD_EXPERIMENTAL_INITIAL_CORRUPT_CHECK=true"],
        "3.6.16": ["ETCD_FEATURE_GATES=InitialCorruptCheck=true"],
        "3.7.3": ["ETCD_FEATURE_GATES=InitialCorruptCheck=true"],
      },
    ],
    [
      "feature gates",
      "--feature-gates=LeaseCheckpoint=true,InitialCorruptCheck=false",
      {
        "3.5.35": ["ETCD_EXPERIMENTAL_ENABLE_LEASE_CHECKPOINT=true", "ETCD_EXPERIMENTAL_INITIAL_CORRUPT_CHECK=false"],
        "3.6.16": ["ETCD_FEATURE_GATES=LeaseCheckpoint=true,InitialCorruptCheck=false"],
      },
    ],
  ] satisfies [string, string, Record<string, string[]>][])
    for (const [text, wanted] of Object.entries(rows))
      test(`spell ${what} as etcd ${text} has it`, () => {
        assert.deepEqual(added(text, arg), wanted);
        assert.deepEqual(problemsOf(withArgs(text, arg)), []);
      });

  test("give a setting once: the last argument wins, as on a command line", () => {
    const twice = ["--experimental-corrupt-check-time=1h", "--corrupt-check-time=2h"];
    assert.deepEqual(added("3.6.16", ...twice), ["ETCD_CORRUPT_CHECK_TIME=2h"]);
    const gates = ["--feature-gates=LeaseCheckpoint=true", "--experimental-enable-lease-checkpoint=false"];
    assert.deepEqual(added("3.6.16", ...gates), ["ETCD_FEATURE_GATES=LeaseCheckpoint=false"]);
  });

  test("leave out what the version does not have: an unknown gate would end it", () => {
    assert.deepEqual(added("3.6.16", "--feature-gates=PriorityRequest=true", "--enable-v2"), []);
    assert.deepEqual(added("3.7.3", "--feature-gates=PriorityRequest=true"), [
      "ETCD_FEATURE_GATES=PriorityRequest=true",
    ]);
  });
});
