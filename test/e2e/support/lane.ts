// A cluster of its own with a writer of its own, in a namespace of its own: tests on different lanes run at once, and
// those on one lane one after another, each on what the last one left.
import { after, before } from "node:test";
import { EtcdCluster, type EtcdClusterSpec } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { clusterwide, makeCluster, type TestCluster } from "./cluster.ts";
import { kube, restrictedNamespace } from "./ground.ts";
import type { Whole } from "./whole.ts";
import { Writer } from "./writer.ts";

export interface Lane {
  readonly cluster: TestCluster;
  readonly writer: Writer;
  /** As it was when it was first whole. */
  readonly first: Whole;
}

/** To be called in a `describe`; what it gives is there when the tests of it run. `prepare` comes before the cluster. */
export function lane(
  name: string,
  spec: EtcdClusterSpec,
  prepare: (namespace: string) => Promise<unknown> = async () => {},
): () => Lane {
  let made: Lane | undefined;
  before(async () => {
    const namespace = await restrictedNamespace(name);
    await prepare(namespace);
    const cluster = await makeCluster({ namespace, name }, spec, clusterwide);
    const first = await cluster.whole();
    made = { cluster, first, writer: new Writer(cluster) };
  });
  after(async () => {
    await made?.writer.stop();
    // Its members would go on taking their share of the machine from the lanes that still run.
    if (made !== undefined) await kube.delete(EtcdCluster, made.cluster.key);
  });
  return () => {
    if (made === undefined) throw new Error(`the cluster ${name} was never whole`);
    return made;
  };
}
