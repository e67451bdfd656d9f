// Whether a pod can run another version as it is, by what its etcd was started with.
import assert from "node:assert/strict";
import { test } from "node:test";
import { version } from "../../etcd/versions/version.ts";
import { settingsOf } from "../objects/settings.ts";
import type { MemberPod } from "../observe/world.ts";
import { sampleCluster, samplePod } from "../testing/sample-world.ts";
import { obstacleInPlace } from "./in-place.ts";

/** The person's own arguments, as the pod was made from them. */
const extra = (...extraArgs: string[]): Partial<MemberPod> => ({
  madeFrom: settingsOf(sampleCluster({ spec: { etcd: { extraArgs } } }).spec),
});
const oldFlag = "experimental-initial-corrupt-check";
const changedFrom = (version: string): Partial<MemberPod> => ({
  changedFrom: { version, image: "registry.example/etcd", restarts: 0 },
});

const table: [string, string, string, Partial<MemberPod>, RegExp | undefined][] = [
  ["with nothing special runs the next patch", "3.6.15", "3.6.16", {}, undefined],
  ["with nothing special runs the next minor", "3.6.16", "3.7.3", {}, undefined],
  ["of 3.4 is replaced by one of 3.5, because of its data", "3.4.23", "3.5.35", {}, /data of 3\.4/],
  ["of 3.5 that was changed from 3.4 is, too", "3.5.35", "3.5.35", changedFrom("3.4.23"), /data of 3\.4/],
  ["of 3.5 runs another 3.5", "3.5.21", "3.5.35", {}, undefined],
  ["of 3.6 goes back to 3.5 with its data", "3.6.16", "3.5.35", {}, undefined],
  ["of which nobody knows the version is tried", "", "3.5.35", {}, undefined],
  ["with a flag that both know runs the other", "3.5.35", "3.6.16", { flags: ["name"] }, undefined],
  [
    "with a flag that the other lacks does not run it",
    "3.5.35",
    "3.6.16",
    { flags: ["name", "enable-v2"] },
    /--enable-v2/,
  ],
  [
    "with a feature gate that the other lacks does not run it",
    "3.7.3",
    "3.6.16",
    { featureGates: ["LeaseCheckpoint", "FastLeaseKeepAlive"] },
    /feature gate FastLeaseKeepAlive/,
  ],
  [
    "with a feature gate runs an etcd that knows of none, which does not read them",
    "3.6.16",
    "3.5.35",
    { featureGates: ["SetMemberLocalAddr"] },
    undefined,
  ],
  [
    "whose setting has another name in the other would lose it",
    "3.6.16",
    "3.7.3",
    { ...extra(`--${oldFlag}=true`), variables: ["ETCD_EXPERIMENTAL_INITIAL_CORRUPT_CHECK"] },
    /would not see its setting/,
  ],
  [
    "whose setting the other knows by a name that it has, too, keeps it",
    "3.6.16",
    "3.7.3",
    { ...extra(`--${oldFlag}=true`), featureGates: ["InitialCorruptCheck"] },
    undefined,
  ],
  [
    "whose setting is a variable of the same name keeps it",
    "3.6.16",
    "3.7.3",
    { ...extra("--max-txn-ops=9"), variables: ["ETCD_MAX_TXN_OPS"] },
    undefined,
  ],
  [
    "whose setting is an argument of the same name keeps it",
    "3.6.16",
    "3.7.3",
    { ...extra("--max-txn-ops=9"), flags: ["max-txn-ops"] },
    undefined,
  ],
  [
    "whose setting the other does not have loses nothing",
    "3.6.16",
    "3.5.35",
    extra("--feature-gates=SetMemberLocalAddr=true"),
    undefined,
  ],
  [
    "that is asked at /readyz runs an etcd that has it",
    "3.5.21",
    "3.5.35",
    { probes: ["/livez?exclude=serializable_read", "/readyz?exclude=data_corruption"] },
    undefined,
  ],
  [
    "that is asked at /readyz does not run one without it",
    "3.5.35",
    "3.5.10",
    { probes: ["/readyz"] },
    /does not answer/,
  ],
  [
    "that is asked at /livez does not run one without it",
    "3.5.35",
    "3.5.10",
    { probes: ["/health", "/livez"] },
    /does not answer/,
  ],
  [
    "that is asked at /readyz, without some checks, does not run one without it",
    "3.5.35",
    "3.5.10",
    { probes: ["/readyz?exclude=data_corruption"] },
    /does not answer/,
  ],
  ["that is asked at /health runs one without the others", "3.5.35", "3.5.10", { probes: ["/health"] }, undefined],
  ["whose probes need a shell runs an image that has one", "3.4.10", "3.4.22", { probes: ["/bin/sh"] }, undefined],
  [
    "whose probes need a shell does not run one without",
    "3.4.10",
    "3.4.23",
    { probes: ["/health", "/bin/sh"] },
    /no shell/,
  ],
  ["whose probes need none runs an image without a shell", "3.4.10", "3.4.23", { probes: ["/health"] }, undefined],
];
for (const [what, from, to, differs, wanted] of table)
  test(`a pod ${what}`, () => {
    const is = obstacleInPlace(samplePod("demo-a", differs, from), version(to));
    if (wanted === undefined) assert.equal(is, undefined);
    else assert.match(is ?? "", wanted);
  });
