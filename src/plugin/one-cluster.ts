// The cluster that a command is about: the EtcdCluster of its first argument, and all that was observed of it.
import { EtcdCluster } from "../api/etcd-cluster/etcd-cluster.ts";
import type { Key } from "../kube/objects/objects.ts";
import type { Call } from "./command.ts";
import type { Reach } from "./place/reach.ts";
import { observe, type Observed } from "./observe/observe.ts";
import { type ClusterView, viewOf } from "./view/cluster-view.ts";

export interface Chosen {
  readonly reach: Reach;
  readonly key: Key;
}

export async function chosenCluster({ arguments: [name = ""], reach }: Call): Promise<Chosen> {
  const there = await reach();
  return { reach: there, key: { namespace: there.namespace, name } };
}

export interface Target extends Chosen {
  readonly observed: Observed;
  readonly view: ClusterView;
}

export async function readTarget(call: Call): Promise<Target> {
  const chosen = await chosenCluster(call);
  const observed = await observe(chosen.reach, chosen.key, call.now());
  return { ...chosen, observed, view: viewOf(observed) };
}

/** Fails when there is none, so that a mistyped name is said before anything else. */
export async function storedCluster(call: Call): Promise<Chosen & { readonly cluster: EtcdCluster }> {
  const chosen = await chosenCluster(call);
  return { ...chosen, cluster: await chosen.reach.api.get(EtcdCluster, chosen.key) };
}
