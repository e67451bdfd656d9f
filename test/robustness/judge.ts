// The judge as a child process: etcd's own validators, and a few checks of ours, on what was recorded.
import { execFile } from "node:child_process";
import { CommandError } from "../../lab/machine/command.ts";
import { robustnessProgram } from "./recorder.ts";

/** lab/build/robustness/checks.go says what each is. */
export const checkNames = [
  "assumptions",
  "linearization",
  "watch",
  "serializable",
  "local",
  "leases",
  "lastWrite",
  "delivered",
] as const;
export type CheckName = (typeof checkNames)[number];

/** Skipped is not passed: there was nothing to check, or nothing to check it against. */
export interface Verdict {
  readonly status: "passed" | "failed" | "skipped";
  readonly why?: string;
}

export interface Judgement {
  readonly checks: Readonly<Record<CheckName, Verdict>>;
  readonly counts: {
    readonly operations: number;
    readonly watchEvents: number;
    readonly readsAtRevision: number;
    readonly localReads: number;
    readonly leases: number;
    /** Requests in the logs of the members. */
    readonly persisted: number;
  };
  readonly details?: readonly string[];
  /** porcupine's, when a check failed. */
  readonly page?: string;
}

export interface JudgeOptions {
  /** Data folders of all members, also of those that were replaced. Their logs have to be complete: --max-wals=0. */
  readonly data?: readonly string[];
  readonly timeoutSeconds?: number;
  /** Draws porcupine's page there, also when nothing failed. */
  readonly page?: string;
}

/** Whether etcd's history holds. It fails only when it cannot judge. */
export async function judge(recording: string, options: JudgeOptions = {}): Promise<Judgement> {
  const args = [
    "judge",
    recording,
    ...(options.data ?? []).flatMap((folder) => ["--data", folder]),
    ...(options.timeoutSeconds === undefined ? [] : ["--timeout", `${options.timeoutSeconds}s`]),
    ...(options.page === undefined ? [] : ["--page", options.page]),
  ];
  const program = await robustnessProgram();
  return new Promise((resolve, reject) => {
    // Differences between what was watched and what was persisted can be long.
    execFile(program, args, { maxBuffer: 1 << 28 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : error.code;
      if (code === 0 || code === 1) resolve(JSON.parse(stdout) as Judgement);
      else reject(new CommandError("robustness judge", typeof code === "number" ? code : null, stderr));
    });
  });
}

export const withStatus = ({ checks }: Judgement, status: Verdict["status"]): CheckName[] =>
  checkNames.filter((name) => checks[name].status === status);
