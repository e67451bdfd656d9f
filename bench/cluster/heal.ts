// From the loss of a pod to three healthy voters without it. Beside it the least that brings any etcd back: one plain
// pod, deleted and made again.
import { step } from "../../lab/progress.ts";
import type { Ground } from "../ground.ts";
import { compare, type Figure } from "../measure.ts";
import { endOperated, endPlain, makeOperated, makePlain, openBoth } from "../places/both.ts";
import { giveCertificates, makeGiven, versionsWithGiven } from "../places/given.ts";
import type { Place } from "../places/place.ts";
import { rest, secondsOf } from "../places/until.ts";
import { rolesOf, type Voter } from "../places/voters.ts";

const name = "heal";
const size = 3;
/** After a hundred etcd sends a new member a snapshot, and that keeps it from answering for another 7 s. */
const manyKeys = 200;

export async function clusterHeal(ground: Ground): Promise<Figure[]> {
  using both = await openBoth(ground);
  const { operated, plain } = both;
  const ours = { follower: [] as number[], leader: [] as number[], written: [] as number[] };
  const floor: number[] = [];
  await step(`a pod deleted ${3 * ground.options.rounds} times`, async (progress) => {
    let voters = await makeOperated(operated, name, size);
    let single = await makePlain(plain, `${name}-0`, 1);
    const heal = async (lost: Voter): Promise<number> => {
      await rest(ground.signal);
      return secondsOf(async () => {
        await operated.deleteNow(lost);
        voters = await operated.untilVoters(name, size, { without: lost });
      });
    };
    for (let round = 1; round <= ground.options.rounds; round += 1) {
      floor.push(
        await secondsOf(async () => {
          for (const voter of single) await plain.deleteNow(voter);
          single = await makePlain(plain, `${name}-${round}`, 1);
        }),
      );
      ours.follower.push(await heal((await rolesOf(voters)).follower));
      ours.leader.push(await heal((await rolesOf(voters)).leader));
      const latest = [ours.follower, ours.leader, floor].map((samples) => `${samples.at(-1)?.toFixed(2)} s`);
      progress.detail(`follower ${latest[0]}, leader ${latest[1]}, floor ${latest[2]}`);
    }
    const { leader } = await rolesOf(voters);
    for (let key = 0; key < manyKeys; key += 1) await leader.etcd.put(`/key/${key}`, "x");
    for (let round = 0; round < ground.options.rounds; round += 1) {
      ours.written.push(await heal((await rolesOf(voters)).follower));
      progress.detail(`follower, after ${manyKeys} writes ${ours.written.at(-1)?.toFixed(2)} s`);
    }
    await endPlain(plain, `${name}-${ground.options.rounds}`);
    await endOperated(operated, name);
  });
  const floorIs = "one plain pod, made again";
  const figure = (lost: string, samples: readonly number[]): Figure =>
    compare({ what: `${lost} deleted → ${size} voters`, unit: "s", ours: samples, floor, floorIs, ratioAtMost: 2 });
  const written = `follower deleted after ${manyKeys} writes → ${size} voters that answer`;
  return [
    figure("follower", ours.follower),
    figure("leader", ours.leader),
    compare({ what: written, unit: "s", ours: ours.written, floor, floorIs }),
    ...(await healGivenIn(operated)),
  ];
}

async function healGivenIn(place: Place): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const version of versionsWithGiven) figures.push(await healGiven(place, version));
  return figures;
}

/** Two clusters of the same operator, which differ in nothing but the certificates. */
async function healGiven(place: Place, version: string): Promise<Figure> {
  const { options, signal } = place.ground;
  const id = version.replaceAll(".", "-");
  const [plain, name] = [`plain-${id}`, `given-${id}`];
  const ours: number[] = [];
  const floor: number[] = [];
  await step(`a pod of etcd ${version} with given certificates deleted ${options.rounds} times`, async (progress) => {
    const given = await giveCertificates(place, name, version);
    let without = await makeOperated(place, plain, size, version);
    let voters = await makeGiven(place, name, given);
    for (let round = 0; round < options.rounds; round += 1) {
      await rest(signal);
      const lost = (await rolesOf(without)).follower;
      floor.push(
        await secondsOf(async () => {
          await place.deleteNow(lost);
          without = await place.untilVoters(plain, size, { without: lost });
        }),
      );
      const next = (await rolesOf(voters)).follower;
      ours.push(
        await secondsOf(async () => {
          await place.deleteNow(next);
          voters = await place.untilVoters(name, size, { without: next, reach: () => Promise.resolve(given.reach) });
        }),
      );
      progress.detail(`${ours.at(-1)?.toFixed(2)} s, without TLS ${floor.at(-1)?.toFixed(2)} s`);
    }
    await endOperated(place, plain);
    await endOperated(place, name);
  });
  const what = `follower of ${version} with given TLS deleted → ${size} voters`;
  return compare({ what, unit: "s", ours, floor, floorIs: "the same without TLS", ratioAtMost: 1.5 });
}
