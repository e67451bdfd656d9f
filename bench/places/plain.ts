// The floor: etcd without an operator. The pods are the operator's own in every setting, so that all that differs is who
// starts them and when: here all at once, and each knows all others from the start.
import { type CompleteEtcdCluster, imageOf, withDefaults } from "../../src/api/etcd-cluster/etcd-cluster.ts";
import { memberClaim } from "../../src/cluster/objects/claims.ts";
import { initialStateVariable, type ListedMember } from "../../src/cluster/objects/first-start.ts";
import { memberPod } from "../../src/cluster/objects/member-pod.ts";
import { memberName, peerUrlOf } from "../../src/cluster/objects/names.ts";
import { peerService } from "../../src/cluster/objects/services.ts";
import type { PersistentVolumeClaim, Pod, Service } from "../../src/kube/objects/kinds.ts";
import { etcdVersion, volumeClaim } from "./operated.ts";

interface PlainCluster {
  readonly service: Service;
  readonly pods: readonly Pod[];
}

interface PlainKey {
  readonly namespace: string;
  readonly name: string;
}

export function plainCluster(key: PlainKey, members: readonly string[]): PlainCluster {
  const cluster = imagined(key);
  const names = members.map(memberName);
  const list = names.map((name) => ({ name, peerUrls: [peerUrlOf(cluster, name)] }));
  return {
    service: ownedByNobody(peerService(cluster)),
    pods: names.map((member) =>
      startingNew(ownedByNobody(memberPod(cluster, member, { as: "joining", members: list }))),
    ),
  };
}

interface PlainOnVolume {
  readonly service: Service;
  readonly claim: PersistentVolumeClaim;
  readonly pod: Pod;
}

/** One member with a volume. When its pod is made again it finds its data there, and reads nothing else. */
export function plainOnVolume(key: PlainKey): PlainOnVolume {
  const { metadata, spec, status } = imagined(key);
  const cluster = { metadata, status, spec: { ...spec, pod: { ...spec.pod, persistentVolumeClaimSpec: volumeClaim } } };
  const member = memberName(`${key.name}-0`);
  return {
    service: ownedByNobody(peerService(cluster)),
    claim: ownedByNobody(memberClaim(cluster, member)),
    pod: ownedByNobody(memberPod(cluster, member, { as: "seed" })),
  };
}

/** One that joins a cluster that runs, with the list exactly as etcd has it. */
export function plainJoiner(key: PlainKey, member: string, list: readonly ListedMember[]): Pod {
  return ownedByNobody(memberPod(imagined(key), memberName(member), { as: "joining", members: list }));
}

export function plainPeerUrl(key: PlainKey, member: string): string {
  return peerUrlOf(imagined(key), memberName(member));
}

/** The pod as it is to be for its container to be started again, in this version. */
export function plainInVersion(pod: Pod, version: string): Pod {
  if (pod.spec === undefined) return pod;
  const { repository } = imagined({ namespace: "", name: "" }).spec;
  const image = imageOf({ repository, version });
  return { ...pod, spec: { ...pod.spec, containers: pod.spec.containers.map((one) => ({ ...one, image })) } };
}

/** There is no such object: the pods are made for it, and then belong to nobody. They do not depend on its size. */
function imagined(key: PlainKey): CompleteEtcdCluster {
  return withDefaults({ metadata: { ...key, uid: "none" }, spec: { version: etcdVersion, size: 3 } });
}

/** Kubernetes would delete what belongs to an object that does not exist. */
function ownedByNobody<T extends PersistentVolumeClaim | Pod | Service>(object: T): T {
  const { name = "", namespace = "", labels = {}, annotations = {} } = object.metadata ?? {};
  return { ...object, metadata: { name, namespace, labels, annotations } };
}

/** The operator starts one member so, and these all: they know each other and are no cluster yet. */
function startingNew(pod: Pod): Pod {
  if (pod.spec === undefined) return pod;
  const containers = pod.spec.containers.map((container) => ({
    ...container,
    env: (container.env ?? []).map((one) => (one.name === initialStateVariable ? { ...one, value: "new" } : one)),
  }));
  return { ...pod, spec: { ...pod.spec, containers } };
}
