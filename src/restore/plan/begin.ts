// The first check of an EtcdRestore: bad input is refused before anything is done, and whether a cluster is replaced or made
// is decided, once.
import { type CompleteEtcdCluster, type EtcdClusterSpec, problemsOf } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { CompleteEtcdRestore } from "../../api/etcd-restore/etcd-restore.ts";
import { secondsTime } from "../../kube/objects/objects.ts";
import type { RestoreWorld } from "../observe/world.ts";
import { type Recorded, fail, go, type RestoreDecision, stay, stayWaiting } from "./actions.ts";
import { begunAnnotation, broughtBack } from "./gates.ts";

export function begin({ restore, problems, cluster, clusterSpec }: RestoreWorld, now: number): RestoreDecision {
  if (problems.length > 0) return fail(`${problems.join(" ")} Correct it and apply it again.`);
  const { name } = restore.spec.etcdCluster;
  if (cluster?.metadata.deletionTimestamp !== undefined)
    return stayWaiting(`The EtcdCluster ${name} is being deleted: the restore begins when it is gone.`);
  const refusal = cluster === undefined ? newRefused(name, clusterSpec) : inPlaceRefused(name, restore.metadata.name);
  if (refusal !== undefined) return fail(refusal);
  const again = broughtBack(restore);
  if (again !== undefined) return again;
  if (!hasMark(restore)) return stay("The restore begins.", { actions: [{ do: "markBegun" }] });
  return go("Checking", "The operator looks for the backup.", {
    record: { startedAt: secondsTime(new Date(now)), ...targetRecord(cluster) },
  });
}

/** Written before anything else, so that it is known again whenever it is brought back. */
const hasMark = ({ metadata: { annotations = {} } }: CompleteEtcdRestore): boolean => begunAnnotation in annotations;

function targetRecord(cluster: CompleteEtcdCluster | undefined): Recorded {
  const uid = cluster?.metadata.uid;
  return cluster === undefined || uid === undefined ? { inPlace: false } : { inPlace: true, clusterUid: uid };
}

/** As in etcd-operator 0.9: who writes the name twice means it. */
function inPlaceRefused(cluster: string, name: string): string | undefined {
  if (cluster === name) return undefined;
  return `There is an EtcdCluster ${cluster}: to replace its data, the EtcdRestore must have its name, ${cluster}; to restore into a new cluster, choose another name in spec.etcdCluster.name. Nothing was touched.`;
}

function newRefused(name: string, spec: EtcdClusterSpec | undefined): string | undefined {
  if (spec === undefined || spec === null)
    return `There is no EtcdCluster ${name}: name one that exists, or describe the new one in spec.clusterSpec.`;
  const problems = problemsOf({ metadata: { name }, spec });
  if (problems.length > 0) return `spec.clusterSpec cannot be used: ${problems.join(" ")}`;
  if (spec.paused === true)
    return "spec.clusterSpec.paused is true: a cluster that is paused is not made. Leave it out.";
  return undefined;
}
