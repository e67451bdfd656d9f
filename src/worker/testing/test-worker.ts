// A worker for tests: what it opens, where it keeps files, and what it logged.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { EtcdMembers } from "../../etcd/members.ts";
import { systemClock } from "../../kube/clock.ts";
import { logger } from "../../kube/process/log.ts";
import type { ObjectStore } from "../../store/store.ts";
import type { JobContext } from "../program/job-context.ts";

interface TestWorker extends JobContext, AsyncDisposable {
  /** Lines of the log. */
  readonly lines: string[];
}

export async function testWorker(store: ObjectStore, parts: Partial<JobContext> = {}): Promise<TestWorker> {
  const scratch = await mkdtemp(path.join(tmpdir(), "worker-"));
  const lines: string[] = [];
  const members = new EtcdMembers();
  return {
    log: logger({ write: (line) => void lines.push(line) }),
    clock: systemClock,
    time: Date.now,
    signal: new AbortController().signal,
    openStore: async () => store,
    members,
    etcdutl: "etcdutl",
    scratch,
    scratchBytes: Infinity,
    restoring: "allowed",
    place: () => ({ address: "127.0.0.1", search: [] }),
    ...parts,
    lines,
    async [Symbol.asyncDispose]() {
      members.close();
      await rm(scratch, { recursive: true, force: true });
    },
  };
}
