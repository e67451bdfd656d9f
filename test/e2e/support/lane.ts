// A lane: one cluster with a writer, in its own namespace. Lanes run in parallel; the tests of one lane share its cluster
// and run one after another.
import { after, before } from "node:test";
import { EtcdCluster, type EtcdClusterSpec } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { clusterwide, createCluster, type TestCluster } from "./cluster.ts";
import { kube, restrictedNamespace } from "./environment.ts";
import type { HealthyCluster } from "./healthy.ts";
import { Writer } from "../proofs/writer.ts";

export interface Lane {
  readonly cluster: TestCluster;
  readonly writer: Writer;
  /** When it was first healthy. */
  readonly first: HealthyCluster;
}

/** Call it in a `describe`; the returned function works inside its tests. `prepare` runs before the cluster is created. */
export function lane(
  name: string,
  spec: EtcdClusterSpec,
  prepare: (namespace: string) => Promise<unknown> = async () => {},
): () => Lane {
  return laneOf(name, async () => {
    const namespace = await restrictedNamespace(name);
    await prepare(namespace);
    return createCluster({ namespace, name }, spec, clusterwide);
  });
}

/** The same with a cluster that the test creates in its own way. */
export function laneOf(name: string, create: () => Promise<TestCluster>): () => Lane {
  let made: Lane | undefined;
  before(async () => {
    const cluster = await create();
    const first = await cluster.untilHealthy();
    made = { cluster, first, writer: new Writer(cluster) };
  });
  after(async () => {
    await made?.writer.stop();
    // Frees the machine for the lanes that still run.
    if (made !== undefined) await kube.delete(EtcdCluster, made.cluster.key);
  });
  return () => {
    if (made === undefined) throw new Error(`the cluster ${name} was never healthy`);
    return made;
  };
}
