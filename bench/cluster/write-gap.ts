// For how long nobody can write when a member is killed: the longest time between two acknowledged writes of a client
// that writes without a pause through the members that remain. Beside it one election, which no operator can spare
// anybody: the same client at a plain cluster whose leader is killed.
import { setTimeout as sleep } from "node:timers/promises";
import { killContainer } from "../../lab/faults/containers.ts";
import { podText } from "../../lab/nodes/pods.ts";
import { step } from "../../lab/progress.ts";
import type { Ground } from "../ground.ts";
import { compare, type Figure } from "../measure.ts";
import { endOperated, endPlain, makeOperated, makePlain, openBoth } from "./both.ts";
import { EndlessWriter } from "./endless-writer.ts";
import { longestGap } from "./gaps.ts";
import type { Place } from "./place.ts";
import { rolesOf, type Roles, type Voter } from "./voters.ts";

const size = 3;
/** Writes before the harm and after the cluster is whole again. */
const calmMs = 1_000;

/** Gives back who will not be there any more. */
type Harm = (place: Place, victim: Voter) => Promise<{ without?: Voter }>;

/** It starts again in the same pod, with its data. */
const kill: Harm = async (place, { name }) => {
  await killContainer(place.ground.lab, podText(place.key(name)), "etcd");
  return {};
};

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
      const plain = await makePlain(both.plain, name, size);
      floor.push(await gapOf(both.plain, name, (await rolesOf(plain)).leader, kill, plain));
      progress.detail(`floor ${floor.at(-1)?.toFixed(0)} ms`);
      await endPlain(both.plain, name);

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
  const floorIs = "one election: plain leader killed";
  return [...ours].map(([what, samples]) =>
    compare({ what: `no writes: ${what}`, unit: "ms", ours: samples, floor, floorIs }),
  );
}

async function gapOf(place: Place, name: string, victim: Voter, harm: Harm, voters: readonly Voter[]): Promise<number> {
  const { signal } = place.ground;
  const remaining = voters.filter((voter) => voter !== victim).map(({ etcd }) => etcd);
  await using writer = new EndlessWriter(remaining);
  await sleep(calmMs, undefined, { signal });
  const from = performance.now();
  const left = await harm(place, victim);
  await place.untilVoters(name, size, left);
  await sleep(calmMs, undefined, { signal });
  await writer.stop();
  return longestGap(writer.acknowledged, from);
}
