// Finds the data volumes of a pod as its node mounts them, without kubelet's own mounts.
import * as path from "node:path";
import { UsageError } from "../config.ts";
import { type RunningPod, podText } from "../nodes/pods.ts";

export interface Volume {
  readonly name: string;
  /** Its path on the node. */
  readonly source: string;
  readonly destinations: readonly string[];
}

/** A pod's folder has its volumes by plugin, and kubelet's own files (hosts, termination messages). */
const dataPlugins = ["kubernetes.io~empty-dir", "kubernetes.io~local-volume", "kubernetes.io~csi"];

function holdsData(pod: RunningPod, source: string): boolean {
  const inPod = source.split(`/pods/${pod.uid}/`)[1];
  if (inPod !== undefined) return dataPlugins.some((plugin) => inPod.startsWith(`volumes/${plugin}/`));
  // Host names and shared memory of the sandbox are in the runtime's own folders.
  return !source.startsWith(`${pod.node.root}/containerd`) && !source.startsWith("/dev/");
}

export function volumesOf(pod: RunningPod): Volume[] {
  const volumes = new Map<string, Volume>();
  for (const mount of pod.containers.flatMap((container) => container.mounts)) {
    if (!holdsData(pod, mount.source)) continue;
    const known = volumes.get(mount.source)?.destinations ?? [];
    volumes.set(mount.source, {
      name: path.basename(mount.source),
      source: mount.source,
      destinations: [...known, mount.destination],
    });
  }
  return [...volumes.values()];
}

/** By its name on the node, or by where it is mounted in a container; without a name the only one. */
export function volumeNamed(pod: RunningPod, volumes: readonly Volume[], name?: string): Volume {
  const chosen =
    name === undefined && volumes.length === 1
      ? volumes[0]
      : volumes.find((volume) => name !== undefined && (volume.name === name || volume.destinations.includes(name)));
  if (chosen !== undefined) return chosen;
  const known = volumes.map((volume) => `${volume.name} (${volume.destinations.join(", ")})`).join(", ") || "none";
  throw new UsageError(
    name === undefined
      ? `The pod ${podText(pod)} needs its volume named; it has ${known}.`
      : `The pod ${podText(pod)} has no volume "${name}"; it has ${known}.`,
  );
}
