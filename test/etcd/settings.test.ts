// What src/etcd/versions/flags.ts and the pods built on it assume about flags, variables and feature gates, asked of
// real servers.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { describe, test } from "node:test";
import { type EtcdVersion as Built, etcdVersions } from "../../lab/build/etcd.ts";
import { withDefaults } from "../../src/api/etcd-cluster/etcd-cluster.ts";
import { variableOf } from "../../src/api/etcd-cluster/etcd-flags.ts";
import { environmentOf } from "../../src/cluster/objects/etcd-command.ts";
import { memberName } from "../../src/cluster/objects/names.ts";
import { flagsOf, hasFlag, hasSetting, type Spelling, spellingsOf } from "../../src/etcd/versions/flags.ts";
import { isAtLeast, version } from "../../src/etcd/versions/version.ts";
import { type Row, rowsOf, triedVersions } from "../support/matrix.ts";
import { etcdProgram, RealEtcd } from "./real-etcd.ts";

/** A value for each setting that has several names. */
const samples: Readonly<Record<string, string>> = {
  "backend-bbolt-freelist-type": "map",
  "bootstrap-defrag-threshold-megabytes": "100",
  "compact-hash-check-time": "2m",
  "compaction-batch-limit": "500",
  "compaction-sleep-interval": "20ms",
  "corrupt-check-time": "1h",
  "distributed-tracing-address": "127.0.0.1:4317",
  "distributed-tracing-instance-id": "m0",
  "distributed-tracing-sampling-rate": "1",
  "distributed-tracing-service-name": "test",
  "downgrade-check-time": "6s",
  "enable-distributed-tracing": "false",
  "memory-mlock": "false",
  "peer-skip-client-san-verification": "true",
  "snapshot-catchup-entries": "4000",
  "warning-apply-duration": "200ms",
  "warning-unary-request-duration": "400ms",
  "watch-progress-notify-interval": "5m",
  CompactHashCheck: "true",
  InitialCorruptCheck: "true",
  LeaseCheckpoint: "true",
  LeaseCheckpointPersist: "true",
  StopGRPCServiceOnDefrag: "true",
  TxnModeWriteWithSharedBuffer: "false",
};

interface Sample {
  readonly spellings: readonly Spelling[];
  readonly value: string;
}

const nameOf = (spelling: Spelling): string => (spelling.t === "flag" ? spelling.name : spelling.gate);
const flagOf = (spelling: Spelling): string => (spelling.t === "flag" ? spelling.name : "feature-gates");
const everyFlag = new Set(etcdVersions.flatMap((built) => [...flagsOf(version(built))]));

/** Every setting with several names; its newest name comes first. */
const renamed: readonly Sample[] = [
  ...new Map(
    [...everyFlag]
      .map((name) => spellingsOf({ t: "flag", name }))
      .filter(({ length }) => length > 1)
      .map((spellings) => [nameOf(spellings[0]!), spellings] as const),
  ),
].map(([name, spellings]) => ({ spellings, value: samples[name] ?? assert.fail(`no sample of ${name}`) }));

/** The output of an etcd that is to end by itself, and undefined when it does not. */
async function lastWords(
  built: Built,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string | undefined> {
  const program = await etcdProgram(built);
  const folder = await mkdtemp(path.join(tmpdir(), "etcd-settings-"));
  const nowhere = "http://127.0.0.1:0";
  const listen = [
    `--listen-client-urls=${nowhere}`,
    `--advertise-client-urls=${nowhere}`,
    `--listen-peer-urls=${nowhere}`,
  ];
  try {
    return await new Promise((resolve) => {
      execFile(
        program,
        [`--data-dir=${folder}`, ...listen, ...args],
        { env: { ...process.env, ...env }, timeout: 120_000, killSignal: "SIGKILL" },
        (error, stdout, stderr) => resolve(error?.killed === true ? undefined : stdout + stderr),
      );
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function podsEnvironment(built: Built): Record<string, string> {
  const extraArgs = renamed
    .filter(({ spellings }) => spellings.some((spelling) => hasSetting(version(built), spelling)))
    .map(({ spellings, value }) => {
      const [newest] = spellings;
      return newest?.t === "featureGate" ? `--feature-gates=${newest.gate}=${value}` : `--${newest?.name}=${value}`;
    });
  const cluster = withDefaults({
    metadata: { name: "c", namespace: "ns", uid: "u" },
    spec: {
      size: 3,
      version: built,
      etcd: { extraArgs, autoCompactionMode: "periodic", autoCompactionRetention: "1h" },
    },
  });
  const entries = environmentOf(cluster, memberName("m0")).map(({ name, value }) => [name, value] as const);
  // Several members run on this machine.
  return Object.fromEntries(entries.filter(([name]) => name !== "ETCD_LISTEN_METRICS_URLS"));
}

function variablesUsed(log: string): ReadonlySet<string> {
  const lines = log.matchAll(/recognized and used environment variable.*?(ETCD_[A-Z0-9_]+)/g);
  return new Set([...lines].map(([, name]) => name ?? ""));
}

const newestOfMinor = etcdVersions.filter((built) => built !== "3.5.21");
/** The sample: the oldest, and where settings have other names. */
const pairs: readonly (Row & { readonly made: Built; readonly runs: Built })[] = newestOfMinor.flatMap((made) =>
  newestOfMinor
    .map((runs) => ({ made, runs, minors: [version(made).minor, version(runs).minor] }))
    .filter(({ minors: [of = 0, on = 0] }) => Math.abs(of - on) <= 1)
    .map(({ minors, ...pair }) => ({
      ...pair,
      onlyInMatrix: pair.made === pair.runs ? minors[0] !== 2 && minors[0] !== 7 : !minors.includes(6),
    })),
);

describe("the variables of a pod with every setting that was renamed", { concurrency: 2 }, () => {
  for (const { made, runs } of rowsOf(pairs))
    test(`made for ${made} let ${runs} serve`, async () => {
      const env = podsEnvironment(made);
      await using etcd = await RealEtcd.start(runs, { env });
      assert.equal((await etcd.member("m0").health()).t, "healthy");
      const used = variablesUsed(etcd.logOf("m0"));
      const v = version(runs);
      const wanted = Object.keys(env).filter((name) => [...flagsOf(v)].some((flag) => variableOf(flag) === name));
      assert.deepEqual(
        wanted.filter((name) => !used.has(name)),
        [],
        "known variables are obeyed",
      );
      // 3.6 is given the names that 3.7 has; 3.5 has only the old ones.
      if (version(made).minor === 6 && v.minor === 5) return;
      const lost = renamed.filter(
        ({ spellings }) =>
          spellings.some((spelling) => hasSetting(version(made), spelling) && hasSetting(v, spelling)) &&
          !spellings.some((spelling) => used.has(variableOf(flagOf(spelling)))),
      );
      assert.deepEqual(
        lost.map(({ spellings }) => spellings),
        [],
        "settings survive",
      );
    });
});

for (const built of triedVersions)
  describe(`etcd ${built}`, () => {
    const v = version(built);
    const takes = (spelling: Spelling): boolean => hasFlag(v, flagOf(spelling)) && hasSetting(v, spelling);

    for (const { spellings, value } of renamed.filter((sample) => sample.spellings.filter(takes).length > 1))
      test(`ends when it is given both ${spellings.map(nameOf).join(" and ")}`, async () => {
        const env = Object.fromEntries(
          spellings.map((spelling) => [
            variableOf(flagOf(spelling)),
            spelling.t === "flag" ? value : `${spelling.gate}=${value}`,
          ]),
        );
        assert.match((await lastWords(built, [], env)) ?? "it runs", /at the same time|flags are set/);
      });

    if (hasFlag(v, "feature-gates"))
      test("has the feature gates that the table says, and ends when it is given others", async () => {
        const gates = [
          ...renamed
            .flatMap(({ spellings }) => spellings)
            .flatMap((one) => (one.t === "featureGate" ? [one.gate] : [])),
          "SetMemberLocalAddr",
          "FastLeaseKeepAlive",
          "PriorityRequest",
        ];
        const wrong: string[] = [];
        for (const gate of gates) {
          const said = await lastWords(built, [`--feature-gates=${gate}=true`, "--no-such-flag"]);
          const has = !/unrecognized feature gate/.test(said ?? "");
          if (has !== hasSetting(v, { t: "featureGate", gate })) wrong.push(gate);
        }
        assert.deepEqual(wrong, []);
        const said = await lastWords(built, [], { ETCD_FEATURE_GATES: "NoSuchGate=true" });
        assert.match(said ?? "it runs", /unrecognized feature gate/);
      });

    test("given a setting as a flag and as a variable ends from 3.4 on; before, the flag wins", async () => {
      const env = { ETCD_HEARTBEAT_INTERVAL: "0" };
      const flags = ["--heartbeat-interval=50"];
      if (isAtLeast(v, version("3.4.0"))) {
        assert.match((await lastWords(built, flags, env)) ?? "it runs", /shadowed by corresponding command-line flag/);
        return;
      }
      await using etcd = await RealEtcd.start(built, { flags, env });
      assert.equal((await etcd.member("m0").health()).t, "healthy");
    });

    // A pod's variable that refers to an annotation is empty when the annotation is gone.
    test("takes empty variables for none: without data it forms a cluster of its own", async () => {
      const env = { ETCD_INITIAL_CLUSTER: "", ETCD_INITIAL_CLUSTER_STATE: "" };
      await using etcd = await RealEtcd.start(built, { env, initialCluster: "byVariables" });
      assert.equal((await etcd.member("m0").memberList({ linearizable: true })).members.length, 1);
    });

    test("without data joins nobody and ends when it is to join and is given no other member", async () => {
      const env = { ETCD_INITIAL_CLUSTER: "", ETCD_INITIAL_CLUSTER_STATE: "existing" };
      const said = await lastWords(built, [], env);
      assert.match(said ?? "it runs", /could not retrieve cluster information/);
    });
  });
