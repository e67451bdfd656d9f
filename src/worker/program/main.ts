// The worker's entry: a program of its own beside the operator, because it needs the SDKs of the clouds and the operator
// must not carry them. Does the one job that its environment names, says how it ended, and ends.
import { readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { EtcdMembers } from "../../etcd/members.ts";
import { systemClock } from "../../kube/clock.ts";
import { printable } from "../../kube/objects/printable.ts";
import { logger } from "../../kube/process/log.ts";
import { runProcess } from "../../kube/process/run-process.ts";
import { openStore } from "../../store/open.ts";
import { version } from "../../version.ts";
import { failureOf, hasCode } from "./failure.ts";
import { searchList } from "../jobs/await-name.ts";
import { addressVariable, jobVariable, type Result } from "../job.ts";
import { resultText } from "./result.ts";
import { parseJob, runJob } from "./run-job.ts";
import { usedChunks } from "./used-chunks.ts";
import type { JobContext } from "./job-context.ts";

/** Milliseconds: less than the grace period of the pod. */
const endWithin = 9000;

type Environment = Readonly<Record<string, string | undefined>>;

function workerOf(env: Environment, signal: AbortSignal): JobContext {
  const mayRestore = env["ETCD_WORKER_MAY_RESTORE"];
  return {
    log: logger(),
    clock: systemClock,
    time: Date.now,
    signal,
    openStore,
    members: new EtcdMembers(),
    etcdutl: env["ETCD_WORKER_ETCDUTL"] ?? "/usr/local/bin/etcdutl",
    scratch: env["ETCD_WORKER_SCRATCH"] ?? tmpdir(),
    scratchBytes: Number(env["ETCD_WORKER_SCRATCH_BYTES"] ?? Infinity),
    // The state that the member's etcd is told: "new" until it has started, "existing" from then on.
    restoring: mayRestore === undefined || mayRestore === "new" ? "allowed" : "refused",
    place: () => ({
      address: env[addressVariable] ?? "",
      search: searchList(readFileSync("/etc/resolv.conf", "utf8")),
    }),
    passed: usedChunks(),
  };
}

async function resultIn(env: Environment, worker: JobContext): Promise<Result> {
  try {
    return await runJob(parseJob(env[jobVariable]), worker);
  } catch (error) {
    return failureOf(error);
  }
}

/** Where a kubelet reads it. Outside of Kubernetes there is no such file. */
function report(result: Result, env: Environment): void {
  try {
    writeFileSync(env["ETCD_WORKER_RESULT"] ?? "/dev/termination-log", resultText(result));
  } catch (error) {
    if (!hasCode(error, "ENOENT", "EACCES", "EROFS")) throw error;
    process.stderr.write(printable(`the result could not be written: ${String(error)}\n${resultText(result)}\n`));
  }
}

async function main(env: Environment, signal: AbortSignal): Promise<void> {
  const worker = workerOf(env, signal);
  const result = await resultIn(env, worker);
  report(result, env);
  // Who sets limits wants to know it.
  worker.log.info("most memory that was in use", { bytes: process.resourceUsage().maxRSS * 1024 });
  if (!result.ok) throw new Error(result.message);
}

if (process.argv.slice(2).some((word) => /^--?version$/.test(word))) process.stdout.write(`etcd-worker ${version}\n`);
else runProcess((signal) => main(process.env, signal), { log: logger(), endWithin });
