// A world as unkind as the real one: what stands around a cluster is lost, changed and brought back by people and their tools,
// and views of it are old. Each history is short, always the same, and named by what must not come of it.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Happening } from "./testing/happenings.ts";
import { type History, Play, type Step } from "./testing/history.ts";

const step = (happening: Happening, ms = 0): Step => ({ happening, ms, operator: undefined });

const base: History = {
  seed: 0,
  version: "3.6.16",
  size: 3,
  fromRest: true,
  oldFlags: false,
  volumes: true,
  tls: false,
  copies: true,
  steps: [],
};

/** `never`: words of an event that would be untrue. */
async function survives(history: Partial<History>, never = /(?!)/): Promise<void> {
  const whole = { ...base, ...history };
  await using played = await Play.of(whole, true);
  await played.play(whole);
  await played.comeToRest();
  assert.ok(!played.stage.watch.isDoomed(), await played.stage.describe());
  const untrue = played.stage.recorded.filter(({ note }) => never.test(note ?? ""));
  assert.deepEqual(untrue, []);
}

const restored = [step({ t: "backUp" }, 10_000), step({ t: "restore" }, 60_000)];

describe("a cluster that was brought back to a backup", () => {
  test("is not stopped again by a view from the middle of that", () =>
    survives({
      steps: [
        step({ t: "backUp" }, 10_000),
        step({ t: "restore" }, 2_500),
        step({ t: "pastRestart", of: ["clusters"], agoMs: 40_000 }, 30_000),
      ],
    }));

  test("gets no pods on the volumes of the cluster before, whatever is seen of clusters and claims", () =>
    survives({
      steps: [
        step({ t: "backUp" }, 10_000),
        step({ t: "restore" }),
        step({ t: "pastRestart", of: ["clusters", "claims"], agoMs: 40_000 }, 30_000),
      ],
    }));

  test("is not brought back to it when its EtcdCluster is deleted and applied again", () =>
    survives({ steps: [...restored, step({ t: "reapply" }, 60_000)] }));

  test("was saved first where the spec has volumes and the members have none", () =>
    survives({
      volumes: false,
      steps: [
        step({ t: "backUp" }, 10_000),
        step({ t: "strategy", strategy: "OnDelete" }),
        step({ t: "volumes", are: "wanted" }, 2_000),
        step({ t: "restore" }, 60_000),
      ],
    }));
});

describe("claims", () => {
  test("that are all deleted under members that serve cost no copy", () =>
    survives({ copies: false, steps: [step({ t: "deleteClaims" }, 60_000)] }));

  test("that are brought into another namespace do not disturb the members of the first", () =>
    survives({ steps: [step({ t: "clone" }, 60_000)] }));
});

describe("a webhook that changes pods", () => {
  for (const does of ["mirror", "digest", "sidecar", "tolerate", "label", "secure"] as const)
    test(`(${does}) is no reason to change members again and again`, () =>
      survives({
        copies: false,
        volumes: false,
        fromRest: false,
        steps: [step({ t: "webhook", does }, 60_000), step({ t: "version", to: "3.6.16" }, 60_000)],
      }));
});

const months = (count: number): Step[] => Array.from({ length: count }, () => step({ t: "days", number: 30 }, 120_000));
const certified = { copies: false, tls: true, volumes: false };

describe("certificates", () => {
  test("have the names under which members are listed, whatever domain is asked for by now", () =>
    survives({
      ...certified,
      volumes: true,
      fromRest: false,
      steps: [step({ t: "domain", to: ".corp.example" }, 30_000), step({ t: "domain", to: "" }, 120_000), ...months(3)],
    }));

  for (const held of ["pause", "spoil"] as const)
    test(`are renewed where ${held === "pause" ? "the cluster is paused" : "the spec is wrong"}`, () =>
      survives({
        ...certified,
        steps: [
          step(held === "pause" ? { t: "pause", for: "good" } : { t: "spoil", how: "version" }, 1_000),
          ...months(4),
        ],
      }));

  test("let a cluster grow whose etcd knows no learners", () =>
    survives({ ...certified, version: "3.2.32", steps: [step({ t: "scale", size: 4 }, 30_000)] }));

  test("that are all lost are made again, and members come together", () =>
    survives({ ...certified, steps: [step({ t: "loseSecrets" }, 300_000)] }));

  test("that a backup tool brings back after other CAs were made do not keep members apart", () =>
    survives({
      ...certified,
      steps: [
        step({ t: "keepSecrets" }),
        step({ t: "rotate", what: 1 }, 900_000),
        step({ t: "bringSecretsBack" }, 300_000),
      ],
    }));

  test("whose CAs are replaced while no member may be changed do not keep members apart", () =>
    survives({
      ...certified,
      steps: [step({ t: "strategy", strategy: "OnDelete" }), step({ t: "rotate", what: 1 }, 300_000), ...months(4)],
    }));

  for (const who of [0, 1, 2, 3, 4, 5])
    test(`one of which is lost (${who}) are renewed before they expire`, () =>
      survives({ ...certified, steps: [...months(1), step({ t: "loseSecret", who }, 120_000), ...months(4)] }));

  for (const what of ["key", "crt"] as const)
    for (const who of [0, 1, 2, 3, 4, 5])
      test(`of which a ${what} is another's (${who}) are corrected`, () =>
        survives({ ...certified, steps: [step({ t: "damageSecret", who, what }, 120_000), ...months(3)] }));

  test("are written without wiping what others wrote on their Secrets", () =>
    survives({ ...certified, steps: [step({ t: "writeOnSecrets" }), ...months(3)] }));
});

describe("a database", () => {
  for (const percent of [97, 101])
    test(`that is full to ${percent} % gets the larger quota that is asked for`, () =>
      survives({
        copies: false,
        volumes: false,
        steps: [
          step({ t: "quotaBytes", to: 3 * 1024 ** 3 }, 60_000),
          step({ t: "fill", percent }, 10_000),
          step({ t: "quotaBytes", to: 8 * 1024 ** 3 }, 120_000),
        ],
      }));
});

describe("nodes", () => {
  test("that reject the pod that tries an image end no update", () =>
    survives(
      {
        copies: false,
        volumes: false,
        steps: [
          step({ t: "full", are: true }),
          step({ t: "version", to: "3.7.3" }, 60_000),
          step({ t: "full", are: false }, 300_000),
        ],
      },
      /cannot be used on/,
    ));
});
