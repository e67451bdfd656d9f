// The health checks for Argo CD, run by a real Lua of the version that Argo CD has: a state of each object, and what is said
// of it.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import * as path from "node:path";
import { before, describe, test } from "node:test";
import { parse } from "yaml";
import { readyReasons } from "../../src/cluster/report/ready-reasons.ts";
import { ensurePackages } from "../../lab/build/packages.ts";
import { run } from "../../lab/machine/command.ts";
import { root } from "../suites.ts";

type Kind = "EtcdCluster" | "EtcdBackup" | "EtcdRestore";
interface Health {
  status: string;
  message: string;
}

before(ensurePackages);

const scriptOf = (kind: Kind): Promise<string> =>
  readFile(path.join(root, `install/argocd/${kind}/health.lua`), "utf8");

/** As a table of Lua, which has no null: Argo CD leaves such fields out, too. */
function luaOf(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map(luaOf).join(", ")}}`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).filter(([, inside]) => inside !== null && inside !== undefined);
  return `{${fields.map(([name, inside]) => `[${JSON.stringify(name)}] = ${luaOf(inside)}`).join(", ")}}`;
}

async function healthOf(kind: Kind, object: object): Promise<Health> {
  const program = `local obj = ${luaOf({ metadata: { generation: 2 }, spec: {}, ...object })}
local function health()
${await scriptOf(kind)}
end
local found = health()
io.write(found.status, "\\n", found.message or "")`;
  const [status = "", message = ""] = (await run("lua5.1", ["-"], { input: program })).split("\n");
  return { status, message };
}

const ready = (status: string, reason: string, more: object = {}): object => ({
  status: {
    observedGeneration: 2,
    phase: "Running",
    conditions: [
      { type: "Available", status: "True", reason: "Cluster available", message: "" },
      { type: "Ready", status, reason, message: `says ${reason}` },
    ],
    ...more,
  },
});

const verdicts = {
  progressing: "Progressing",
  degraded: "Degraded",
  stalled: "Degraded",
  suspended: "Suspended",
} as const;

describe("EtcdCluster", () => {
  test("an object that the operator has not seen is progressing", async () => {
    assert.equal((await healthOf("EtcdCluster", {})).status, "Progressing");
  });

  test("one whose members all serve is healthy", async () => {
    assert.deepEqual(await healthOf("EtcdCluster", ready("True", "AllMembersReady")), {
      status: "Healthy",
      message: "says AllMembersReady",
    });
  });

  test("one whose last edit was not seen yet is progressing, whatever was said before", async () => {
    const { status } = await healthOf("EtcdCluster", ready("True", "AllMembersReady", { observedGeneration: 1 }));
    assert.equal(status, "Progressing");
  });

  test("a paused one is suspended", async () => {
    const object = { ...ready("True", "AllMembersReady"), spec: { paused: true } };
    assert.equal((await healthOf("EtcdCluster", object)).status, "Suspended");
  });

  test("one whose data is lost, or that is stalled, is degraded", async () => {
    const lost = await healthOf("EtcdCluster", ready("False", "Unheard", { phase: "Failed" }));
    const conditions = [{ type: "Stalled", status: "True", reason: "InvalidSpec", message: "correct it" }];
    const stalled = await healthOf("EtcdCluster", ready("False", "Creating", { conditions }));
    assert.deepEqual([lost.status, stalled], ["Degraded", { status: "Degraded", message: "correct it" }]);
  });

  for (const [reason, meaning] of Object.entries(readyReasons))
    test(`one that is not ready because of ${reason} is ${meaning}`, async () => {
      assert.deepEqual(await healthOf("EtcdCluster", ready("False", reason)), {
        status: verdicts[meaning],
        message: `says ${reason}`,
      });
    });
});

describe("EtcdBackup", () => {
  const backup = (status: object): Promise<Health> =>
    healthOf("EtcdBackup", { status: { observedGeneration: 2, message: "now", ...status } });
  const cases: readonly (readonly [string, object, string])[] = [
    ["a first run that is under way is progressing", { phase: "Running" }, "Progressing"],
    ["a series between two runs is healthy", { phase: "Scheduled" }, "Healthy"],
    ["a series stays healthy during a run", { phase: "Running", lastBackup: { path: "p" } }, "Healthy"],
    ["a run that succeeded is healthy", { phase: "Succeeded" }, "Healthy"],
    ["a run that failed is degraded", { phase: "Failed", Reason: "no such bucket" }, "Degraded"],
    [
      "a series that cannot run is degraded, though an earlier run succeeded",
      {
        phase: "Scheduled",
        lastBackup: { path: "p" },
        conditions: [{ type: "Problem", status: "True", message: "m" }],
      },
      "Degraded",
    ],
    ["a suspended series is suspended", { phase: "Suspended", lastBackup: { path: "p" } }, "Suspended"],
    [
      "one whose last edit was not seen yet is progressing",
      { phase: "Succeeded", observedGeneration: 1 },
      "Progressing",
    ],
  ];
  for (const [name, status, expected] of cases)
    test(name, async () => {
      assert.equal((await backup(status)).status, expected);
    });
});

describe("EtcdRestore", () => {
  const cases: readonly (readonly [string, object, string])[] = [
    ["one that has not begun is progressing", { message: "waits" }, "Progressing"],
    ["one that is under way is progressing", { phase: "Restoring" }, "Progressing"],
    ["one that succeeded is healthy, and stays so when it is edited", { phase: "Succeeded" }, "Healthy"],
    ["one that failed is degraded", { phase: "Failed", reason: "no backup" }, "Degraded"],
  ];
  for (const [name, status, expected] of cases)
    test(name, async () => {
      assert.equal((await healthOf("EtcdRestore", { status: { observedGeneration: 1, ...status } })).status, expected);
    });
});

test("the ConfigMap of Argo CD gets the scripts that were tested", async () => {
  const { data } = parse(await readFile(path.join(root, "install/argocd/argocd-cm.yaml"), "utf8")) as {
    data: Record<string, string>;
  };
  for (const kind of ["EtcdCluster", "EtcdBackup", "EtcdRestore"] as const)
    assert.equal(data[`resource.customizations.health.etcd.database.coreos.com_${kind}`], await scriptOf(kind));
  assert.equal(Object.keys(data).length, 3);
});
