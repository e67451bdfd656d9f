// When nothing at all is to be changed: the world is looked at and told, and that is all.
import { type Decision, pace } from "../situation.ts";
import type { World } from "../../observe/world.ts";

export function leaveAlone({ cluster, problems, etcd }: World): Decision | undefined {
  if (cluster.metadata.deletionTimestamp !== undefined)
    return { actions: [], because: "the cluster is being deleted; what it owns goes with it" };
  if (cluster.spec.paused)
    return { actions: [], because: "the cluster is paused (spec.paused)", lookAgainAfter: pace.slowly };
  if (problems.length > 0)
    return { actions: [], because: `the spec cannot be followed: ${problems.join(" ")}`, lookAgainAfter: pace.slowly };
  if (etcd.t !== "quorum" && etcd.t !== "noQuorum") return undefined;

  const { clusterId } = cluster.status;
  if (clusterId !== undefined && clusterId !== etcd.clusterId)
    return {
      actions: [],
      because: `the pods answer as cluster ${etcd.clusterId}, and this one is ${clusterId}: nothing is built on them`,
      lookAgainAfter: pace.later,
    };
  if (clusterId === undefined && etcd.strangers.length > 0) {
    const ids = [etcd.clusterId, ...etcd.strangers.map((stranger) => stranger.clusterId)];
    return {
      actions: [],
      because: `the pods answer as several clusters (${ids.join(", ")}), and none is known to be this one`,
      lookAgainAfter: pace.later,
    };
  }
  return undefined;
}
