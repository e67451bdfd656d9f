// Restoring: the cluster is asked to take its data from the backup, or is made so, and followed until it serves that data.
// The cluster controller does the work: it stops the members, makes the first members and grows the cluster.
//
// A person who deletes the EtcdRestore meanwhile stops nothing that the cluster has taken up, and nothing is reported any
// more. Hence no finalizer: a cluster without members is not made better by keeping the EtcdRestore.
import { delays } from "../../controllers/delays.ts";
import { rowOf, conditionOf } from "../../api/conditions.ts";
import type { CompleteEtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { BackupFacts } from "../../worker/job.ts";
import type { Seed, RestoreWorld } from "../observe/world.ts";
import { bumpOf } from "../objects/seed.ts";
import { type Recorded, fail, type RestoreDecision, stay, succeed } from "./actions.ts";
import { heldUp, isAsked, whatIsLeft } from "./gates.ts";
import { lastCheck } from "./next-step.ts";
import { isDefinite } from "../../controllers/worker.ts";

export function restoring(world: RestoreWorld, now: number): RestoreDecision {
  const { restore, cluster } = world;
  if (cluster === undefined) return makeCluster(world);
  const followed = cluster.status.restore;
  if (followed?.uid === restore.metadata.uid) return follow(world, cluster, followed?.phase ?? "Stopping");
  const { name } = cluster.metadata;
  // What the cluster took up once is not asked for again: somebody else has replaced the data since.
  if (restore.status.clusterPhase !== undefined)
    return fail(
      `The EtcdRestore ${followed?.name ?? "of another name"} has replaced the data of the EtcdCluster ${name} since. ${whatIsLeft(restore)}Apply another EtcdRestore if that is not what you want.`,
    );
  if (isAsked(cluster, restore)) return taken(world, cluster);
  return heldUp(world) ?? lastCheck(world, now) ?? ask(cluster);
}

function makeCluster({ restore, clusterSpec }: RestoreWorld): RestoreDecision {
  const { name } = restore.spec.etcdCluster;
  if (clusterSpec === undefined) return fail(`There is no EtcdCluster ${name}, and spec.clusterSpec is missing.`);
  return stay(`The EtcdCluster ${name} is created.`, {
    actions: [{ do: "createCluster", name, spec: clusterSpec }],
  });
}

function ask({ metadata: { name, uid = "", resourceVersion = "" } }: CompleteEtcdCluster): RestoreDecision {
  return stay(`The EtcdCluster ${name} is asked to take its data from the backup.`, {
    actions: [{ do: "askCluster", name, uid, resourceVersion }],
  });
}

/** It was asked, and has yet to begin. */
function taken({ restore }: RestoreWorld, cluster: CompleteEtcdCluster): RestoreDecision {
  const { metadata, spec } = cluster;
  const { name, uid } = metadata;
  const words = wordsOf(cluster);
  const because = spec.paused
    ? `The EtcdCluster ${name} is paused: it is restored when spec.paused is false.`
    : `The EtcdCluster ${name} was asked to take its data from the backup.${words === undefined ? "" : ` It says: ${words}`}`;
  const isNew = restore.status.clusterUid === undefined && uid !== undefined;
  return stay(because, { ...(isNew && { record: { clusterUid: uid } }), requeueAfter: delays.untilCorrected });
}

type ClusterPhase = NonNullable<RestoreWorld["restore"]["status"]["clusterPhase"]>;

function follow(world: RestoreWorld, cluster: CompleteEtcdCluster, clusterPhase: ClusterPhase): RestoreDecision {
  const { restore, seeds } = world;
  const uid = cluster.metadata.uid;
  const facts: Recorded = { clusterPhase, ...(uid !== undefined && { clusterUid: uid }), ...saidBy(world) };
  const other = seeds.find((seed) => seed.t === "made" && seed.backup !== undefined && !isSame(seed.backup, world));
  if (other !== undefined)
    return fail(
      `The member ${other.member} was made from another backup than the one that was checked. ${whatIsLeft(restore)}Apply another EtcdRestore.`,
    );
  const [failed, ...more] = seeds.flatMap((seed) => (isGivenUp(seed) ? [seed] : []));
  // 1 of 3: the other 2 are a majority, and the cluster replaces this one. 2 of 3, 1 of 1: nobody will serve.
  if (failed !== undefined && 2 * (more.length + 1) >= seeds.length)
    return fail(
      `The member ${failed.member} cannot be made from the backup: ${failed.message} The cluster has no members until another EtcdRestore is applied. ${whatIsLeft(restore)}`.trim(),
    );
  if (clusterPhase === "Done" && isServing(world, cluster))
    return succeed(
      `The EtcdCluster ${cluster.metadata.name} is ready with the data of ${restore.status.backup?.path ?? "the backup"}.${unsaved(world, cluster)}`,
      { ...facts, ...(cluster.status.clusterId !== undefined && { clusterId: cluster.status.clusterId }) },
    );
  return stay(progressOf(world, cluster, clusterPhase), {
    record: facts,
    requeueAfter: clusterPhase === "Seeding" ? delays.seeding : delays.untilCorrected,
  });
}

/** Clients write until the members stop, and what they wrote after the snapshot is in neither copy: at least so much. */
function unsaved({ restore: { status } }: RestoreWorld, cluster: CompleteEtcdCluster): string {
  const { snapshotRevision } = status;
  const { stoppedAtRevision } = cluster.status.restore ?? {};
  const revisions = (stoppedAtRevision ?? 0) - (snapshotRevision ?? 0);
  if (snapshotRevision === undefined || revisions <= 0) return "";
  return ` At least ${revisions} revisions were written after revision ${snapshotRevision}, up to which the data that was replaced has been saved, and are in no copy.`;
}

/** The kubelet tries again by itself, and once may be an accident. */
const mostSeedFailures = 3;

const isGivenUp = (seed: Seed): seed is Extract<Seed, { t: "failed" }> =>
  seed.t === "failed" && isDefinite(seed.code) && seed.times >= mostSeedFailures;

/** What the first of them says that has its data is recorded, because its pod may go. The others must say the same. */
function saidBy({ restore, seeds }: RestoreWorld): Recorded {
  const made = seeds.find((seed) => seed.t === "made");
  if (restore.status.seed !== undefined || made === undefined) return {};
  const { member, backup } = made;
  if (backup === undefined) return { seed: { member } };
  return { seed: { member, revision: backup.revision, ...(backup.hash !== undefined && { hash: backup.hash.value }) } };
}

/** A revision that was bracketed while etcd served may be lower than what is in the file; what was counted is not. */
function isSame(
  { sha256, revision, exactRevision, hash }: BackupFacts,
  { restore: { status } }: RestoreWorld,
): boolean {
  const { backup } = status;
  const isOther = (found: number | undefined, wanted: number | undefined): boolean =>
    found !== undefined && wanted !== undefined && found !== wanted;
  if (isOther(hash?.value, backup?.hash) || (exactRevision && isOther(revision, backup?.revision))) return false;
  return sha256 === backup?.sha256;
}

/**
 * Ready, in its present form, with at least the revision that the backup gives it. A seed whose word was never heard, since
 * its pod went while no operator ran, has kept it: etcd does not start where its data was not made from that very object.
 */
function isServing({ restore }: RestoreWorld, { metadata, status }: CompleteEtcdCluster): boolean {
  const ready = conditionOf(status.conditions, "Ready");
  const isCurrent = ready?.observedGeneration === undefined || ready.observedGeneration === metadata.generation;
  const wanted = (restore.status.backup?.revision ?? 0) + bumpOf(restore);
  return ready?.status === "True" && isCurrent && (status.revision ?? 0) >= wanted;
}

function progressOf(world: RestoreWorld, cluster: CompleteEtcdCluster, at: ClusterPhase): string {
  const words = wordsOf(cluster);
  const trouble = words === undefined ? "" : ` The cluster says: ${words}`;
  return `${stageOf(world, cluster, at)}${trouble}`;
}

function stageOf(
  { restore, seeds }: RestoreWorld,
  { metadata: { name }, spec, status }: CompleteEtcdCluster,
  at: ClusterPhase,
): string {
  if (at === "Stopping") return `The members that the EtcdCluster ${name} had are stopped.`;
  if (at === "Done") return servingOf(status, spec.size);
  const from = `the backup ${restore.status.backup?.path ?? ""}`;
  const failed = seeds.find((seed) => seed.t === "failed");
  if (failed !== undefined)
    return `The member ${failed.member} could not be made from ${from}, and is tried again: ${failed.message}`;
  const starting = seeds.filter((seed) => seed.t === "starting");
  if (starting.length > 0) return `${named(starting)} being made from ${from}.`;
  if (seeds.length > 1) return `The members ${namesOf(seeds)} were made from ${from}, and start.`;
  const made = seeds[0]?.member ?? restore.status.seed?.member;
  if (made !== undefined) return `The member ${made} was made from ${from}, and starts.`;
  return `The first members are being made from ${from}.`;
}

const namesOf = (seeds: readonly Seed[]): string => seeds.map(({ member }) => member).join(", ");

const named = (seeds: readonly Seed[]): string =>
  seeds.length === 1 ? `The member ${namesOf(seeds)} is` : `The members ${namesOf(seeds)} are`;

/** For a while there may be one more than wanted: the member that was made from the volume of the backups is replaced. */
function servingOf({ ready = "0", conditions }: CompleteEtcdCluster["status"], size: number): string {
  const serving = Number.parseInt(ready, 10);
  if (serving < size) return `${serving} of ${size} members serve.`;
  const said = conditionOf(conditions, "Ready")?.message ?? "";
  return `All ${size} members serve, but the cluster is not Ready yet${said === "" ? "." : `: ${said}`}`;
}

/** Why a cluster is not ready, where a person has to do something about it that the restore does not. */
function wordsOf({ status }: CompleteEtcdCluster): string | undefined {
  const ready = conditionOf(status.conditions, "Ready");
  const row = rowOf("EtcdCluster", "Ready", ready);
  const asks = row?.severity === "bad" && row.whatToDo !== undefined && row.endsWithARestore !== true;
  return asks ? ready?.message : undefined;
}
