// Waits until a process that was sent SIGSTOP has stopped: a signal is on its way when kill() returns, and meanwhile a
// thread may answer one more request.
import { readdirSync, readFileSync } from "node:fs";
import { waitFor } from "../progress.ts";

export async function untilStopped(pid: number): Promise<void> {
  let running = 0;
  await waitFor(
    `process ${pid} to stop`,
    async () => {
      running = runningThreads(pid);
      return running === 0 || undefined;
    },
    { timeoutMs: 60_000, everyMs: 2, lastSeen: () => `${running} threads run` },
  );
}

/** None when there is no such process any more. */
function runningThreads(pid: number): number {
  const tasks = `/proc/${pid}/task`;
  try {
    return readdirSync(tasks).filter((task) => !/^State:\s+[TZ]/m.test(readFileSync(`${tasks}/${task}/status`, "utf8")))
      .length;
  } catch {
    return 0;
  }
}
