// For how long nobody can write when a member is killed: the longest time between two acknowledged writes of a client
// that writes without a pause through the members that remain. Beside it one election, which no operator can spare
// anybody: the same client at a plain cluster whose leader is killed.
import { step } from "../../lab/progress.ts";
import type { Ground } from "../ground.ts";
import { compare, type Figure } from "../measure.ts";
import { endOperated, makeOperated, openBoth } from "../places/both.ts";
import { electionIs, gapOf, gapOfElection, type Harm, kill } from "./election.ts";
import { rolesOf, type Roles } from "../places/voters.ts";

const size = 3;

/** It is gone, and its data with it. */
const deleted: Harm = async (place, victim) => {
  await place.deleteNow(victim);
  return { without: victim };
};

const cases = [
  { what: "follower's process killed", harm: kill, choose: ({ follower }: Roles) => follower },
  { what: "leader's process killed", harm: kill, choose: ({ leader }: Roles) => leader },
  { what: "leader's pod deleted", harm: deleted, choose: ({ leader }: Roles) => leader },
] as const;

export async function clusterWriteGap(ground: Ground): Promise<Figure[]> {
  using both = await openBoth(ground);
  const ours = new Map<string, number[]>(cases.map(({ what }) => [what, []]));
  const floor: number[] = [];
  const { rounds } = ground.options;
  await step(`members killed under writes, ${cases.length + 1} ways, ${rounds} times`, async (progress) => {
    for (let round = 0; round < rounds; round += 1) {
      const name = `gap-${round}`;
      floor.push(await gapOfElection(both.plain, name, size));
      progress.detail(`floor ${floor.at(-1)?.toFixed(0)} ms`);

      let voters = await makeOperated(both.operated, name, size);
      for (const { what, harm, choose } of cases) {
        const victim = choose(await rolesOf(voters));
        const gap = await gapOf(both.operated, name, victim, harm, voters);
        ours.get(what)?.push(gap);
        progress.detail(`${what} ${gap.toFixed(0)} ms`);
        voters = await both.operated.untilVoters(name, size);
      }
      await endOperated(both.operated, name);
    }
  });
  return [...ours].map(([what, samples]) =>
    compare({ what: `no writes: ${what}`, unit: "ms", ours: samples, floor, floorIs: electionIs }),
  );
}
