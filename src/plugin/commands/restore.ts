// `restore`: replaces the data of a cluster by a backup, or makes a new cluster from it.
import { EtcdBackup } from "../../api/etcd-backup/etcd-backup.ts";
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { EtcdRestore } from "../../api/etcd-restore/etcd-restore.ts";
import { getOrUndefined } from "../../kube/client/get-or-undefined.ts";
import type { Call, Command, ExitCode } from "../command.ts";
import { confirm, yesFlag } from "../confirm.ts";
import { UsageError } from "../line/usage-error.ts";
import { type Chosen, chosenCluster } from "../one-cluster.ts";
import { Refusal } from "../place/refusal.ts";
import { readClusters } from "../permissions.ts";
import { answer } from "../screen/structured.ts";
import { until, type Verdict, waitFlags } from "../until.ts";

export const restoreCommand: Command = {
  name: "restore",
  what: "Replace the data of a cluster with a backup, or create a new cluster from it.",
  details:
    "Creates an EtcdRestore. The operator verifies the backup before it changes anything, and keeps the current data of the\ncluster: in its volumes, or saved beside the backup. With --into, it leaves the cluster unchanged and creates a new one.",
  arguments: [{ name: "NAME", is: "needed", of: "cluster" }],
  flags: [
    { name: "from", value: "BACKUP", what: "The EtcdBackup that made the backup. Its newest backup is restored." },
    {
      name: "before",
      value: "TIME",
      what: "Restore the newest backup that started before this time, as in 2026-01-31T12:00:00Z.",
    },
    { name: "into", value: "NEW", what: "Create a new cluster with this name and the spec of NAME." },
    ...waitFlags,
    yesFlag,
  ],
  examples: [
    { what: "The newest backup, in place", line: "restore my-etcd --from=nightly --wait" },
    { what: "The state before a mistake", line: "restore my-etcd --from=nightly --before=2026-01-31T12:00:00Z" },
    { what: "Into a new cluster, as a test", line: "restore my-etcd --from=nightly --into=my-etcd-copy --wait" },
  ],
  permissions: [
    readClusters,
    { group: EtcdBackup.group, resource: EtcdBackup.plural, verbs: ["get"] },
    { group: EtcdRestore.group, resource: EtcdRestore.plural, verbs: ["get", "create", "delete"] },
  ],
  async run(call) {
    const from = call.flags.text("from");
    if (from === undefined) throw new UsageError("Name the EtcdBackup, as in --from=nightly.");
    const chosen = await chosenCluster(call);
    const { key, reach } = chosen;
    await reach.api.get(EtcdBackup, { namespace: key.namespace, name: from });
    const into = call.flags.text("into");
    return into === undefined ? inPlace(call, chosen, from) : intoNew(call, chosen, from, into);
  },
};

async function inPlace(call: Call, { key, reach }: Chosen, from: string): Promise<ExitCode> {
  await reach.api.get(EtcdCluster, key);
  await confirm(
    call,
    `This stops all members of ${key.name} and replaces its data with a backup of ${from}. The cluster serves nothing meanwhile.`,
  );
  await makeRoom(reach, key);
  return begin(call, { key, reach }, key.name, { etcdCluster: { name: key.name }, ...sourceOf(call, from) });
}

async function intoNew(call: Call, { key, reach }: Chosen, from: string, into: string): Promise<ExitCode> {
  const { spec } = await reach.api.get(EtcdCluster, key);
  const there = await getOrUndefined(reach.api, EtcdCluster, { ...key, name: into });
  if (there !== undefined)
    throw new Refusal(
      `The EtcdCluster ${into} already exists: choose another name, or omit --into to replace its data.`,
    );
  await makeRoom(reach, { ...key, name: into });
  const { paused: _, ...clusterSpec } = spec;
  return begin(call, { key, reach }, into, { etcdCluster: { name: into }, ...sourceOf(call, from), clusterSpec });
}

const sourceOf = ({ flags }: Call, from: string) => {
  const before = flags.text("before");
  return { backup: { name: from }, ...(before !== undefined && { before }) };
};

/** An EtcdRestore that is over is only a record, and its name is needed. */
async function makeRoom({ api }: Chosen["reach"], key: Chosen["key"]): Promise<void> {
  const old = await getOrUndefined(api, EtcdRestore, key);
  if (old === undefined) return;
  const { phase } = old.status ?? {};
  if (phase !== "Succeeded" && phase !== "Failed")
    throw new Refusal(
      `The EtcdRestore ${key.name} is in progress (${phase ?? "not started"}): follow it with \`kubectl etcd watch\`.`,
    );
  const uid = old.metadata?.uid;
  await api.delete(EtcdRestore, key, uid === undefined ? {} : { uid });
}

async function begin(call: Call, { key, reach }: Chosen, name: string, spec: EtcdRestore["spec"]): Promise<ExitCode> {
  const restoreKey = { namespace: key.namespace, name };
  await reach.api.create(EtcdRestore, { metadata: restoreKey, spec });
  const said = call.flags.has("wait")
    ? await until(call, reach, EtcdRestore, restoreKey, judge)
    : `Created the EtcdRestore ${name}: follow it with \`kubectl etcd watch ${name}\`.`;
  return answer(call, said, { restore: name, message: said });
}

function judge({ status = {} }: EtcdRestore): Verdict {
  const { phase, message, reason } = status;
  if (phase === "Succeeded")
    return { t: "done", says: `Restored: ${message ?? "the cluster has the data of the backup."}` };
  if (phase === "Failed") return { t: "failed", says: reason ?? message ?? "The restore failed." };
  return { t: "waits", says: `${phase ?? "Waiting"}: ${message ?? "the operator has not started yet."}` };
}
