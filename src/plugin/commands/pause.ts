// `pause` and `resume`: whether the operator manages a cluster.
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { Call, Command, ExitCode } from "../command.ts";
import { confirm, yesFlag } from "../confirm.ts";
import { storedCluster } from "../one-cluster.ts";
import { editClusters, readClusters } from "../permissions.ts";
import { structured } from "../screen/structured.ts";

export const pauseCommand: Command = {
  name: "pause",
  what: "Have the operator leave a cluster alone: it does not heal, scale or update it.",
  details: "Sets spec.paused. etcd goes on serving; a member that is lost meanwhile is not replaced.",
  arguments: [{ name: "NAME", is: "needed", of: "cluster" }],
  flags: [yesFlag],
  examples: [{ what: "Before you do something by hand", line: "pause my-etcd" }],
  permissions: [readClusters, editClusters],
  run: (call) => setPaused(call, true),
};

export const resumeCommand: Command = {
  name: "resume",
  what: "Resume a paused cluster: the operator manages it again.",
  arguments: [{ name: "NAME", is: "needed", of: "cluster" }],
  flags: [],
  examples: [{ what: "When you are done", line: "resume my-etcd" }],
  permissions: [readClusters, editClusters],
  run: (call) => setPaused(call, false),
};

async function setPaused(call: Call, paused: boolean): Promise<ExitCode> {
  const { cluster, key, reach } = await storedCluster(call);
  const was = cluster.spec.paused === true;
  if (paused && !was) await confirm(call, `${key.name} is not healed, scaled or updated until you resume it.`);
  if (was !== paused) await reach.api.mergePatch(EtcdCluster, key, { spec: { paused } });
  const said = `${key.name} is ${paused ? "paused" : "managed"}${was === paused ? " already" : ""}.`;
  const hint = paused ? ` \`kubectl etcd resume ${key.name}\` ends that.` : "";
  call.screen.print(
    call.output === "text" ? `${said}${hint}` : structured(call.output, { ...key, paused, changed: was !== paused }),
  );
  return 0;
}
