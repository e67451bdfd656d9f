// A lock between processes, held through flock(1): the kernel lets go of it when its holder ends, however that happens,
// so there is no stale lock to judge.
import { spawn } from "node:child_process";
import { once } from "node:events";

/** Runs `work` while no other process runs work under the same file; `onWait` is told when another one has it now. */
export async function withLock<T>(file: string, onWait: () => void, work: () => Promise<T>): Promise<T> {
  // The holder reads its standard input to the end: it ends when told to, and also when this process dies.
  const holder = spawn("flock", ["--exclusive", file, "sh", "-c", "echo held; exec cat"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const patience = setTimeout(onWait, 1_000);
  try {
    await Promise.race([
      once(holder.stdout, "data"),
      once(holder, "exit").then(() => Promise.reject(new Error(`The lock ${file} cannot be taken with flock.`))),
    ]);
  } finally {
    clearTimeout(patience);
  }
  try {
    return await work();
  } finally {
    const ended = once(holder, "exit");
    holder.stdin.end();
    await ended;
  }
}
