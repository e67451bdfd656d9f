// Harm to one container: its main process killed at once, or all of its processes stopped and let go on.
import type { LabConfig } from "../config.ts";
import { startTimeOf } from "../daemon.ts";
import { cgroupOf, containerOf, findPod, parsePodName, podText, processesIn } from "../pods.ts";
import { waitFor } from "../progress.ts";
import { type Harm, inflict } from "./record.ts";

type Pause = Extract<Harm, { kind: "pause-container" }>;

/** As a crash or an out-of-memory kill does it; kubelet starts the container again. */
export async function killContainer(lab: LabConfig, pod: string, container?: string): Promise<void> {
  const { pid, name } = containerOf(await findPod(lab, parsePodName(pod)), container);
  const startTime = startTimeOf(pid);
  process.kill(pid, "SIGKILL");
  await waitFor(`the end of container ${name} of ${pod}`, async () => startTimeOf(pid) !== startTime || undefined, {
    timeoutMs: 10_000,
    everyMs: 10,
    lastSeen: () => `process ${pid} is still there`,
  });
}

/** Ends by itself when kubelet replaces the container, because the new one is another control group. */
export async function pauseContainer(lab: LabConfig, pod: string, container?: string): Promise<void> {
  const found = await findPod(lab, parsePodName(pod));
  const { pid, name } = containerOf(found, container);
  const harm: Pause = { kind: "pause-container", cgroup: cgroupOf(pid, "pids") };
  await inflict(lab, `pause-container ${podText(found)} ${name}`, harm, pause, resume);
}

async function pause(harm: Pause): Promise<void> {
  // A process may start another between the look and the signal, so look until nothing is new.
  const stopped = new Set<number>();
  for (;;) {
    const fresh = processesIn(harm.cgroup).filter((pid) => !stopped.has(pid));
    if (fresh.length === 0) return;
    for (const pid of fresh) {
      signal(pid, "SIGSTOP");
      stopped.add(pid);
    }
  }
}

export async function resume(harm: Pause): Promise<void> {
  for (const pid of processesIn(harm.cgroup)) signal(pid, "SIGCONT");
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    // Ended between the look and the signal: nothing is left to stop.
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
