// The two sides of every comparison here: clusters that the operator makes, and plain ones, each in a namespace of their
// own, so that the operator does not even see the floor.
import { EtcdCluster } from "../../src/api/etcd-cluster/etcd-cluster.ts";
import { Pod, Service } from "../../src/kube/objects/kinds.ts";
import type { Ground } from "../ground.ts";
import { etcdCluster, etcdVersion } from "./operated.ts";
import { Place } from "./place.ts";
import { plainCluster } from "./plain.ts";
import type { Voter } from "./voters.ts";

export interface Both extends Disposable {
  readonly operated: Place;
  readonly plain: Place;
}

export async function openBoth(ground: Ground): Promise<Both> {
  using opening = new DisposableStack();
  const operated = opening.use(await Place.open(ground, await ground.operatedNamespace()));
  const plain = opening.use(await Place.open(ground, await ground.namespace()));
  const opened = opening.move();
  return { operated, plain, [Symbol.dispose]: () => opened.dispose() };
}

export async function makeOperated(
  place: Place,
  name: string,
  size: number,
  version: string = etcdVersion,
): Promise<readonly Voter[]> {
  const { spec, ...cluster } = etcdCluster(place.key(name), size);
  await place.ground.api.create(EtcdCluster, { ...cluster, spec: { ...spec, version } });
  return place.untilVoters(name, size);
}

export async function endOperated(place: Place, name: string): Promise<void> {
  await place.ground.api.delete(EtcdCluster, place.key(name));
  await place.untilGone(name);
}

/** Its members have the name of the cluster and a number. */
export async function makePlain(place: Place, name: string, size: number): Promise<readonly Voter[]> {
  const { api } = place.ground;
  const members = Array.from({ length: size }, (_, number) => `${name}-${number}`);
  const { service, pods } = plainCluster(place.key(name), members);
  await Promise.all([api.create(Service, service), ...pods.map((pod) => api.create(Pod, pod))]);
  return place.untilVoters(name, size);
}

export async function endPlain(place: Place, name: string): Promise<void> {
  const { api } = place.ground;
  await api.delete(Service, place.key(name));
  await Promise.all(
    place
      .podsOf(name)
      .map(({ metadata }) => api.delete(Pod, place.key(metadata?.name ?? ""), { gracePeriodSeconds: 0 })),
  );
  await place.untilGone(name);
}
