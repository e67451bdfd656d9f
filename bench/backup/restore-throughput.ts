// From the start of the worker until the data of a member is made from a large backup, checked and on disk. Beside it
// curl, which fetches the file, and etcdutl, which makes the data.
import { rm } from "node:fs/promises";
import * as path from "node:path";
import { step } from "../../lab/progress.ts";
import type { BenchOptions } from "../ground.ts";
import { compare, type Figure, percentile } from "../measure.ts";
import { BackupPlace } from "./place.ts";
import { secondsOf } from "./plain.ts";

export async function restoreThroughput(options: BenchOptions, signal: AbortSignal): Promise<Figure[]> {
  const { rounds, backupMebibytes } = options;
  await using place = await BackupPlace.open(backupMebibytes, signal);
  const { backup } = (await place.backup("restored")).did;
  const ours: number[] = [];
  const floor: number[] = [];
  await step(`${backupMebibytes} MiB restored ${rounds} times`, async (progress) => {
    for (let round = 0; round < rounds; round += 1) {
      signal.throwIfAborted();
      const { get, restore } = await floorOf(place, backup.key);
      floor.push(get + restore);
      const dataDir = path.join(place.folder, "data");
      const worked = await place.restore(backup, dataDir);
      await rm(dataDir, { recursive: true });
      ours.push(worked.seconds);
      const fetched = worked.secondsUntil("download: done").toFixed(2);
      const steps = [get, restore].map((seconds) => seconds.toFixed(2)).join(" + ");
      progress.detail(`${worked.seconds.toFixed(2)} s, fetched after ${fetched} s, floor ${steps} s`);
    }
  });
  const rate = (samples: readonly number[]): string =>
    `${(backupMebibytes / percentile(samples, 50)).toFixed(0)} MiB/s`;
  return [
    compare({
      what: `restore of ${backupMebibytes} MiB → data of a member`,
      unit: "s",
      ours,
      floor,
      floorIs: "curl fetches the file, etcdutl restores it",
      ratioAtMost: 1.3,
      note: `${rate(ours)}, floor ${rate(floor)}`,
    }),
  ];
}

async function floorOf(place: BackupPlace, key: string): Promise<{ get: number; restore: number }> {
  const file = path.join(place.folder, "floor.db");
  const dataDir = path.join(place.folder, "floor-data");
  const get = await secondsOf(() => place.plain.get(key, file));
  const restore = await secondsOf(() => place.plain.restore(file, dataDir));
  await rm(file);
  await rm(dataDir, { recursive: true });
  return { get, restore };
}
