// etcd's own program for snapshots: what a snapshot holds, and a data directory made from it. One version serves the
// snapshots of all.
import { execFile } from "node:child_process";
import { diskFull, hasCode, WorkerFailure } from "../program/failure.ts";
import type { NewMember, ProvedSnapshot } from "../job.ts";
import type { JobContext } from "../program/job-context.ts";

type Etcdutl = Pick<JobContext, "etcdutl" | "signal" | "scratch">;

/** Reads all of the file, and fails if it is not a sound database. */
export async function snapshotStatus(file: string, tool: Etcdutl): Promise<ProvedSnapshot> {
  const answer = parse(await run(["snapshot", "status", file, "--write-out=json"], tool));
  const version = answer["version"];
  return {
    revision: numberIn(answer, "revision"),
    keys: numberIn(answer, "totalKey"),
    ...(typeof version === "string" && version !== "" && { storageVersion: version }),
  };
}

export interface FileHash {
  readonly hash: number;
  readonly revision: number;
  readonly compactRevision: number;
}

/**
 * The hash that the server would give at this revision; undefined: at the latest. **Changes the file**, as any start of
 * etcd on it does: its digest no longer fits, and it cannot be restored afterwards.
 */
export async function hashOfFile(file: string, revision: number | undefined, tool: Etcdutl): Promise<FileHash> {
  const at = revision === undefined ? [] : [`--rev=${revision}`];
  const answer = parse(await run(["hashkv", file, ...at, "--write-out=json"], tool));
  return {
    hash: numberIn(answer, "hash"),
    revision: numberIn(answer, "hashRevision"),
    compactRevision: numberIn(answer, "compactRevision"),
  };
}

interface NewData extends NewMember {
  /** All that begin together, this one among them. */
  readonly initialCluster: readonly NewMember[];
  readonly token: string;
  readonly dataDir: string;
  readonly bumpRevision: number;
}

/**
 * Makes the data of a first member of a new cluster. The ids come from the token and the URLs, so members that are made
 * apart with the same list are one cluster.
 */
export async function restoreSnapshot(file: string, data: NewData, tool: Etcdutl): Promise<void> {
  const { name, peerUrl, token, dataDir, bumpRevision, initialCluster } = data;
  const bump = bumpRevision > 0 ? [`--bump-revision=${bumpRevision}`, "--mark-compacted"] : [];
  const flags = [
    `--data-dir=${dataDir}`,
    `--name=${name}`,
    `--initial-cluster=${initialCluster.map((one) => `${one.name}=${one.peerUrl}`).join(",")}`,
    `--initial-cluster-token=${token}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    ...bump,
  ];
  await run(["snapshot", "restore", file, ...flags], tool);
}

function run(args: readonly string[], { etcdutl, signal, scratch }: Etcdutl): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const options = { signal, maxBuffer: 4 << 20, env: { PATH: process.env["PATH"] ?? "", HOME: scratch } };
  const child = execFile(etcdutl, args, options, (error, stdout, stderr) => {
    if (error === null) resolve(stdout);
    else if (!signal.aborted) reject(problemOf(args.slice(0, 2).join(" "), error, `${stderr}\n${stdout}`, scratch));
    // An abortion is told before the process has ended, which still writes until then.
    else if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) reject(error);
    else child.once("exit", () => reject(error));
  });
  return promise;
}

function problemOf(what: string, error: Error, said: string, folder: string): WorkerFailure {
  if (/no space left on device/i.test(said)) return diskFull(folder, error);
  if (hasCode(error, "ENOENT", "EACCES"))
    return new WorkerFailure("failed", "etcdutl cannot be run: the image of the worker must have it.", {
      cause: error,
    });
  if ("signal" in error && error.signal === "SIGKILL")
    return new WorkerFailure(
      "failed",
      `etcdutl ${what} was killed, probably because it ran out of memory. Raise the memory limit of the worker.`,
      { cause: error },
    );
  // A file that is no sound database ends it by an error, or by a fault of memory in the middle of a page.
  return new WorkerFailure(
    "damaged",
    `The snapshot is damaged: etcdutl ${what} says "${firstLine(said)}". Use another backup.`,
    { cause: error },
  );
}

const firstLine = (text: string): string =>
  text
    .split("\n")
    .map((line) => line.trim())
    .find((line) => line !== "" && !line.startsWith("{"))
    ?.replace(/^Error: /, "")
    .slice(0, 300) ?? "nothing";

function parse(text: string): Readonly<Record<string, unknown>> {
  const parsed: unknown = JSON.parse(text);
  if (typeof parsed !== "object" || parsed === null) throw new TypeError("etcdutl did not answer with an object");
  return Object.fromEntries(Object.entries(parsed));
}

function numberIn(answer: Readonly<Record<string, unknown>>, name: string): number {
  const value = answer[name];
  if (typeof value !== "number") throw new TypeError(`the answer of etcdutl has no ${name}`);
  return value;
}
