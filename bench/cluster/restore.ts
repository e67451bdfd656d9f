// From the wish to restore a cluster of three in place until the EtcdRestore has succeeded, and until there are three
// healthy voters: the backup is checked, what the cluster holds is saved, its members go and come again. Beside it three
// plain pods made at once, without data.
import { step } from "../../lab/progress.ts";
import type { Ground } from "../ground.ts";
import { compare, type Figure } from "../measure.ts";
import { backUp, restore } from "./backups.ts";
import { endOperated, endPlain, makeOperated, makePlain, openBoth } from "../places/both.ts";
import { Bucket } from "./bucket.ts";
import { secondsOf, stopwatch } from "../places/until.ts";

const size = 3;

export async function clusterRestore(ground: Ground): Promise<Figure[]> {
  using both = await openBoth(ground);
  const { operated, plain } = both;
  await using bucket = await Bucket.open(ground, operated.namespace);
  const ours = { succeeded: [] as number[], voters: [] as number[] };
  const floor: number[] = [];
  await step(`clusters of ${size} restored in place ${ground.options.rounds} times`, async (progress) => {
    for (let round = 0; round < ground.options.rounds; round += 1) {
      const name = `restored-${round}`;
      floor.push(await secondsOf(() => makePlain(plain, name, size)));
      await endPlain(plain, name);
      const voters = await makeOperated(operated, name, size);
      await voters[0]?.etcd.put("bench", name);
      await backUp(operated, name, bucket.backupOf(name, name));
      const seconds = await stopwatch();
      await restore(operated, name, { etcdCluster: { name }, backup: { name } });
      ours.succeeded.push(seconds());
      const [restored] = await operated.untilVoters(name, size);
      ours.voters.push(seconds());
      if ((await restored?.etcd.get("bench")) === undefined) throw new Error(`${name} has lost what was backed up`);
      await endOperated(operated, name);
      const latest = [ours.succeeded, ours.voters, floor].map((samples) => `${samples.at(-1)?.toFixed(2)} s`);
      progress.detail(`${latest[0]}, three voters ${latest[1]}, floor ${latest[2]}`);
    }
  });
  const floorIs = "3 plain pods, static bootstrap, no data";
  const figure = (until: string, samples: readonly number[], aim: { readonly ratioAtMost?: number } = {}): Figure =>
    compare({ what: `restore in place: create → ${until}`, unit: "s", ours: samples, floor, floorIs, ...aim });
  return [figure("Succeeded", ours.succeeded, { ratioAtMost: 6 }), figure(`${size} voters`, ours.voters)];
}
