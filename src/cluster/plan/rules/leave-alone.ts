// When nothing is to be changed: the cluster is observed and reported, and what is there is kept alive (../keep-alive.ts).
import { adoptionProblem, foreignProblem } from "../../assess/adoption.ts";
import type { Assessment } from "../../assess/assess.ts";
import { recordedIdOf } from "../../observe/world.ts";
import type { ClusterDecision } from "../actions.ts";
import { listed } from "../rule.ts";
import { delays } from "../../../controllers/delays.ts";

/** By a person, in one way or another. */
export function heldUp({ desired, world: { cluster } }: Assessment): ClusterDecision | undefined {
  if (cluster.metadata.deletionTimestamp !== undefined)
    return { actions: [], because: "the cluster is being deleted; what it owns goes with it" };
  if (cluster.spec.paused)
    return { actions: [], because: "the cluster is paused (spec.paused)", requeueAfter: delays.atRest };
  if (desired.impossible !== undefined)
    return {
      actions: [],
      because: `the spec cannot be followed: ${desired.impossible}`,
      requeueAfter: delays.atRest,
    };
  return undefined;
}

/** By what is observed. */
export function leaveAlone({ instances, world }: Assessment): ClusterDecision | undefined {
  const { cluster, etcd } = world;
  const left = foreignProblem(world) ?? adoptionProblem(world);
  if (left !== undefined) return { actions: [], because: left, requeueAfter: delays.atRest };
  if (etcd.t !== "quorum" && etcd.t !== "noQuorum") return undefined;

  const clusterId = recordedIdOf(cluster);
  if (clusterId !== undefined && clusterId !== etcd.clusterId)
    return {
      actions: [],
      because: `the pods answer as cluster ${etcd.clusterId}, and this one is ${clusterId}: nothing is built on them`,
      requeueAfter: delays.later,
    };
  if (clusterId === undefined && etcd.strangers.length > 0) {
    const ids = [etcd.clusterId, ...etcd.strangers.map((stranger) => stranger.clusterId)];
    return {
      actions: [],
      because: `the pods answer as several clusters (${ids.join(", ")}), and none is known to be this one`,
      requeueAfter: delays.later,
    };
  }
  // One that has lost its data may lead a cluster of its own. In the other case one of two is wrong, and nobody knows which.
  const leaders = new Set(instances.filter(({ alive }) => alive).map(({ answer }) => answer?.status.leader));
  if (etcd.rivals.length > 0 && leaders.size > 1)
    return {
      actions: [],
      because: `members follow different leaders (${listed(etcd.rivals)}): nothing is changed until they agree`,
      requeueAfter: delays.untilAccepted,
    };
  return undefined;
}
