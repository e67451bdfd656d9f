// A settled cluster causes no API requests: the audit log counts those of the operator while clients write.
// SETTLED_SECONDS sets how long.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { auditEntries, auditMark, countRequests, settleAudit } from "../../lab/audit/audit.ts";
import { clusterwide, createCluster, type TestCluster } from "./support/cluster.ts";
import { lab, restrictedNamespace } from "./support/environment.ts";
import { installOperator, type Operator } from "./support/operator.ts";
import { Writer } from "./proofs/writer.ts";

const seconds = Number(process.env["SETTLED_SECONDS"] ?? 90);

describe("a settled cluster", () => {
  let operator: Operator;
  let clusters: TestCluster[];
  const writers: Writer[] = [];

  before(async () => {
    operator = await installOperator("clusterwide");
    const namespace = await restrictedNamespace("settled");
    const sizes = [1, 3];
    clusters = await Promise.all(
      sizes.map((size) => createCluster({ namespace, name: `settled-${size}` }, { size }, clusterwide)),
    );
    for (const cluster of clusters) {
      await cluster.untilHealthy();
      writers.push(new Writer(cluster));
    }
  });
  after(() => Promise.all(writers.map((writer) => writer.stop())));

  test(`causes no requests but Lease renewals and watches for ${seconds} seconds`, async () => {
    // Events are written with a delay; those of the creation do not count.
    await pause(5_000);
    await settleAudit(lab);
    const from = auditMark(lab);
    await pause(seconds * 1_000);
    await settleAudit(lab);
    const entries = (await auditEntries(lab, from)).filter(({ user }) => user === operator.user);
    const counts = countRequests(entries, ["verb", "resource", "subresource"]);
    const isUpkeep = ([verb, resource]: readonly string[]): boolean =>
      verb === "watch" || (resource === "leases" && (verb === "update" || verb === "get"));
    const lease = counts.filter(({ of }) => isUpkeep(of));
    assert.ok(lease.length > 0, "the operator made no requests at all");
    assert.deepEqual(
      counts.filter(({ of }) => !isUpkeep(of)).map(({ of, count }) => `${count} ${of.join(" ")}`),
      [],
    );
    for (const writer of writers) await writer.nothingIsLost();
    for (const cluster of clusters) await cluster.untilHealthy();
  });
});
