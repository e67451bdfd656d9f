// From the wish for the next version to three members that run it, while clients write; for how long nobody can write
// meanwhile, and how many writes fail. Beside it three plain containers restarted in place one after another, each as
// soon as the one before answers in the new version; and one election.
import { step } from "../../lab/progress.ts";
import { EtcdCluster } from "../../src/api/etcd-cluster/etcd-cluster.ts";
import { Pod } from "../../src/kube/objects/kinds.ts";
import type { Ground } from "../ground.ts";
import { compare, type Figure } from "../measure.ts";
import { endOperated, endPlain, makeOperated, makePlain, openBoth } from "../places/both.ts";
import { electionIs, gapOfElection } from "./election.ts";
import { longestGap } from "../writers/gaps.ts";
import { etcdVersion, nextEtcdVersion } from "../places/operated.ts";
import type { Place } from "../places/place.ts";
import { plainInVersion } from "../places/plain.ts";
import { EndlessWriter, RetryingWriter } from "../writers/writers.ts";
import { calm, secondsOf, until } from "../places/until.ts";
import { votersWithStorage, votersWithVersion } from "../places/versions.ts";
import type { Voter } from "../places/voters.ts";

const size = 3;

interface Upgraded {
  readonly seconds: number;
  /** The longest time, in milliseconds, in which nobody could write. */
  readonly gap: number;
  readonly client: Pick<RetryingWriter, "acknowledged" | "retried" | "failed">;
}

export async function clusterUpgrade(ground: Ground): Promise<Figure[]> {
  using both = await openBoth(ground);
  const { operated, plain } = both;
  const ours: Upgraded[] = [];
  const floor: Upgraded[] = [];
  const elections: number[] = [];
  const { rounds } = ground.options;
  await step(`${etcdVersion} → ${nextEtcdVersion} under writes, ${rounds} times`, async (progress) => {
    for (let round = 0; round < rounds; round += 1) {
      const name = `upgrade-${round}`;
      elections.push(await gapOfElection(plain, `election-${round}`, size));
      floor.push(await underWrites(plain, name, await makePlain(plain, name, size), restartEach));
      await endPlain(plain, name);
      ours.push(await underWrites(operated, name, await makeOperated(operated, name, size), upgrade));
      await endOperated(operated, name);
      progress.detail(`${textOf(ours)}, floor ${textOf(floor)}, election ${elections.at(-1)?.toFixed(0)} ms`);
    }
  });
  const restarts = `${size} plain containers restarted in place`;
  return [
    compare({
      what: `${size} members ${etcdVersion} → ${nextEtcdVersion}`,
      unit: "s",
      ours: ours.map(({ seconds }) => seconds),
      floor: floor.map(({ seconds }) => seconds),
      floorIs: restarts,
    }),
    compare({
      what: "no writes: members upgraded",
      unit: "ms",
      ours: ours.map(({ gap }) => gap),
      floor: elections,
      floorIs: electionIs,
      ratioAtMost: 1,
      note: `with ${restarts}: ${floor.map(({ gap }) => `${gap.toFixed(0)} ms`).join(", ")}`,
    }),
    compare({
      what: "members upgraded: failed writes",
      unit: "writes",
      ours: ours.map(({ client }) => client.failed.length),
      floor: floor.map(({ client }) => client.failed.length),
      floorIs: restarts,
      atMost: 0,
      note: [...ours.map(summaryOf), ...floor.map((one) => `floor ${summaryOf(one)}`)].join("; "),
    }),
  ];
}

type Change = (place: Place, name: string, voters: readonly Voter[]) => Promise<void>;

/** Ours. */
const upgrade: Change = async (place, name, voters) => {
  await place.ground.api.mergePatch(EtcdCluster, place.key(name), { spec: { version: nextEtcdVersion } });
  await untilUpgraded(place, voters);
};

/** Its floor: the image is all that is changed, and nobody is asked how the others are. */
const restartEach: Change = async (place, _, voters) => {
  const { api } = place.ground;
  for (const voter of voters) {
    const key = place.key(voter.name);
    const containers = plainInVersion(await api.get(Pod, key), nextEtcdVersion).spec?.containers;
    await api.mergePatch(Pod, key, { spec: { containers } });
    await untilUpgraded(place, [voter]);
  }
};

async function untilUpgraded({ ground }: Place, voters: readonly Voter[]): Promise<void> {
  const what = `${voters.map(({ name }) => name).join(", ")} in ${nextEtcdVersion}`;
  await until(what, () => votersWithVersion(voters, nextEtcdVersion), ground.signal);
}

async function underWrites(place: Place, name: string, voters: readonly Voter[], change: Change): Promise<Upgraded> {
  const { signal } = place.ground;
  await until(`${name} to store as ${etcdVersion}`, () => votersWithStorage(voters, etcdVersion), signal);
  const members = voters.map(({ etcd }) => etcd);
  await using writer = new EndlessWriter(members);
  await using client = new RetryingWriter(members);
  await calm(signal);
  const from = performance.now();
  const seconds = await secondsOf(() => change(place, name, voters));
  await calm(signal);
  await writer.stop();
  await client.stop();
  await place.untilVoters(name, size);
  return { seconds, gap: longestGap(writer.acknowledged, from), client };
}

function textOf(samples: readonly Upgraded[]): string {
  const { seconds = 0, gap = 0, client } = samples.at(-1) ?? {};
  return `${seconds.toFixed(2)} s, gap ${gap.toFixed(0)} ms, ${client?.failed.length} failed`;
}

/** How many writes failed, and why. */
function summaryOf({ client: { acknowledged, retried, failed } }: Upgraded): string {
  const why = failed.length === 0 ? "" : ` (${[...new Set(failed)].join(", ")})`;
  return `${failed.length} of ${acknowledged + failed.length}${why}, ${retried} tried again`;
}
