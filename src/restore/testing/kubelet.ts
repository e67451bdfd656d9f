// Runs the pods of workers, and the init containers of seeds, in memory: each ends after a moment with the answer that a test
// has for its job.
import { Pod } from "../../kube/objects/kinds.ts";
import { keyOf } from "../../kube/objects/objects.ts";
import { type Job, jobVariable, type Result } from "../../worker/job.ts";
import type { FakeApi } from "../../kube/testing/fake-api/fake-api.ts";
import { workerContainerName, restoreContainer } from "../../worker/pod.ts";

/** Undefined: it runs on. */
export type Answer = (job: Job, pod: Pod) => Result | undefined;

/** One pass over all pods. */
export async function runPods(api: FakeApi, answer: Answer): Promise<void> {
  for (const pod of (await api.list(Pod)).items) {
    const job = jobOf(pod);
    if (job === undefined || hasEnded(pod)) continue;
    const result = answer(job, pod);
    if (result !== undefined) await end(api, pod, job, result);
  }
}

export function jobOf({ spec }: Pod): Job | undefined {
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  const text = containers.flatMap(({ env = [] }) => env).find(({ name }) => name === jobVariable)?.value;
  // Written by the very code that is tested.
  return text === undefined ? undefined : (JSON.parse(text) as Job);
}

function hasEnded({ status }: Pod): boolean {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return all.some(({ state }) => state?.terminated !== undefined);
}

async function end(api: FakeApi, pod: Pod, job: Job, result: Result): Promise<void> {
  const exitCode = result.ok ? 0 : 1;
  const ended = { terminated: { exitCode, message: JSON.stringify(result) } };
  const again = {
    state: { waiting: { reason: "CrashLoopBackOff" } },
    lastState: ended,
    restartCount: restartsOf(pod) + 1,
  };
  const isSeed = job.do === "restore";
  const one = {
    name: isSeed ? restoreContainer : workerContainerName,
    image: "worker",
    imageID: "worker",
    ready: false,
    restartCount: 0,
    ...(isSeed && !result.ok ? again : { state: ended }),
  };
  const status = isSeed
    ? { phase: result.ok ? "Running" : "Pending", initContainerStatuses: [one] }
    : { phase: result.ok ? "Succeeded" : "Failed", containerStatuses: [one] };
  await api.mergePatch(Pod, keyOf(pod), { status }, { subresource: "status" });
}

const restartsOf = ({ status }: Pod): number => status?.initContainerStatuses?.[0]?.restartCount ?? 0;
