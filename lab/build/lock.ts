// A lock between processes by flock(1). The kernel releases it when its holder ends, however that happens, so no lock goes
// stale.
import { spawn } from "node:child_process";
import { once } from "node:events";

/** Runs `work` while holding the lock on `file`. Calls `onWait` when another process holds it. */
export async function withLock<T>(file: string, onWait: () => void, work: () => Promise<T>): Promise<T> {
  // The holder reads stdin to the end: it ends when we close it, and when this process dies.
  const holder = spawn("flock", ["--exclusive", file, "sh", "-c", "echo held; exec cat"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  // From here on: Ctrl-C ends it together with this process, and then there is no end to wait for later.
  const ended = once(holder, "exit");
  const patience = setTimeout(onWait, 1_000);
  try {
    await Promise.race([
      once(holder.stdout, "data"),
      ended.then(() => Promise.reject(new Error(`The lock ${file} cannot be taken with flock.`))),
    ]);
  } finally {
    clearTimeout(patience);
  }
  try {
    return await work();
  } finally {
    holder.stdin.end();
    await ended;
  }
}
