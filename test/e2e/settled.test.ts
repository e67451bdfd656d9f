// A settled cluster causes no API requests: the audit log counts those of the operator while clients write.
// SETTLED_SECONDS sets how long.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { AuditEntry } from "../../lab/audit/audit-log.ts";
import { auditEntries, auditMark, countRequests, settleAudit } from "../../lab/audit/audit.ts";
import { waitFor } from "../../lab/progress.ts";
import { EtcdCluster } from "../../src/api/etcd-cluster/etcd-cluster.ts";
import { delays } from "../../src/controllers/delays.ts";
import { kubectl } from "../support/kubectl.ts";
import { clusterwide, createCluster, type TestCluster } from "./support/cluster.ts";
import { kube, lab, patience, restrictedNamespace } from "./support/environment.ts";
import { installOperator, type Operator } from "./support/operator.ts";
import { conditionOf } from "./support/status.ts";
import { Writer } from "./proofs/writer.ts";

/** Longer than the longest of its delays: each timer has run once. */
const seconds = Number(process.env["SETTLED_SECONDS"] ?? delays.atRest / 1_000 + 10);

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
      const { members } = await cluster.untilHealthy();
      // The kubelets report it some seconds after the members serve, and the status says so.
      await cluster.until("all pods are ready", ({ status }) => status?.members?.ready?.length === members.length);
      writers.push(new Writer(cluster));
    }
  });
  after(() => Promise.all(writers.map((writer) => writer.stop())));

  test(`causes no requests but Lease renewals and watches for ${seconds} seconds`, async () => {
    // Events are written with a delay; those of the creation do not count.
    await pause(5_000);
    const entries = (await entriesAtRest(clusters)).filter(({ user }) => user === operator.user);
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

/** How often a machine may be too busy for a cluster to be at rest. */
const mostDisturbances = 15;

/** The entries of a time without changes: a member that a busy machine makes slow is reported, and so is its return. */
async function entriesAtRest(clusters: readonly TestCluster[]): Promise<AuditEntry[]> {
  await noneIsDeleted();
  for (let disturbances = 0; ; disturbances += 1) {
    for (const cluster of clusters) await cluster.untilHealthy();
    const before = await Promise.all(clusters.map(restOf));
    await settleAudit(lab);
    const from = auditMark(lab);
    await pause(seconds * 1_000);
    await settleAudit(lab);
    const entries = await auditEntries(lab, from);
    const after = await Promise.all(clusters.map(restOf));
    if (isDeepStrictEqual(after, before) || disturbances === mostDisturbances) return entries;
  }
}

/** The operator sees those of earlier tests, which go with their namespaces. */
async function noneIsDeleted(): Promise<void> {
  let left: (string | undefined)[] = [];
  await waitFor(
    "the clusters of earlier tests to be gone",
    async () => {
      const going = await kubectl("get", "namespaces", "--field-selector=status.phase=Terminating", "--output=name");
      const { items } = await kube.list(EtcdCluster);
      const namespaces = items.map(({ metadata }) => `namespace/${metadata?.namespace}`);
      left = namespaces.filter((one) => going.split("\n").includes(one));
      return left.length === 0 || undefined;
    },
    { timeoutMs: patience, lastSeen: () => left.join(", ") },
  );
}

/** Who leads, since when the cluster is Ready, and since when the kubelets have found each pod so. */
async function restOf(cluster: TestCluster): Promise<object> {
  const [object, pods] = await Promise.all([cluster.get(), cluster.pods()]);
  return {
    leader: object.status?.leader,
    readySince: conditionOf(object, "Ready")?.lastTransitionTime,
    pods: pods
      .map(({ metadata, status }) => {
        const ready = status?.conditions?.find(({ type }) => type === "Ready");
        return `${metadata?.name} ${ready?.status} since ${ready?.lastTransitionTime}`;
      })
      .toSorted(),
  };
}
