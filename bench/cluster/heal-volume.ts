// From the loss of a pod whose member has a volume to three healthy voters again, the same three. Beside it one plain pod,
// deleted and made again on its claim.
import { step } from "../../lab/progress.ts";
import { EtcdCluster } from "../../src/api/etcd-cluster/etcd-cluster.ts";
import { PersistentVolumeClaim, Pod, Service } from "../../src/kube/objects/kinds.ts";
import type { Ground } from "../ground.ts";
import { compare, type Figure } from "../measure.ts";
import { endOperated, endPlain, openBoth } from "../places/both.ts";
import { etcdClusterOnVolumes } from "../places/operated.ts";
import { plainOnVolume } from "../places/plain.ts";
import { rest, secondsOf } from "../places/until.ts";
import { rolesOf, type Voter } from "../places/voters.ts";

const name = "heal-volume";
const size = 3;
/** Enough that a new member would be sent a snapshot; one that comes back on its volume is not. */
const manyKeys = 200;

export async function clusterHealVolume(ground: Ground): Promise<Figure[]> {
  using both = await openBoth(ground);
  const { operated, plain } = both;
  const { api } = ground;
  const ours = { follower: [] as number[], leader: [] as number[] };
  const floor: number[] = [];
  await step(`a pod with a volume deleted ${2 * ground.options.rounds} times`, async (progress) => {
    await api.create(EtcdCluster, etcdClusterOnVolumes(operated.key(name), size));
    let voters = await operated.untilVoters(name, size);
    const { service, claim, pod } = plainOnVolume(plain.key(name));
    await Promise.all([api.create(Service, service), api.create(PersistentVolumeClaim, claim), api.create(Pod, pod)]);
    let single = await plain.untilVoters(name, 1);
    const { leader } = await rolesOf(voters);
    for (let key = 0; key < manyKeys; key += 1) await leader.etcd.put(`/key/${key}`, "x");
    const heal = async (lost: Voter): Promise<number> => {
      await rest(ground.signal);
      return secondsOf(async () => {
        await operated.deleteNow(lost);
        voters = await operated.untilVoters(name, size, { without: lost });
      });
    };
    for (let round = 1; round <= ground.options.rounds; round += 1) {
      const [lost] = single;
      if (lost === undefined) throw new Error("the plain pod is gone");
      await rest(ground.signal);
      floor.push(
        await secondsOf(async () => {
          await plain.deleteNow(lost);
          await api.create(Pod, pod);
          single = await plain.untilVoters(name, 1, { without: lost });
        }),
      );
      ours.follower.push(await heal((await rolesOf(voters)).follower));
      ours.leader.push(await heal((await rolesOf(voters)).leader));
      const latest = [ours.follower, ours.leader, floor].map((samples) => `${samples.at(-1)?.toFixed(2)} s`);
      progress.detail(`follower ${latest[0]}, leader ${latest[1]}, floor ${latest[2]}`);
    }
    await endPlain(plain, name);
    await endOperated(operated, name);
  });
  const floorIs = "one plain pod, made again on its claim";
  const figure = (lost: string, samples: readonly number[]): Figure =>
    compare({
      what: `${lost} with a volume deleted → the same ${size} voters`,
      unit: "s",
      ours: samples,
      floor,
      floorIs,
      ratioAtMost: 2,
    });
  return [figure("follower", ours.follower), figure("leader", ours.leader)];
}
