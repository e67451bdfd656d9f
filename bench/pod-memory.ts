// What a pod with the runtime in it costs the node it runs on, empty and with a full cache: what its control group is
// charged for, what the kubelet makes of it, and what the process itself has. Beside it the bare program in a pod.
import { findPod } from "../lab/nodes/pods.ts";
import { step, waitFor } from "../lab/progress.ts";
import { Pod } from "../src/kube/objects/kinds.ts";
import type { Ground } from "./ground.ts";
import { leaseIsHeld } from "./lease.ts";
import { compare, type Figure } from "./measure.ts";
import { type MemorySamples, memorySamples } from "./memory-samples.ts";
import { podOf, port, permissions } from "./pod-manifest.ts";
import { loadBenchImage } from "./program.ts";

/** In MiB. The kubelet is asked once a pod, all else several times. */
interface PodMemory extends MemorySamples {
  readonly kubelet: readonly number[];
}

export const podMemory = async (ground: Ground): Promise<Figure[]> => [
  ...(await inNamespace(ground, await ground.namespace(), "pod", 25)),
  ...(await inNamespace(ground, await ground.fullNamespace(), `pod, ${ground.options.objects} objects`, 64)),
];

async function inNamespace(ground: Ground, namespace: string, what: string, atMost: number): Promise<Figure[]> {
  await step("image of the benchmarks", () => loadBenchImage(ground.lab));
  for (const { path, object } of permissions(namespace)) await ground.api.raw("POST", path, object);
  const ours: PodMemory[] = [];
  const floor: PodMemory[] = [];
  await step(`${what}: memory at rest`, async () => {
    for (let count = 0; count < ground.options.repeats; count += 1) {
      ours.push(await measure(ground, "pod", { namespace, name: `pod-${count}` }));
      floor.push(await measure(ground, "bare-pod", { namespace, name: `bare-pod-${count}` }));
    }
  });
  const figure = (name: string, value: (memory: PodMemory) => readonly number[], most?: number): Figure =>
    compare({
      what: `${what}: ${name}`,
      unit: "MiB",
      ours: ours.flatMap(value),
      floor: floor.flatMap(value),
      floorIs: "bare watches and lease, nothing kept",
      ...(most === undefined ? {} : { atMost: most }),
    });
  return [
    figure("working set", (memory) => memory.workingSet, atMost),
    figure("working set by the kubelet", (memory) => memory.kubelet),
    figure("RSS", (memory) => memory.resident),
    figure("its own memory (anonymous)", (memory) => memory.anonymous),
  ];
}

async function measure(
  ground: Ground,
  program: "pod" | "bare-pod",
  key: { namespace: string; name: string },
): Promise<PodMemory> {
  const { api, lab, signal } = ground;
  const created = await api.create(Pod, podOf(program, key), { signal });
  await leaseIsHeld(ground, key);
  const pod = await findPod(lab, key);
  const scraped = program === "pod" ? { scrape: `http://${pod.address}:${port}/metrics` } : {};
  const samples = await memorySamples(ground, pod, scraped);
  const kubelet = await kubeletsWorkingSet(ground, pod.node.name, pod.uid);
  await api.delete(Pod, key, { uid: created.metadata?.uid ?? "" });
  return { ...samples, kubelet: [kubelet] };
}

interface Summary {
  readonly pods: readonly {
    readonly podRef: { readonly uid: string };
    readonly containers: readonly { readonly memory?: { readonly workingSetBytes?: number } }[];
  }[];
}

/** The kubelet measures every ten seconds or so, and at a new pod only after a while. */
async function kubeletsWorkingSet({ api, signal }: Ground, node: string, uid: string): Promise<number> {
  const bytes = await waitFor(
    "the kubelet's figure",
    async () => {
      if (signal.aborted) return 0;
      const summary = (await api.raw("GET", `/api/v1/nodes/${node}/proxy/stats/summary`)) as Summary;
      return summary.pods.find(({ podRef }) => podRef.uid === uid)?.containers[0]?.memory?.workingSetBytes;
    },
    { timeoutMs: 60_000, everyMs: 1_000 },
  );
  signal.throwIfAborted();
  return bytes / 1024 / 1024;
}
