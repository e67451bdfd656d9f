// Upgrades, and the way back: members restart in place in the new version, one at a time, and keep pod, id and data. Only to
// 3.5 they are replaced, because 3.6 does not start on what 3.4 has left in their data.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { waitFor } from "../../../lab/progress.ts";
import type { Event } from "../../../src/kube/objects/kinds.ts";
import type { TestCluster } from "../../e2e/support/cluster.ts";
import { conditionOf } from "../../e2e/support/status.ts";
import type { HealthyCluster } from "../../e2e/support/healthy.ts";
import { IdentityWatch } from "../../e2e/proofs/identity-watch.ts";
import { lane } from "../../e2e/support/lane.ts";
import { onlyReplaced } from "../../e2e/proofs/replaced.ts";
import { QuorumWatch } from "../../e2e/proofs/quorum-watch.ts";
import { untilRolled } from "../../e2e/proofs/rolled.ts";
import { RollWatch } from "../../e2e/proofs/roll-watch.ts";
import { holdSameData } from "../../e2e/proofs/same-data.ts";
import { isMatrix, matrixTest, type Row, rowsOf } from "../../support/matrix.ts";
import { patience, patiently } from "../../e2e/support/environment.ts";

const oldest = "3.4.23";
const newest = "3.7.3";

export function upgrades(): void {
  describe("upgrades step by step", { concurrency: 1 }, () => {
    const size = 3;
    // The automatic upgrade below takes the same steps up.
    const on = lane("upgrade", { size, version: isMatrix ? oldest : newest });
    before(() => fill(on().first));

    matrixTest(
      `from ${oldest} to 3.5.35 each member is replaced, and the new one joins before the old one leaves`,
      async () => {
        const { cluster, writer } = on();
        const before = await cluster.untilHealthy();
        await using quorum = new QuorumWatch(cluster, { fewest: size });
        await using identity = new IdentityWatch(cluster, before.clusterId);
        await using roll = new RollWatch(cluster);
        await cluster.edit({ version: "3.5.35" });
        const after = await identity.during(untilRolled(cluster));
        onlyReplaced(before, after, ...before.members.map(({ name }) => name));
        await allRun(cluster, after, "3.5.35");
        saidSo(roll, "3.5.35", size);
        await holdSameData(after);
        await writer.nothingIsLost();
        await roll.replacedEachOnce(before);
        await quorum.alwaysQuorum();
        await identity.neverViolated();
      },
    );

    for (const { from, to } of rowsOf<Row & { from: string; to: string }>([
      { from: "3.5.35", to: "3.6.16", onlyInMatrix: true },
      { from: "3.6.16", to: newest, onlyInMatrix: true },
      { from: newest, to: "3.6.16" },
    ]))
      test(`from ${from} to ${to} each member restarts in place, one at a time, and keeps its pod, id and data`, async () => {
        const { cluster, writer } = on();
        const before = await cluster.untilHealthy();
        await using quorum = new QuorumWatch(cluster, { fewest: size - 1 });
        await using identity = new IdentityWatch(cluster, before.clusterId);
        await using roll = new RollWatch(cluster);
        await cluster.edit({ version: to });
        const after = await identity.during(untilRolled(cluster));
        onlyReplaced(before, after);
        for (const { name, restarts } of after.members)
          assert.ok(restarts > restartsOf(name, before), `${name} was not restarted`);
        await allRun(cluster, after, to);
        for (const { name } of after.members) await cluster.untilEvent("Member Upgraded", isUpgrade(name, from, to));
        saidSo(roll, to, size);
        await holdSameData(after);
        await writer.nothingIsLost();
        await roll.madeNoPod(before);
        await quorum.alwaysQuorum();
        await identity.neverViolated();
      });
  });

  for (const { size } of rowsOf<Row & { size: number }>([{ size: 3 }, { size: 5, onlyInMatrix: true }]))
    describe(`an automatic upgrade of ${size} members`, { concurrency: 1 }, () => {
      const on = lane(`automatic-${size}`, { size, version: oldest, upgrade: { path: "Automatic" } });
      before(() => fill(on().first));

      test(`one edit takes them from ${oldest} through each minor version to ${newest}`, async () => {
        const { cluster, writer, first } = on();
        await using quorum = new QuorumWatch(cluster, { fewest: size - 1 });
        await using identity = new IdentityWatch(cluster, first.clusterId);
        await using roll = new RollWatch(cluster);
        await cluster.edit({ version: newest });
        const after = await identity.during(untilRolled(cluster));
        onlyReplaced(first, after, ...first.members.map(({ name }) => name));
        await allRun(cluster, after, newest);
        for (const { name } of after.members)
          for (const [from, to] of [
            ["3.5", "3.6"],
            ["3.6", "3.7"],
          ] as const)
            await cluster.untilEvent("Member Upgraded", isUpgrade(name, `${from}.`, `${to}.`));
        await roll.skippedNoMinor();
        await roll.replacedEachOnce(first);
        await holdSameData(after);
        await writer.nothingIsLost();
        await quorum.alwaysQuorum();
        await identity.neverViolated();
      });
    });
}

/** A megabyte, so that there is more to keep than the writer's keys. */
async function fill({ leader }: HealthyCluster): Promise<void> {
  const value = "x".repeat(4_096);
  // Again and again: on a busy machine another member may come to lead in between.
  for (let i = 0; i < 256; i += 1)
    await waitFor(`a write of /data/${i}`, () => leader.etcd.put(`/data/${i}`, value, patiently), {
      timeoutMs: patience,
    });
}

/** By the members themselves, their pods and the status. */
async function allRun(cluster: TestCluster, { members }: HealthyCluster, version: string): Promise<void> {
  for (const { etcd, name } of members) {
    assert.equal((await etcd.status(patiently)).version, version, name);
    assert.equal((await etcd.list("/data/", {}, patiently)).keys.length, 256, name);
  }
  for (const { metadata, spec } of await cluster.pods()) {
    assert.match(spec?.containers[0]?.image ?? "", new RegExp(`:v${version}$`));
    assert.equal(metadata?.annotations?.["etcd.version"], version);
  }
  // A member that is slow to answer is not counted at that moment.
  await cluster.until(`the status says ${version} of all members`, (object) => {
    const { currentVersion, targetVersion, versions, updatedMembers } = object.status ?? {};
    return (
      currentVersion === version &&
      targetVersion === "" &&
      isDeepStrictEqual(versions, { [version]: members.length }) &&
      updatedMembers === members.length &&
      conditionOf(object, "Upgrading")?.status === "False"
    );
  });
}

/** `from` and `to` may be the beginning of a version. */
const isUpgrade =
  (name: string, from: string, to: string) =>
  ({ note = "" }: Event): boolean =>
    note.startsWith(`Member ${name} upgraded from ${from}`) && note.includes(` to ${to}`);

const restartsOf = (name: string, { members }: HealthyCluster): number =>
  members.find((member) => member.name === name)?.restarts ?? 0;

/**
 * The status names the version, and never counts backwards. That it has each count on the way is in
 * src/cluster/counted-members.test.ts: here one may last for less than a moment.
 */
function saidSo({ targets, upgrading, updated }: RollWatch, version: string, size: number): void {
  assert.deepEqual(targets, [version]);
  assert.ok(
    upgrading.some((message) => message.startsWith(`upgrading to ${version}`)),
    `Upgrading said: ${upgrading.join("; ")}`,
  );
  const counted = updated.slice(updated.findIndex((count) => count < size));
  assert.deepEqual(
    counted,
    counted.toSorted((a, b) => a - b),
  );
}
