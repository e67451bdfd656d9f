// Members whose processes stand still for as long as a test needs that. A kubelet restarts what is silent for a minute, and on a
// busy machine a test may need longer: then the new process is stopped, too.
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { pauseContainer } from "../../../lab/faults/containers.ts";
import { resumeContainer } from "../../../lab/faults/undo.ts";
import { containerOf, findPod, parsePodName } from "../../../lab/nodes/pods.ts";
import { lab } from "./environment.ts";

const everyMs = 5_000;

/** `pods`: as in `namespace/name`. They go on when the work has ended, however it did. */
export async function whilePaused<T>(pods: readonly string[], work: () => Promise<T>): Promise<T> {
  const stop = new AbortController();
  await Promise.all(pods.map((pod) => pauseContainer(lab, pod)));
  const kept = keep(pods, stop.signal);
  try {
    return await work();
  } finally {
    stop.abort();
    await kept;
    for (const pod of pods) await resumeContainer(lab, pod);
  }
}

async function keep(pods: readonly string[], signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await pause(everyMs, undefined, { signal }).catch(() => undefined);
    for (const pod of pods) if (!signal.aborted) await pauseAgain(pod);
  }
}

async function pauseAgain(pod: string): Promise<void> {
  if (!(await runs(pod))) return;
  // The fault of the old process is over.
  await resumeContainer(lab, pod);
  await pauseContainer(lab, pod);
}

/** Not while it is restarted. */
async function runs(pod: string): Promise<boolean> {
  try {
    const { pid } = containerOf(await findPod(lab, parsePodName(pod)));
    return !/^State:\s+T/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
