// For how long nobody can write while a member is harmed, and the floor of every such figure: one election, which no
// operator can spare anybody. That is the same client at a plain cluster whose leader is killed.
import { killContainer } from "../../lab/faults/containers.ts";
import { podText } from "../../lab/nodes/pods.ts";
import { endPlain, makePlain } from "../places/both.ts";
import { EndlessWriter } from "../writers/writers.ts";
import { longestGap } from "../writers/gaps.ts";
import type { Place } from "../places/place.ts";
import { calm } from "../places/until.ts";
import { rolesOf, type Voter } from "../places/voters.ts";

/** Gives back who will not be there any more. */
export type Harm = (place: Place, victim: Voter) => Promise<{ without?: Voter }>;

/** It starts again in the same pod, with its data. */
export const kill: Harm = async (place, { name }) => {
  await killContainer(place.ground.lab, podText(place.key(name)), "etcd");
  return {};
};

export const electionIs = "one election: plain leader killed";

/** Milliseconds, of a plain cluster that is made for it. */
export async function gapOfElection(place: Place, name: string, size: number): Promise<number> {
  const voters = await makePlain(place, name, size);
  const gap = await gapOf(place, name, (await rolesOf(voters)).leader, kill, voters);
  await endPlain(place, name);
  return gap;
}

export async function gapOf(
  place: Place,
  name: string,
  victim: Voter,
  harm: Harm,
  voters: readonly Voter[],
): Promise<number> {
  const { signal } = place.ground;
  const remaining = voters.filter((voter) => voter !== victim).map(({ etcd }) => etcd);
  await using writer = new EndlessWriter(remaining);
  await calm(signal);
  const from = performance.now();
  const left = await harm(place, victim);
  await place.untilVoters(name, voters.length, left);
  await calm(signal);
  await writer.stop();
  return longestGap(writer.acknowledged, from);
}
