// A cluster at rest costs the API server nothing: the audit log counts what the operator asks of it while clients write.
// SETTLED_SECONDS makes it look longer than the suite does.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { auditEntries, auditMark, countRequests, settleAudit } from "../../lab/audit.ts";
import { clusterwide, makeCluster, type TestCluster } from "./support/cluster.ts";
import { lab, restrictedNamespace } from "./support/ground.ts";
import { installOperator, type Operator } from "./support/operator.ts";
import { Writer } from "./support/writer.ts";

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
      sizes.map((size) => makeCluster({ namespace, name: `settled-${size}` }, { size }, clusterwide)),
    );
    for (const cluster of clusters) {
      await cluster.whole();
      writers.push(new Writer(cluster));
    }
  });
  after(() => Promise.all(writers.map((writer) => writer.stop())));

  test(`costs nothing but its lease and its watches for ${seconds} seconds`, async () => {
    // Events of the time before are written behind it; the last of them belongs to the time before, too.
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
    assert.ok(lease.length > 0, "the operator was not seen at all");
    assert.deepEqual(
      counts.filter(({ of }) => !isUpkeep(of)).map(({ of, count }) => `${count} ${of.join(" ")}`),
      [],
    );
    for (const writer of writers) await writer.nothingIsLost();
    for (const cluster of clusters) await cluster.whole();
  });
});
