// From the wish for a cluster of three with TLS, whose certificates the operator makes or a person gives, to three healthy
// voters that speak it. Beside it the same operator's cluster without TLS: what the certificates cost.
import { step } from "../../lab/progress.ts";
import { EtcdCluster } from "../../src/api/etcd-cluster/etcd-cluster.ts";
import { isNotFound } from "../../src/kube/client/errors.ts";
import { Secret } from "../../src/kube/objects/kinds.ts";
import type { Ground } from "../ground.ts";
import { compare, type Figure } from "../measure.ts";
import { endOperated, makeOperated, openBoth } from "../places/both.ts";
import { giveCertificates, makeGiven, versionsWithGiven } from "../places/given.ts";
import { etcdCluster } from "../places/operated.ts";
import type { Place } from "../places/place.ts";
import { secondsOf } from "../places/until.ts";
import type { Reach } from "../places/voters.ts";

const size = 3;

export async function clusterCreateTls(ground: Ground): Promise<Figure[]> {
  using both = await openBoth(ground);
  const { operated } = both;
  const ours: number[] = [];
  const floor: number[] = [];
  const rounds = 2 * ground.options.rounds;
  await step(`clusters of ${size} with TLS, made ${rounds} times`, async (progress) => {
    for (let round = 0; round < rounds; round += 1) {
      floor.push(await secondsOf(() => makeOperated(operated, `plain-${round}`, size)));
      await endOperated(operated, `plain-${round}`);
      ours.push(await secondsOf(() => makePrivate(operated, `private-${round}`)));
      await endOperated(operated, `private-${round}`);
      progress.detail(`${ours.at(-1)?.toFixed(2)} s, without TLS ${floor.at(-1)?.toFixed(2)} s`);
    }
  });
  const made = compare({ what: `create with TLS → ${size} voters`, unit: "s", ours, floor, floorIs });
  const given: Figure[] = [];
  for (const version of versionsWithGiven) given.push(await createGiven(operated, version));
  return [made, ...given];
}

const floorIs = "the same without TLS";

async function createGiven(place: Place, version: string): Promise<Figure> {
  const ours: number[] = [];
  const floor: number[] = [];
  const { rounds } = place.ground.options;
  const id = version.replaceAll(".", "-");
  await step(
    `clusters of ${size} of etcd ${version} with given certificates, made ${rounds} times`,
    async (progress) => {
      for (let round = 0; round < rounds; round += 1) {
        const [plain, name] = [`plain-${id}-${round}`, `given-${id}-${round}`];
        const given = await giveCertificates(place, name, version);
        floor.push(await secondsOf(() => makeOperated(place, plain, size, version)));
        await endOperated(place, plain);
        ours.push(await secondsOf(() => makeGiven(place, name, given)));
        await endOperated(place, name);
        progress.detail(`${ours.at(-1)?.toFixed(2)} s, without TLS ${floor.at(-1)?.toFixed(2)} s`);
      }
    },
  );
  const what = `create ${version} with given TLS → ${size} voters`;
  return compare({ what, unit: "s", ours, floor, floorIs, ratioAtMost: 1.5 });
}

async function makePrivate(place: Place, name: string): Promise<void> {
  const { spec, ...cluster } = etcdCluster(place.key(name), size);
  await place.ground.api.create(EtcdCluster, { ...cluster, spec: { ...spec, TLS: { auto: true } } });
  let reach: Reach | undefined;
  await place.untilVoters(name, size, {
    reach: async () => (reach ??= await asApplication(place, name)) ?? "there is no certificate yet",
  });
}

/** With the Secret that is made for applications. */
async function asApplication(place: Place, name: string): Promise<Reach | undefined> {
  try {
    const { data = {} } = await place.ground.api.get(Secret, place.key(`${name}-client-tls`));
    const text = (file: string): string => Buffer.from(data[file] ?? "", "base64").toString();
    const tls = { ca: text("ca.crt"), identity: { cert: text("tls.crt"), key: text("tls.key") } };
    return (address, pod) => ({
      url: `https://${address}:2379`,
      serverName: `${pod}.${name}.${place.namespace}.svc`,
      tls,
    });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
