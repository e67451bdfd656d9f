// What is measured of a cluster for its metrics: members, alarms and conditions, as they were assessed and reported.
import type { EtcdClusterStatus } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { Assessment } from "../assess/assess.ts";
import { isRolling } from "../assess/roll.ts";
import type { ClusterMeasured } from "../metrics.ts";

export function measuredOf(assessment: Assessment, { conditions = [] }: EtcdClusterStatus): ClusterMeasured {
  const { desired, instances, voters, roll, world } = assessment;
  const { cluster, etcd } = world;
  const isKnown = instances.length > 0;
  return {
    wanted: desired.size,
    healthy: etcd.t === "accessDenied" ? etcd.serving.length : voters.filter(({ alive }) => alive).length,
    voters: isKnown ? voters.length : undefined,
    updated: isKnown ? roll.updated : undefined,
    rolling: isRolling(world) && !cluster.spec.paused && (roll.changes.length > 0 || roll.waits !== undefined),
    alarms: { noSpace: raised(assessment, "noSpace"), corrupt: raised(assessment, "corrupt") },
    conditions: conditions.map(({ type, status, reason }) => ({ type, status, reason })),
  };
}

function raised({ world: { etcd } }: Assessment, type: "noSpace" | "corrupt"): number {
  const answers = "answers" in etcd ? [...etcd.answers.values()] : [];
  const members = answers.flatMap(({ status }) => status.alarms.filter((alarm) => alarm.type === type));
  return new Set(members.map(({ member }) => member)).size;
}
