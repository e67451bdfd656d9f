// What came of a round, and of a run: written as JSON beside the evidence, and what the page is made from.
import { checkNames, type CheckName, type Verdict } from "../test/robustness/judge.ts";
import { type OurCheck, ourChecks } from "./judging/checks.ts";
import type { Recovery } from "./judging/recovery.ts";
import type { Round } from "./schedule.ts";

export type AnyCheck = CheckName | OurCheck;
export const allChecks: readonly AnyCheck[] = [...checkNames, ...ourChecks];

/** What each check says when it has passed. */
export const checkWords: Readonly<Record<AnyCheck, string>> = {
  assumptions: "the history begins with an empty database, and no client had two requests under way (etcd's)",
  linearization: "the answers to clients fit one order of all requests; every acknowledged write is in it (etcd's)",
  watch: "watches saw every event once, in order, whole, and resumed without a gap (etcd's)",
  serializable: "reads at a revision equal what the members persisted (etcd's)",
  local: "reads that one member answered alone equal what the members persisted",
  leases: "no lease was granted twice",
  lastWrite: "a write succeeds after the traffic",
  delivered: "a watcher at each member saw the last revision",
  traffic: "there was enough traffic before the fault for the round to count",
  healed: "the status is Ready and all members vote, for seconds",
  hash: "all members have the same data at rest (HashKV)",
  identity: "one cluster id, and no member went back to an older revision or term",
  oneDisruption: "the operator stopped no member that served while others were missing",
  change: "the change was made; after a restore there is exactly the backup, at no older revision",
};

export interface RoundResult {
  readonly round: Round;
  readonly began: string;
  /** Whom the fault hit. Absent: it could not be done, which `faultProblem` says why. */
  readonly hit?: string;
  readonly faultProblem?: string;
  readonly checks: Readonly<Record<AnyCheck, Verdict>>;
  readonly recovery?: Recovery;
  readonly counts: { readonly operations: number; readonly acknowledged: number; readonly unanswered: number };
  /** Where the evidence is, when a check failed. */
  readonly folder?: string;
}

export interface RunResult {
  readonly seed: number;
  readonly began: string;
  readonly commit: string;
  readonly kubernetes: string;
  readonly again: string;
  readonly rounds: readonly RoundResult[];
}

export const withStatus = ({ checks }: RoundResult, status: Verdict["status"]): AnyCheck[] =>
  allChecks.filter((name) => checks[name].status === status);
