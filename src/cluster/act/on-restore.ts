// What is done when the data of a cluster is replaced by that of a backup.
import { EtcdBackup, withDefaults as completeBackup } from "../../api/etcd-backup/etcd-backup.ts";
import { workerPolicyOf } from "../../restore/place.ts";
import { restoreJobOf } from "../../restore/seed.ts";
import type { FirstStart } from "../objects/first-start.ts";
import { peerUrlOf } from "../objects/names.ts";
import { type PodTls, schemeOf } from "../objects/tls.ts";
import type { ActionOf } from "../plan/actions.ts";
import type { Execution } from "./execution.ts";
import { unlessNotFound } from "./live.ts";
import { Refused } from "./outcome.ts";
import { restoreNow } from "./preconditions.ts";
import { writeStatus } from "./write-status.ts";

export async function beginRestore(execution: Execution, { name, uid }: ActionOf<"beginRestore">): Promise<void> {
  await writeStatus(execution, { restore: { name, uid, phase: "Stopping" } });
}

/** What the old members were is forgotten in the same write: from here on the cluster has yet to begin. */
export async function beginSeed(execution: Execution, { name, uid }: ActionOf<"beginSeed">): Promise<void> {
  await writeStatus(execution, {
    restore: { name, uid, phase: "Seeding" },
    phase: "Creating",
    clusterId: null,
    raftLogVersion: null,
    voters: [],
    size: 0,
  });
}

/** How the first member comes to its data. */
export async function seedStart(execution: Execution, member: string, tls: PodTls): Promise<FirstStart> {
  const { cluster, context, pass } = execution;
  const { restore } = cluster.status;
  if (restore?.phase !== "Seeding") return { as: "seed" };
  const image = context.workerImage();
  if (image === undefined)
    throw new Refused(
      "the operator does not know its own image: start it with -worker-image, so that data can be restored.",
    );
  const found = await restoreNow(execution, restore.name, restore.uid);
  const from = found.spec.backup?.name;
  const backup = from === undefined ? undefined : await backupNamed(execution, from);
  const peerUrl = peerUrlOf(cluster, member, schemeOf(tls.peer === "tls"));
  const { job, mounts } = restoreJobOf(found, backup, { name: member, peerUrl }, cluster.spec.version);
  pass.signal.throwIfAborted();
  return { as: "restored", restore: { image, job, mounts, policy: workerPolicyOf(found, backup) } };
}

async function backupNamed({ cluster, pass }: Execution, name: string) {
  const { namespace } = cluster.metadata;
  const found = await pass.api.get(EtcdBackup, { namespace, name }).catch(unlessNotFound);
  if (found === undefined)
    throw new Refused(
      `the EtcdBackup ${name} that the EtcdRestore names is gone: make it again, or apply an EtcdRestore that says where the backup is.`,
    );
  return completeBackup(found);
}
