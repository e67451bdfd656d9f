// The most memory that a backup of a large database has in use. Beside it the same of a database without data: what grows
// with the size would show.
import { step } from "../../lab/progress.ts";
import type { BenchOptions } from "../ground.ts";
import { compare, type Figure } from "../measure.ts";
import { BackupPlace } from "./place.ts";

/** 150 MB. */
const atMost = 150e6 / 1024 ** 2;

export async function backupMemory(options: BenchOptions, signal: AbortSignal): Promise<Figure[]> {
  const mebibytes = 2 * options.backupMebibytes;
  await using empty = await BackupPlace.open(0, signal);
  await using full = await BackupPlace.open(mebibytes, signal);
  const ours: number[] = [];
  const floor: number[] = [];
  await step(`${mebibytes} MiB backed up ${options.rounds} times`, async (progress) => {
    for (let round = 0; round < options.rounds; round += 1) {
      signal.throwIfAborted();
      floor.push(await peakOf(empty, round));
      ours.push(await peakOf(full, round));
      progress.detail(`${ours.at(-1)?.toFixed(0)} MiB, without data ${floor.at(-1)?.toFixed(0)} MiB`);
    }
  });
  const floorIs = "the same worker, an etcd without data";
  return [compare({ what: `backup of ${mebibytes} MiB: RSS at its peak`, unit: "MiB", ours, floor, floorIs, atMost })];
}

async function peakOf(place: BackupPlace, round: number): Promise<number> {
  const key = `memory-${round}`;
  const { peakMiB } = await place.backup(key);
  await place.forget(key);
  return peakMiB;
}
