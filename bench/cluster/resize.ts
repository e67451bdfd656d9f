// From the wish for five members to five healthy voters, and back to three with the other pods gone. Beside it what any
// such change needs: two more plain pods that serve, and two plain pods gone.
import { step } from "../../lab/progress.ts";
import { EtcdCluster } from "../../src/api/etcd-cluster/etcd-cluster.ts";
import { Pod } from "../../src/kube/objects/kinds.ts";
import type { Ground } from "../ground.ts";
import { compare, type Figure } from "../measure.ts";
import { endOperated, makeOperated, makePlain, openBoth } from "../places/both.ts";
import type { Place } from "../places/place.ts";
import { rest, secondsOf } from "../places/until.ts";

const name = "resize";
const few = 3;
const many = 5;

export async function clusterResize(ground: Ground): Promise<Figure[]> {
  using both = await openBoth(ground);
  const ours = { grow: [] as number[], shrink: [] as number[] };
  const floor = { grow: [] as number[], shrink: [] as number[] };
  const { rounds } = ground.options;
  await step(`${few} → ${many} → ${few} members, ${rounds} times`, async (progress) => {
    await makeOperated(both.operated, name, few);
    for (let round = 0; round < rounds; round += 1) {
      const pair = ["a", "b"].map((letter) => `${name}-${round}${letter}`);
      await rest(ground.signal);
      floor.grow.push(await secondsOf(() => Promise.all(pair.map((single) => makePlain(both.plain, single, 1)))));
      ours.grow.push(await secondsOf(() => resize(both.operated, many)));
      progress.detail(`grown in ${ours.grow.at(-1)?.toFixed(2)} s, floor ${floor.grow.at(-1)?.toFixed(2)} s`);
      await rest(ground.signal);
      floor.shrink.push(await secondsOf(() => Promise.all(pair.map((single) => deletePods(both.plain, single)))));
      ours.shrink.push(await secondsOf(() => resize(both.operated, few)));
      progress.detail(`shrunk in ${ours.shrink.at(-1)?.toFixed(2)} s, floor ${floor.shrink.at(-1)?.toFixed(2)} s`);
    }
    await endOperated(both.operated, name);
  });
  const sizes = [
    { what: `${few} → ${many} members`, ours: ours.grow, floor: floor.grow, floorIs: "2 plain pods, made at once" },
    {
      what: `${many} → ${few} members`,
      ours: ours.shrink,
      floor: floor.shrink,
      floorIs: "2 plain pods, deleted at once",
    },
  ];
  return sizes.map((samples) => compare({ unit: "s", ...samples }));
}

async function resize(place: Place, size: number): Promise<void> {
  await place.ground.api.mergePatch(EtcdCluster, place.key(name), { spec: { size } });
  await place.untilVoters(name, size);
}

/** With the grace that their manifest gives them, which is that of the operator's. */
async function deletePods(place: Place, cluster: string): Promise<void> {
  for (const { metadata } of place.podsOf(cluster)) await place.ground.api.delete(Pod, place.key(metadata?.name ?? ""));
  await place.untilGone(cluster);
}
