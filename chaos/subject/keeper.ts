// Keeps what goes with a pod: the logs of its containers and the write-ahead log of its etcd. It makes hard links while the
// files are there, again and again; so they stay as they last were when the kubelet deletes the pod's folders.
import * as fs from "node:fs";
import * as path from "node:path";
import { type LabConfig, labNodes } from "../../lab/config.ts";
import { onNode } from "../../lab/nodes/mounts.ts";
import { findPod } from "../../lab/nodes/pods.ts";
import { volumesOf } from "../../lab/faults/volumes.ts";
import { run } from "../../lab/machine/command.ts";
import { dataVolume } from "../../src/cluster/objects/member-pod.ts";

const everyMs = 200;
const walBelowVolume = path.join("data", "member", "wal");

export interface KeptPod {
  readonly name: string;
  readonly uid: string;
  /** The folder that the kubelet keeps on its node for the logs of its containers. */
  readonly logs: string;
  /** The folder of its volumes. */
  readonly volumes: string;
}

/** A name is this, or goes on after a dash. */
const beginsWith = (name: string, beginning: string): boolean => name === beginning || name.startsWith(`${beginning}-`);

/**
 * Every pod of the namespace whose folders are on one of these nodes' disks, and whose name begins like one of these. Folders
 * of a cluster that was deleted stay for a while.
 */
export function podsOn(roots: readonly string[], namespace: string, beginnings: readonly string[]): KeptPod[] {
  return roots.flatMap((root) =>
    namesIn(path.join(root, "pod-logs")).flatMap((folder) => {
      const [of, name = "", uid = ""] = folder.split("_");
      if (of !== namespace || !beginnings.some((beginning) => beginsWith(name, beginning))) return [];
      const volumes = path.join(root, "kubelet", "pods", uid, "volumes");
      return [{ name, uid, logs: path.join(root, "pod-logs", folder), volumes }];
    }),
  );
}

/** Links every file below that is not linked yet. One that is gone meanwhile was there too shortly. */
export function linkInto(from: string, to: string): void {
  for (const entry of entriesOf(from)) {
    const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)];
    if (entry.isDirectory()) linkInto(source, target);
    // etcd allocates the next segment under another name, and has nothing in it.
    else if (entry.isFile() && !entry.name.endsWith(".tmp") && !fs.existsSync(target)) {
      fs.mkdirSync(to, { recursive: true });
      try {
        fs.linkSync(source, target);
      } catch (error) {
        if (!isGone(error)) throw error;
      }
    }
  }
}

export class Keeper implements Disposable {
  readonly folder: string;
  readonly #lab: LabConfig;
  readonly #namespace: string;
  readonly #beginnings: readonly string[];
  readonly #timer: NodeJS.Timeout;
  /** Members by the uids of their pods. */
  readonly #members = new Map<string, KeptPod>();

  constructor(lab: LabConfig, namespace: string, beginnings: readonly string[], folder: string) {
    this.#lab = lab;
    this.#namespace = namespace;
    this.#beginnings = beginnings;
    this.folder = folder;
    fs.mkdirSync(folder, { recursive: true });
    this.#timer = setInterval(() => this.look(), everyMs);
  }

  look(): void {
    const roots = labNodes(this.#lab).map(({ root }) => root);
    for (const pod of podsOn(roots, this.#namespace, this.#beginnings)) {
      linkInto(pod.logs, path.join(this.folder, "logs", pod.name, pod.uid));
      const data = path.join(pod.volumes, "kubernetes.io~empty-dir", dataVolume, walBelowVolume);
      if (fs.existsSync(data)) {
        this.#members.set(pod.uid, pod);
        linkInto(data, path.join(this.#dataOf(pod.uid), "member", "wal"));
      }
    }
  }

  /** The data folders of all members that had one on their node's disk, gone or not. */
  get data(): string[] {
    return [...this.#members.keys()].map((uid) => this.#dataOf(uid));
  }

  /**
   * Copies the files of members with volumes as they are now. One that is gone has its folder in the list, too, with
   * nothing in it, because what it persisted is missing.
   */
  async copyVolumes(cluster: string, pods: readonly string[]): Promise<string[]> {
    const all = namesIn(path.join(this.folder, "logs")).filter((name) => beginsWith(name, cluster));
    const gone = all.filter((name) => !pods.includes(name)).map((name) => this.#dataOf(name));
    const there = await Promise.all(
      pods.map(async (name) => {
        const pod = await findPod(this.#lab, { namespace: this.#namespace, name });
        const to = path.join(this.#dataOf(name), "member");
        fs.mkdirSync(to, { recursive: true });
        const volume = volumesOf(pod).find(({ destinations }) => destinations.includes("/var/etcd"));
        if (volume === undefined) throw new Error(`${name} has no volume for its data`);
        const [enter, ...args] = [...onNode(pod.node), "cp", "-r", path.join(volume.source, walBelowVolume), to];
        await run(enter, args);
        return this.#dataOf(name);
      }),
    );
    return [...there, ...gone];
  }

  /** Logs of all containers of the pods that have this name, or whose name begins with it, one after the other. */
  logsOf(beginning: string): string {
    return namesIn(path.join(this.folder, "logs"))
      .filter((name) => beginsWith(name, beginning))
      .flatMap((name) => filesBelow(path.join(this.folder, "logs", name)))
      .map((file) => fs.readFileSync(file, "utf8"))
      .join("\n");
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #dataOf(id: string): string {
    return path.join(this.folder, `server-${id}`);
  }
}

function filesBelow(folder: string): string[] {
  return entriesOf(folder)
    .toSorted((a, b) => a.name.localeCompare(b.name))
    .flatMap((entry) => {
      const whole = path.join(folder, entry.name);
      return entry.isDirectory() ? filesBelow(whole) : [whole];
    });
}

function entriesOf(folder: string): fs.Dirent[] {
  try {
    return fs.readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
}

const namesIn = (folder: string): string[] => entriesOf(folder).map(({ name }) => name);

const isGone = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "ENOENT";
