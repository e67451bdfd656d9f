// A full cache: how long it takes to fill, and what it costs to hold. Beside it the same pages, read and forgotten.
// Each runs alone, in a process of its own with the flags of the operator's image.
import { setTimeout as sleep } from "node:timers/promises";
import { kubeconfigPath } from "../lab/config.ts";
import type { Ground } from "./ground.ts";
import { compare, type Figure } from "./measure.ts";
import { type ProcessMemory, processMemory } from "./process.ts";
import { type ProgramName, startOnHost } from "./program.ts";
import { podEnvironment } from "./programs/settings.ts";

interface Filled extends ProcessMemory {
  readonly tookMs: number;
}

export async function cache(ground: Ground): Promise<Figure[]> {
  const namespace = await ground.fullNamespace();
  const ours: Filled[] = [];
  const floor: Filled[] = [];
  for (let count = 0; count < ground.options.repeats; count += 1) {
    ours.push(await fill("cached-list", namespace, ground));
    floor.push(await fill("bare-list", namespace, ground));
  }
  const { objects } = ground.options;
  const floorIs = "bare paged list, nothing kept";
  const figure = (what: string, unit: "s" | "MiB", value: (filled: Filled) => number): Figure =>
    compare({ what: `${objects} objects: ${what}`, unit, ours: ours.map(value), floor: floor.map(value), floorIs });
  return [
    figure("listed and held", "s", ({ tookMs }) => tookMs / 1000),
    figure("RSS of the process", "MiB", ({ resident }) => resident),
    figure("its own memory (anonymous)", "MiB", ({ anonymous }) => anonymous),
    figure("RSS at its peak", "MiB", ({ peak }) => peak),
  ];
}

async function fill(name: ProgramName, namespace: string, ground: Ground): Promise<Filled> {
  const { signal, options } = ground;
  const env = {
    ...podEnvironment({ namespace, lease: name, listen: "0" }),
    KUBECONFIG: kubeconfigPath(ground.lab),
    BENCH_ACCESS: JSON.stringify(await ground.access(name)),
  };
  await using running = await startOnHost(name, env, signal);
  const { objects, tookMs } = (await running.firstLine()) as { objects: number; tookMs: number };
  // One more than was made: every namespace has the cluster's certificate.
  if (objects < options.objects) throw new Error(`${name} found ${objects} objects, not ${options.objects}`);
  await sleep(options.settleSeconds * 1000, undefined, { signal });
  return { tookMs, ...processMemory(running.pid) };
}
