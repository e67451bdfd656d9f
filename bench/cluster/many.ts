// What one operator costs with one cluster and with many, and how soon it turns to a new one while many others settle.
// Beside it the same operator with nothing to manage.
import { step } from "../../lab/progress.ts";
import { Pod, Service } from "../../src/kube/objects/kinds.ts";
import { EtcdCluster } from "../../src/api/etcd-cluster/etcd-cluster.ts";
import type { Ground } from "../ground.ts";
import { compare, type Figure } from "../measure.ts";
import { type MemorySamples, memorySamples } from "../memory-samples.ts";
import { type Both, endOperated, endPlain, makeOperated, openBoth } from "../places/both.ts";
import { etcdCluster } from "../places/operated.ts";
import { restartOperator } from "../places/operator.ts";
import type { Place } from "../places/place.ts";
import { plainCluster } from "../places/plain.ts";

const port = 8080;

export async function clusterMany(ground: Ground): Promise<Figure[]> {
  const { clusters, rounds } = ground.options;
  using both = await openBoth(ground);
  const { operated: place } = both;
  const operator = await step("restart the operator", () => restartOperator(ground, place.namespace));
  const memory = (): Promise<MemorySamples> =>
    memorySamples(ground, operator, { scrape: `http://${operator.address}:${port}/metrics` });

  const floor = await step("the operator at rest, without a cluster", memory);
  const alone = await step(`first action for a cluster, ${rounds} times`, () => firstActionsAlone(place));
  await step("one cluster", () => makeOperated(place, "one", 3));
  const one = await step("the operator at rest, with it", memory);
  await endOperated(place, "one");

  const names = Array.from({ length: clusters }, (_, number) => `many-${number}`);
  await Promise.all(names.map((name) => ground.api.create(EtcdCluster, etcdCluster(place.key(name), 1))));
  const among = await step(`first action for a cluster while ${clusters} settle`, () => firstActionsAmong(both));
  await step(`${clusters} clusters`, async (progress) => {
    let whole = 0;
    for (const name of names) {
      await place.untilVoters(name, 1);
      whole += 1;
      progress.detail(`${whole} serve`);
    }
  });
  const many = await step("the operator at rest, with them", memory);
  await step(`${clusters} clusters gone`, async () => {
    await Promise.all(names.map((name) => endOperated(place, name)));
  });

  const floorIs = "the same operator, no cluster";
  const figures = (what: string, ours: MemorySamples): Figure[] => [
    compare({ what: `${what}: working set`, unit: "MiB", ours: ours.workingSet, floor: floor.workingSet, floorIs }),
    compare({ what: `${what}: RSS`, unit: "MiB", ours: ours.resident, floor: floor.resident, floorIs }),
  ];
  const what = `create → first pod, while ${clusters} settle`;
  return [
    ...figures("operator, 1 cluster of 3", one),
    ...figures(`operator, ${clusters} clusters of 1`, many),
    compare({ what, unit: "ms", ours: among.ours, floor: alone, floorIs: "the same, no other cluster" }),
    compare({ what, unit: "ms", ...among, floorIs: "Service and pod by hand, at the same moment" }),
  ];
}

/** Milliseconds from the wish for a cluster until its first pod is there. */
async function firstAction(place: Place, name: string): Promise<number> {
  const began = performance.now();
  const seen = place.firstPodOf(name).then(() => performance.now() - began);
  const [took] = await Promise.all([seen, place.ground.api.create(EtcdCluster, etcdCluster(place.key(name), 1))]);
  return took;
}

/** Each when the one before is gone. */
async function firstActionsAlone(place: Place): Promise<number[]> {
  const samples: number[] = [];
  for (const name of namesOf(place, "alone")) {
    samples.push(await firstAction(place, name));
    await endOperated(place, name);
  }
  return samples;
}

/**
 * One right after another, while the many have all to do yet. Beside each what the API server and the machine take of it:
 * its Service and its first pod, made without an operator at the same moment.
 */
async function firstActionsAmong({ operated, plain }: Both): Promise<{ ours: number[]; floor: number[] }> {
  const ours: number[] = [];
  const floor: number[] = [];
  const names = namesOf(operated, "among");
  for (const name of names) {
    const [first, byHand] = await Promise.all([firstAction(operated, name), firstByHand(plain, name)]);
    ours.push(first);
    floor.push(byHand);
  }
  await Promise.all(names.flatMap((name) => [endOperated(operated, name), endPlain(plain, name)]));
  return { ours, floor };
}

async function firstByHand(place: Place, name: string): Promise<number> {
  const { api } = place.ground;
  const { service, pods } = plainCluster(place.key(name), [`${name}-0`]);
  const began = performance.now();
  const seen = place.firstPodOf(name).then(() => performance.now() - began);
  await api.create(Service, service);
  await Promise.all(pods.map((pod) => api.create(Pod, pod)));
  return seen;
}

const namesOf = ({ ground }: Place, prefix: string): string[] =>
  Array.from({ length: ground.options.rounds }, (_, number) => `${prefix}-${number}`);
