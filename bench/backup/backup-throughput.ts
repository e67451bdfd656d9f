// From the start of the worker until a large database is an object in S3, and until that was read back. Beside it
// etcdctl, which writes a file, and curl, which sends it and fetches it again.
import { rm } from "node:fs/promises";
import * as path from "node:path";
import { step } from "../../lab/progress.ts";
import type { BenchOptions } from "../ground.ts";
import { compare, type Figure, percentile } from "../measure.ts";
import { BackupPlace } from "./place.ts";
import { secondsOf } from "./plain.ts";

/** The ratio of the times: a throughput of 80 % of the floor's. */
const ratioAtMost = 1 / 0.8;

export async function backupThroughput(options: BenchOptions, signal: AbortSignal): Promise<Figure[]> {
  const { rounds, backupMebibytes } = options;
  await using place = await BackupPlace.open(backupMebibytes, signal);
  const ours = { stored: [] as number[], proved: [] as number[] };
  const floor = { stored: [] as number[], proved: [] as number[] };
  await step(`${backupMebibytes} MiB backed up ${rounds} times`, async (progress) => {
    for (let round = 0; round < rounds; round += 1) {
      signal.throwIfAborted();
      const { save, put, get } = await floorOf(place, `floor-${round}`);
      floor.stored.push(save + put);
      floor.proved.push(save + put + get);
      const key = `ours-${round}`;
      const worked = await place.backup(key);
      await place.forget(key);
      ours.stored.push(worked.secondsUntil("upload: done"));
      ours.proved.push(worked.seconds);
      const steps = [save, put, get].map((seconds) => seconds.toFixed(2)).join(" + ");
      progress.detail(`${ours.stored.at(-1)?.toFixed(2)} of ${worked.seconds.toFixed(2)} s, floor ${steps} s`);
    }
  });
  const what = `backup of ${backupMebibytes} MiB`;
  const rate = (samples: readonly number[]): string =>
    `${(backupMebibytes / percentile(samples, 50)).toFixed(0)} MiB/s`;
  const note = (which: "stored" | "proved"): string => `${rate(ours[which])}, floor ${rate(floor[which])}`;
  return [
    compare({
      what: `${what} → stored`,
      unit: "s",
      ours: ours.stored,
      floor: floor.stored,
      floorIs: "etcdctl to a file, curl sends it",
      ratioAtMost,
      note: note("stored"),
    }),
    compare({
      what: `${what} → stored and read back`,
      unit: "s",
      ours: ours.proved,
      floor: floor.proved,
      floorIs: "the same, and curl fetches it",
      ratioAtMost,
      note: note("proved"),
    }),
  ];
}

async function floorOf(place: BackupPlace, key: string): Promise<{ save: number; put: number; get: number }> {
  const file = path.join(place.folder, "floor.db");
  const save = await secondsOf(() => place.plain.save(file));
  const put = await secondsOf(() => place.plain.put(file, key));
  const get = await secondsOf(() => place.plain.get(key, "/dev/null"));
  await rm(file);
  await place.forget(key);
  return { save, put, get };
}
