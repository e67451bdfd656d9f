// Calls apt-get, one call at a time. apt-get can wait for the lock of packages, but not for that of package lists: of two that
// update the lists at once, as suites in parallel do on a new machine, one would fail.
import { mkdir } from "node:fs/promises";
import * as path from "node:path";
import { CommandError, run } from "../machine/command.ts";
import { type Step, waitFor } from "../progress.ts";
import { cacheRoot } from "./cache.ts";
import { withLock } from "./lock.ts";

/** Others use it, too, as a new machine does by itself: they are waited for. */
const othersWithinMs = 300_000;

export type Apt = (args: readonly string[], options?: { readonly cwd?: string }) => Promise<string>;

/** Runs the work while no other run of ours uses apt-get. */
export async function withApt<T>(step: Step, work: (apt: Apt) => Promise<T>): Promise<T> {
  await mkdir(cacheRoot(), { recursive: true });
  return withLock(
    path.join(cacheRoot(), ".apt.lock"),
    () => step.detail("another run uses apt-get"),
    () => work(aptGet),
  );
}

const aptGet: Apt = async (args, options = {}) => {
  const settings = ["-qq", "-y", "-o", `DPkg::Lock::Timeout=${othersWithinMs / 1000}`];
  // In English, because only its words tell a lock from other failures.
  const env = { DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" };
  const ended = await waitFor(
    `apt-get ${args.join(" ")}`,
    () =>
      run("apt-get", [...settings, ...args], { ...options, env }).then(
        (printed) => ({ printed }),
        (error: unknown) => {
          if (isLocked(error)) throw error;
          return { error };
        },
      ),
    { timeoutMs: othersWithinMs, everyMs: 500 },
  );
  if ("error" in ended) throw ended.error;
  return ended.printed;
};

const isLocked = (error: unknown): boolean =>
  error instanceof CommandError && /Could not get lock|Unable to lock directory/.test(error.stderr);
