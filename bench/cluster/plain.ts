// The floor: etcd without an operator. The pods are the operator's own in every setting, so that all that differs is who
// starts them and when: here all at once, and each knows all others from the start.
import { withDefaults } from "../../src/api/etcd-cluster/etcd-cluster.ts";
import { memberPod } from "../../src/cluster/objects/member-pod.ts";
import { peerUrlOf } from "../../src/cluster/objects/names.ts";
import { peerService } from "../../src/cluster/objects/services.ts";
import type { Pod, Service } from "../../src/kube/objects/kinds.ts";
import { etcdVersion } from "./operated.ts";

export interface PlainCluster {
  readonly service: Service;
  readonly pods: readonly Pod[];
}

export function plainCluster(key: { namespace: string; name: string }, members: readonly string[]): PlainCluster {
  // An object of the imagination: the pods are made for it, and then belong to nobody.
  const metadata = { ...key, uid: "none" };
  const cluster = withDefaults({ metadata, spec: { version: etcdVersion, size: members.length } });
  const list = members.map((name) => ({ name, peerUrls: [peerUrlOf(cluster, name)] }));
  return {
    service: ownedByNobody(peerService(cluster)),
    pods: members.map((member) =>
      startingNew(ownedByNobody(memberPod(cluster, member, { as: "joining", members: list }))),
    ),
  };
}

/** Kubernetes would delete what belongs to an object that does not exist. */
function ownedByNobody<T extends Pod | Service>(object: T): T {
  const { name = "", namespace = "", labels = {} } = object.metadata ?? {};
  return { ...object, metadata: { name, namespace, labels } };
}

function startingNew(pod: Pod): Pod {
  const containers = (pod.spec?.containers ?? []).map((container) => ({
    ...container,
    command: (container.command ?? []).map((argument) =>
      argument.startsWith("--initial-cluster-state=") ? "--initial-cluster-state=new" : argument,
    ),
  }));
  return { ...pod, spec: { ...pod.spec, containers } };
}
