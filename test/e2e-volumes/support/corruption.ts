// Bytes that flip in the files of a member while it is stopped, as on a bad disk; then it is killed, and finds them when it
// starts again.
import { open, readdir } from "node:fs/promises";
import * as path from "node:path";
import { killContainer } from "../../../lab/faults/containers.ts";
import { untilStopped } from "../../../lab/machine/stopped.ts";
import { containerOf, findPod } from "../../../lab/nodes/pods.ts";
import type { TestCluster } from "../../e2e/support/cluster.ts";
import { lab } from "../../e2e/support/environment.ts";

const page = 4_096;

/** Both meta pages, without which no database is opened, and the middle of the file. */
export async function flipDatabase(cluster: TestCluster, name: string): Promise<void> {
  await whileStopped(cluster, name, async (data) => {
    await flip(path.join(data, "member/snap/db"), (content) => [
      [0, 2 * page],
      [Math.floor(content.length / 2), Math.floor(content.length / 2) + page],
    ]);
  });
}

/**
 * One byte in each record that mentions the key, the last of all aside: etcd cuts a log off at a last record that was
 * written half, and does not start on one whose checksum is wrong.
 */
export async function flipLog(cluster: TestCluster, name: string, key: string): Promise<void> {
  await whileStopped(cluster, name, async (data) => {
    const folder = path.join(data, "member/wal");
    const logs = (await readdir(folder)).filter((file) => file.endsWith(".wal")).toSorted();
    let found = 0;
    for (const file of logs)
      await flip(path.join(folder, file), (content) => {
        const places = placesOf(content, key).slice(0, -1);
        found += places.length;
        return places.map((at) => [at, at + 1]);
      });
    if (found === 0) throw new Error(`the log of ${name} does not mention ${key}`);
  });
}

function placesOf(content: Buffer, text: string): number[] {
  const places: number[] = [];
  for (let at = content.indexOf(text); at !== -1; at = content.indexOf(text, at + 1)) places.push(at);
  return places;
}

/** Inverts these ranges of a file, in place: its blocks stay where they are. */
async function flip(file: string, ranges: (content: Buffer) => readonly (readonly [number, number])[]): Promise<void> {
  await using handle = await open(file, "r+");
  const content = await handle.readFile();
  for (const [from, to] of ranges(content)) {
    const inverted = Buffer.from(content.subarray(from, to).map((byte) => ~byte));
    await handle.write(inverted, 0, inverted.length, from);
  }
  await handle.sync();
}

async function whileStopped(
  { namespace }: TestCluster,
  name: string,
  work: (dataFolder: string) => Promise<void>,
): Promise<void> {
  const { pid } = containerOf(await findPod(lab, { namespace, name }), "etcd");
  process.kill(pid, "SIGSTOP");
  await untilStopped(pid);
  await work(`/proc/${pid}/root/var/etcd/data`);
  await killContainer(lab, `${namespace}/${name}`);
}
