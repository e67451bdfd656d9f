// From the wish for a cluster of three to three healthy voters. Beside it three plain pods that know each other from the
// start, made at once: no operator that starts from a seed can be faster, unless DNS remembers that a name was absent.
import { cacheDns } from "../../lab/faults/control-plane.ts";
import { noCacheDns } from "../../lab/faults/undo.ts";
import { step } from "../../lab/progress.ts";
import type { Ground } from "../ground.ts";
import { compare, type Figure } from "../measure.ts";
import { type Both, endOperated, endPlain, makeOperated, makePlain, openBoth } from "../places/both.ts";
import { secondsOf } from "../places/until.ts";

const size = 3;

export async function clusterCreate(ground: Ground): Promise<Figure[]> {
  using both = await openBoth(ground);
  const floorIs = "3 plain pods, static bootstrap";
  const what = `create → ${size} voters`;
  // When a kubelet happens to sync makes a second's difference, so there are more of these.
  const usual = await made(both, "create", 2 * ground.options.rounds);
  const cached = await whereDnsCaches(ground, () => made(both, "cached", ground.options.rounds));
  return [
    compare({ what, unit: "s", ...usual, floorIs, ratioAtMost: 2 }),
    compare({ what: `${what}, where DNS caches`, unit: "s", ...cached, floorIs, ratioAtMost: 1 }),
  ];
}

async function made({ operated, plain }: Both, prefix: string, rounds: number): Promise<Samples> {
  const ours: number[] = [];
  const floor: number[] = [];
  await step(`clusters of ${size}, made ${rounds} times`, async (progress) => {
    for (let round = 0; round < rounds; round += 1) {
      const name = `${prefix}-${round}`;
      floor.push(await secondsOf(() => makePlain(plain, name, size)));
      await endPlain(plain, name);
      ours.push(await secondsOf(() => makeOperated(operated, name, size)));
      await endOperated(operated, name);
      progress.detail(`${ours.at(-1)?.toFixed(2)} s, floor ${floor.at(-1)?.toFixed(2)} s`);
    }
  });
  return { ours, floor };
}

/** As in many installations: pods that know each other from the start ask for each other before DNS has their names. */
async function whereDnsCaches<T>({ lab }: Ground, work: () => Promise<T>): Promise<T> {
  await cacheDns(lab);
  try {
    return await work();
  } finally {
    await noCacheDns(lab);
  }
}

interface Samples {
  readonly ours: readonly number[];
  readonly floor: readonly number[];
}
