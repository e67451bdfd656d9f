import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type EtcdFeature, has, learnersAtOnce, probesOf } from "./features.ts";
import { hasFlag, spell } from "./flags.ts";
import { stepBetween } from "./steps.ts";
import { version } from "./version.ts";

describe("what a version can do", () => {
  const rows: readonly (readonly [EtcdFeature, readonly string[], readonly string[]])[] = [
    ["learners", ["3.4.0", "3.7.3"], ["3.3.27", "3.2.13"]],
    ["maxLearners", ["3.6.0", "3.7.3"], ["3.5.35", "3.4.23"]],
    ["metricsListener", ["3.3.0", "3.4.23"], ["3.2.32"]],
    ["livezReadyz", ["3.4.29", "3.5.11", "3.6.0"], ["3.4.28", "3.5.10", "3.5.0"]],
    ["readyzKnowsLearners", ["3.5.19", "3.6.0"], ["3.4.37", "3.5.18"]],
    ["addWithMinorityDown", ["3.5.30", "3.6.11", "3.7.0"], ["3.5.29", "3.6.10", "3.4.37"]],
    ["distrolessImage", ["3.4.23", "3.5.7", "3.6.0"], ["3.4.22", "3.5.6", "3.2.13"]],
  ];
  for (const [feature, with_, without] of rows)
    test(`${feature} from the right patch on, in each minor`, () => {
      for (const text of with_) assert.equal(has(version(text), feature), true, text);
      for (const text of without) assert.equal(has(version(text), feature), false, text);
    });

  test("as many learners at once as the flag says, where there is the flag", () => {
    assert.equal(learnersAtOnce(version("3.7.3"), 3), 3);
    assert.equal(learnersAtOnce(version("3.5.35"), 3), 1);
    assert.equal(learnersAtOnce(version("3.2.13"), 3), 0);
  });

  test("a liveness probe never asks the quorum", () => {
    for (const text of ["3.7.3", "3.6.0", "3.5.35", "3.5.10", "3.4.29", "3.4.23", "3.3.27", "3.2.13"]) {
      const { liveness } = probesOf(version(text));
      assert.ok(
        liveness.on === "clientPort" || liveness.path === "/livez" || liveness.path.includes("serializable=true"),
        text,
      );
    }
    assert.deepEqual(probesOf(version("3.2.13")).readiness, { on: "client", path: "/health" });
    assert.deepEqual(probesOf(version("3.6.16")).readiness, { on: "metrics", path: "/readyz" });
  });
});

describe("the flags of a version", () => {
  test("come and go with the minors", () => {
    for (const [flag, with_, without] of [
      ["max-learners", ["3.6.0", "3.7.3"], ["3.5.35"]],
      ["feature-gates", ["3.6.0"], ["3.5.35"]],
      ["enable-v2", ["3.2.13", "3.5.35"], ["3.6.0"]],
      ["listen-metrics-urls", ["3.3.0", "3.7.3"], ["3.2.13"]],
      ["experimental-corrupt-check-time", ["3.3.0", "3.6.16"], ["3.7.0"]],
      ["ca-file", ["3.3.0"], ["3.4.0"]],
    ] as const) {
      for (const text of with_) assert.equal(hasFlag(version(text), flag), true, `${flag} ${text}`);
      for (const text of without) assert.equal(hasFlag(version(text), flag), false, `${flag} ${text}`);
    }
    assert.equal(hasFlag(version("3.9.0"), "max-learners"), true, "a newer minor counts as the newest known");
    assert.throws(() => hasFlag(version("3.1.0"), "name"), RangeError);
  });

  test("are spelled as the version spells them", () => {
    const spelled = (text: string, flag: string) => spell(version(text), flag);
    assert.deepEqual(spelled("3.5.35", "corrupt-check-time"), { t: "flag", name: "experimental-corrupt-check-time" });
    assert.deepEqual(spelled("3.6.16", "experimental-corrupt-check-time"), { t: "flag", name: "corrupt-check-time" });
    const gate = { t: "featureGate", gate: "InitialCorruptCheck" };
    assert.deepEqual(spelled("3.7.3", "experimental-initial-corrupt-check"), gate);
    assert.deepEqual(spelled("3.7.3", "initial-corrupt-check"), gate);
    assert.deepEqual(spelled("3.5.35", "initial-corrupt-check"), {
      t: "flag",
      name: "experimental-initial-corrupt-check",
    });
    assert.deepEqual(spelled("3.7.3", "enable-v2"), { t: "unknown" });
  });
});

describe("a step to another version", () => {
  const rows = [
    ["3.5.21", "3.5.21", "same"],
    ["3.5.21", "3.5.35", "patch"],
    ["3.5.35", "3.5.21", "patch"],
    ["3.4.23", "3.5.35", "upgrade"],
    ["3.2.13", "3.3.27", "upgrade"],
    ["3.5.26", "3.6.16", "upgrade"],
    ["3.5.25", "3.6.16", "patchTooOld"],
    ["3.6.11", "3.7.3", "upgrade"],
    ["3.6.10", "3.7.3", "patchTooOld"],
    ["3.5.35", "3.7.3", "skipsMinor"],
    ["3.7.3", "3.6.16", "downgrade"],
    ["3.6.16", "3.5.35", "downgrade"],
    ["3.7.3", "3.5.35", "skipsMinor"],
    ["3.5.35", "3.4.23", "downgradeUnsupported"],
    ["3.6.16", "4.0.0", "otherMajor"],
  ] as const;
  for (const [from, to, wanted] of rows)
    test(`from ${from} to ${to} is ${wanted}`, () => {
      const step = stepBetween(version(from), version(to));
      assert.equal(step.t === "refused" ? step.because : step.t, wanted);
      if (step.t === "refused") assert.match(step.advice, /\.$/);
    });
});
