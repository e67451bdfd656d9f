// One cluster at a glance, as data: what the screen shows and what -o json and yaml print. It is computed from
// what was observed, and reads nothing.
import { conditionOf } from "../../api/conditions.ts";
import type { EtcdBackup } from "../../api/etcd-backup/etcd-backup.ts";
import { type CompleteStatus, imageOf, withDefaults } from "../../api/etcd-cluster/etcd-cluster.ts";
import { scopeAnnotation } from "../../api/scope.ts";
import { heldScope } from "../../controllers/unclaimed/decide.ts";
import { type ExpiryWarning, warningOf } from "../../tls/validity.ts";
import { plural, timeOf } from "../screen/words.ts";
import type { OperatorSeen } from "../observe/operator.ts";
import { type Observed, valueOr } from "../observe/observe.ts";
import { activityOf } from "./activity.ts";
import { type MemberView, membersOf } from "./members.ts";
import { notesOf } from "./notes.ts";
import { defined } from "../../defined.ts";

export interface ClusterView {
  readonly name: string;
  readonly namespace: string;
  readonly phase: string;
  readonly ready: ReadyView;
  readonly version: { readonly wanted: string; readonly running: readonly string[]; readonly image: string };
  readonly quorum: QuorumView;
  /** What happens now, why, and what it waits for; empty when there is nothing to do. */
  readonly activity: readonly string[];
  readonly members: readonly MemberView[];
  readonly database?: DatabaseView;
  readonly toRoll: { readonly updated: number; readonly of: number };
  readonly alarms: readonly string[];
  readonly certificates: readonly CertificateView[];
  readonly backups: readonly BackupView[] | "unknown";
  /** What could not be read, and what is good to know. */
  readonly notes: readonly string[];
}

interface ReadyView {
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly sentence: string;
  readonly forSeconds?: number;
}

export interface QuorumView {
  readonly voters: number;
  readonly healthy: number;
  readonly needed: number;
  /** How many more voters may be lost; negative: how many are missing. */
  readonly margin: number;
  /** A restore has stopped the members on purpose: that there is no quorum is no loss. */
  readonly replaced: boolean;
  readonly sentence: string;
}

export interface DatabaseView {
  readonly size: number;
  readonly inUse?: number;
  readonly quota?: number;
  readonly volume?: number;
  readonly pressure?: string;
}

export interface CertificateView {
  readonly use: string;
  readonly notAfter: string;
  readonly daysLeft: number;
  /** Whether it is time to renew it, by its days and by the share of its life that is left. */
  readonly warning?: ExpiryWarning;
}

export interface BackupView {
  readonly name: string;
  readonly phase: string;
  readonly when: string;
  readonly lastSuccess?: string;
  readonly ageSeconds?: number;
  readonly lastVerified?: string;
  readonly verifiedAgeSeconds?: number;
  readonly sizeBytes?: number;
  readonly next?: string;
  readonly failures: number;
  readonly problem?: string;
}

export function viewOf(observed: Observed): ClusterView {
  const { now } = observed;
  const cluster = withDefaults(observed.cluster);
  const { status, spec, metadata } = cluster;
  const members = membersOf(observed);
  const ready = readyOf(observed);
  const database = databaseOf(observed, members);
  return {
    name: metadata.name,
    namespace: metadata.namespace,
    phase: status.phase || "Pending",
    ready,
    version: {
      wanted: spec.version,
      running: [...new Set(members.flatMap(({ version }) => version ?? []))].sort(),
      image: imageOf(spec),
    },
    quorum: quorumOf(members, status.voters, isReplaced(status)),
    activity: activityOf(observed),
    members,
    ...(database !== undefined && { database }),
    toRoll: toRollOf(status, spec.size),
    alarms: { NoSpace: ["NOSPACE"], Corrupt: ["CORRUPT"] }[ready.reason] ?? [],
    certificates: status.certificates.map((certificate) => certificateOf(certificate, now)),
    backups: observed.backups.t === "missing" ? "unknown" : observed.backups.value.map((one) => backupOf(one, now)),
    notes: notesOf(observed),
  };
}

/** A member that has yet to join comes as the spec says: only those that vote may have to be changed. */
function toRollOf({ updatedMembers, voters }: CompleteStatus, size: number): ClusterView["toRoll"] {
  const of = voters.length === 0 ? size : Math.min(voters.length, size);
  return { updated: Math.min(updatedMembers ?? of, of), of };
}

function readyOf(observed: Observed): ReadyView {
  const { cluster, now } = observed;
  const condition = conditionOf(withDefaults(cluster).status.conditions, "Ready");
  if (condition === undefined) return { status: "Unknown", reason: "", sentence: unseenSentence(observed) };
  const since = timeOf(condition.lastTransitionTime);
  return {
    status: condition.status,
    reason: condition.reason,
    sentence: condition.message,
    ...(since !== undefined && { forSeconds: Math.max(0, Math.round((now - since) / 1000)) }),
  };
}

/** Nobody has written a status: why that may be, and who would. */
function unseenSentence({ cluster, operator }: Observed): string {
  const seen = "No operator has reconciled this cluster yet";
  const missing = noOperatorSentence(valueOr(operator, { t: "unknown" }));
  if (missing !== undefined) return `${seen}. ${missing}`;
  const scope = cluster.metadata?.annotations?.[scopeAnnotation];
  if (scope === undefined)
    return `${seen}: an operator of its namespace does so at once, one for all namespaces within about 10 s.`;
  if (scope === "clusterwide" || scope === heldScope) return `${seen}.`;
  return `${seen}, and none will: its annotation ${scopeAnnotation} is ${scope}, and no operator has that scope. Set it to clusterwide, or remove it.`;
}

/** Undefined where one runs, or where that is unknown. */
export function noOperatorSentence(operator: OperatorSeen): string | undefined {
  if (operator.t === "none") return "No operator for all namespaces is running: install one (docs/install.md).";
  if (operator.t !== "silent") return undefined;
  return `The operator in the namespace ${operator.namespace} does not renew its Lease ${operator.lease}: it is not running, or cannot reach the API server.`;
}

/**
 * 3 voters, 3 healthy: 2 are needed, so 1 may be lost. 3 voters, 1 healthy: one lacks. 4 voters, 4 healthy: 3 are needed, so
 * 1 may be lost, as of three.
 */
export function quorumOf(members: readonly MemberView[], listed: readonly string[], isReplaced: boolean): QuorumView {
  const voting = members.filter(({ name, role }) => role === "leader" || role === "voter" || listed.includes(name));
  const voters = Math.max(voting.length, listed.length);
  const healthy = voting.filter((member) => member.healthy).length;
  const needed = Math.floor(voters / 2) + 1;
  const margin = healthy - needed;
  const replaced = isReplaced && margin < 0;
  const sentence = replaced ? "none while the data is replaced" : quorumSentence(voters, healthy, needed);
  return { voters, healthy, needed, margin, replaced, sentence };
}

const isReplaced = ({ restore }: CompleteStatus): boolean =>
  restore?.phase === "Stopping" || restore?.phase === "Seeding";

/** A lost quorum is not counted: how many answer stands in the status, and one that answers need not be healthy. */
function quorumSentence(voters: number, healthy: number, needed: number): string {
  if (voters === 0) return "no member votes yet";
  const margin = healthy - needed;
  const missing = voters === 1 ? "the only voter does not serve" : `fewer than ${needed} of ${voters} voters serve`;
  if (margin < 0) return `lost: ${missing}. Nothing can be written`;
  const have = `${healthy} of ${plural(voters, "voter")} healthy, ${needed} needed`;
  return margin === 0 ? `${have}: cannot lose any` : `${have}: can lose ${margin} more`;
}

function databaseOf(observed: Observed, members: readonly MemberView[]): DatabaseView | undefined {
  const { status, spec } = withDefaults(observed.cluster);
  const most = (of: (member: MemberView) => number | undefined): number | undefined => {
    const known = members.flatMap((member) => of(member) ?? []);
    return known.length === 0 ? undefined : Math.max(...known);
  };
  const size = most(({ dbSize }) => dbSize) ?? status.dbSize;
  if (size === undefined) return undefined;
  const inUse = most(({ dbInUse }) => dbInUse) ?? status.dbSizeInUse;
  const quota = most((member) => member.quota) ?? status.dbQuota ?? spec.etcd.quotaBackendBytes;
  const pressure = conditionOf(status.conditions, "DiskPressure");
  return {
    size,
    ...defined({ inUse, quota, volume: status.volumeSize }),
    ...(pressure?.status === "True" && { pressure: pressure.message }),
  };
}

type CertificateStatus = CompleteStatus["certificates"][number];

/** Operators before this one do not say since when it is valid: then only the days count. */
function certificateOf({ use, notAfter, notBefore }: CertificateStatus, now: number): CertificateView {
  const validity = {
    notBefore: (notBefore === undefined ? undefined : timeOf(notBefore)) ?? Number.NEGATIVE_INFINITY,
    notAfter: timeOf(notAfter) ?? now,
  };
  const warning = warningOf(validity, now);
  const daysLeft = Math.floor((validity.notAfter - now) / 86_400_000);
  return { use, notAfter, daysLeft, ...(warning !== undefined && { warning }) };
}

export function backupOf({ metadata, spec, status = {} }: EtcdBackup, now: number): BackupView {
  const { schedule, backupIntervalInSecond = 0, suspend } = spec.backupPolicy ?? {};
  const interval = backupIntervalInSecond > 0 ? `every ${backupIntervalInSecond} s` : "once";
  const last = status.lastBackup?.takenAt ?? status.lastSuccessDate;
  const verified = status.lastVerified?.verifiedAt;
  const age = (text: string | undefined): number | undefined => {
    const time = timeOf(text);
    return time === undefined ? undefined : Math.max(0, Math.round((now - time) / 1000));
  };
  const [ageSeconds, verifiedAgeSeconds] = [age(last), age(verified)];
  const problem = (status.conditions ?? []).find(({ type, status }) => type === "Problem" && status === "True");
  const failed = status.phase === "Failed" ? status.Reason : undefined;
  const said = problem?.message ?? failed;
  return {
    name: metadata?.name ?? "",
    phase: status.phase ?? "Pending",
    when: `${schedule ?? interval}${suspend === true ? ", suspended" : ""}`,
    ...defined({ lastSuccess: last, ageSeconds, lastVerified: verified, verifiedAgeSeconds }),
    ...(status.lastBackup?.sizeBytes !== undefined && { sizeBytes: status.lastBackup.sizeBytes }),
    ...(status.nextRun !== undefined && { next: status.nextRun }),
    failures: status.failures ?? 0,
    ...(said !== undefined && { problem: said }),
  };
}
