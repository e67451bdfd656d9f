// From the wish for a cluster of three to three healthy voters. Beside it three plain pods that know each other from the
// start, made at once: no operator that starts from a seed can be faster.
import { step } from "../../lab/progress.ts";
import type { Ground } from "../ground.ts";
import { compare, type Figure } from "../measure.ts";
import { endOperated, endPlain, makeOperated, makePlain, openBoth } from "../places/both.ts";
import { secondsOf } from "../places/until.ts";

const size = 3;

export async function clusterCreate(ground: Ground): Promise<Figure[]> {
  using both = await openBoth(ground);
  const ours: number[] = [];
  const floor: number[] = [];
  // When a kubelet happens to look makes a second's difference, so there are more of these.
  const rounds = 2 * ground.options.rounds;
  await step(`clusters of ${size}, made ${rounds} times`, async (progress) => {
    for (let round = 0; round < rounds; round += 1) {
      const name = `create-${round}`;
      floor.push(await secondsOf(() => makePlain(both.plain, name, size)));
      await endPlain(both.plain, name);
      ours.push(await secondsOf(() => makeOperated(both.operated, name, size)));
      await endOperated(both.operated, name);
      progress.detail(`${ours.at(-1)?.toFixed(2)} s, floor ${floor.at(-1)?.toFixed(2)} s`);
    }
  });
  const floorIs = "3 plain pods, static bootstrap";
  return [compare({ what: `create → ${size} voters`, unit: "s", ours, floor, floorIs, ratioAtMost: 2 })];
}
