// Faults of one container: kills its main process, or stops all its processes and resumes them.
import { untilStopped } from "../machine/stopped.ts";
import type { LabConfig } from "../config.ts";
import { startTimeOf } from "../machine/daemon.ts";
import { cgroupOf, containerOf, findPod, parsePodName, podText, processesIn } from "../nodes/pods.ts";
import { waitFor } from "../progress.ts";
import { type Effect, inject } from "./record.ts";

type Pause = Extract<Effect, { kind: "pause-container" }>;

/** Like a crash or an out-of-memory kill; kubelet starts the container again. */
export async function killContainer(lab: LabConfig, pod: string, container?: string): Promise<void> {
  const { pid, name } = containerOf(await findPod(lab, parsePodName(pod)), container);
  const startTime = startTimeOf(pid);
  process.kill(pid, "SIGKILL");
  await waitFor(`the end of container ${name} of ${pod}`, async () => startTimeOf(pid) !== startTime || undefined, {
    timeoutMs: 60_000,
    everyMs: 10,
    lastSeen: () => `process ${pid} is still there`,
  });
}

/** Ends by itself when kubelet replaces the container, because the new one has another cgroup. */
export async function pauseContainer(lab: LabConfig, pod: string, container?: string): Promise<void> {
  const found = await findPod(lab, parsePodName(pod));
  const { pid, name } = containerOf(found, container);
  const effect: Pause = { kind: "pause-container", cgroup: cgroupOf(pid, "pids") };
  await inject(lab, `pause-container ${podText(found)} ${name}`, effect, pause, resume);
}

async function pause(effect: Pause): Promise<void> {
  // A process may start another before the signal arrives, so list until there is none.
  const stopped = new Set<number>();
  for (;;) {
    const fresh = processesIn(effect.cgroup).filter((pid) => !stopped.has(pid));
    if (fresh.length === 0) return;
    for (const pid of fresh) {
      signal(pid, "SIGSTOP");
      await untilStopped(pid);
      stopped.add(pid);
    }
  }
}

export async function resume(effect: Pause): Promise<void> {
  for (const pid of processesIn(effect.cgroup)) signal(pid, "SIGCONT");
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    // It ended before the signal arrived.
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
