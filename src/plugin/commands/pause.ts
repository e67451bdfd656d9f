// `pause` and `resume`: whether the operator manages a cluster.
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { Call, Command, ExitCode } from "../command.ts";
import { confirm, yesFlag } from "../confirm.ts";
import { storedCluster } from "../one-cluster.ts";
import { editClusters, readClusters } from "../permissions.ts";
import { answer } from "../screen/structured.ts";

export const pauseCommand: Command = {
  name: "pause",
  what: "Pause a cluster: the operator does not heal, scale or update it.",
  details: "Sets spec.paused. etcd keeps serving; the operator does not replace a member that is lost meanwhile.",
  arguments: [{ name: "NAME", is: "needed", of: "cluster" }],
  flags: [yesFlag],
  examples: [{ what: "Before manual work", line: "pause my-etcd" }],
  permissions: [readClusters, editClusters],
  run: (call) => setPaused(call, true),
};

export const resumeCommand: Command = {
  name: "resume",
  what: "Resume a paused cluster: the operator manages it again.",
  arguments: [{ name: "NAME", is: "needed", of: "cluster" }],
  flags: [],
  examples: [{ what: "Afterwards", line: "resume my-etcd" }],
  permissions: [readClusters, editClusters],
  run: (call) => setPaused(call, false),
};

async function setPaused(call: Call, paused: boolean): Promise<ExitCode> {
  const { cluster, key, reach } = await storedCluster(call);
  const was = cluster.spec.paused === true;
  if (paused && !was)
    await confirm(call, `The operator does not heal, scale or update ${key.name} until you resume it.`);
  if (was !== paused) await reach.api.mergePatch(EtcdCluster, key, { spec: { paused } });
  const said = `${key.name} is ${paused ? "paused" : "managed"}${was === paused ? " already" : ""}.`;
  const hint = paused ? ` \`kubectl etcd resume ${key.name}\` ends that.` : "";
  return answer(call, `${said}${hint}`, { ...key, paused, changed: was !== paused });
}
