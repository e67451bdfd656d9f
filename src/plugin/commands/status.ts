// `status`: all clusters in a table, or one at a glance.
import { EtcdBackup } from "../../api/etcd-backup/etcd-backup.ts";
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { Call, Command, ExitCode } from "../command.ts";
import { readAll } from "../permissions.ts";
import { structured } from "../screen/structured.ts";
import { all, found, observe } from "../observe/observe.ts";
import { clusterText } from "../view/cluster-text.ts";
import { viewOf } from "../view/cluster-view.ts";
import { fleetOf, fleetText } from "../view/fleet.ts";

export const statusCommand: Command = {
  name: "status",
  what: "Show all clusters, or one at a glance.",
  details:
    "With a name: what the operator does now, why, and what it waits for; how many members the cluster can still lose; each\nmember with role, health, version, size and lag; certificates, backups, and what is still to roll. Read-only. What you\ncannot read is left out and named at the end.",
  arguments: [{ name: "NAME", is: "optional", of: "cluster" }],
  flags: [{ name: "all-namespaces", short: "A", what: "Without a name: the clusters of all namespaces." }],
  examples: [
    { what: "All clusters of the namespace", line: "status" },
    { what: "All clusters everywhere", line: "status -A" },
    { what: "One cluster", line: "status my-etcd" },
    { what: "For a program", line: "status my-etcd -o json" },
  ],
  permissions: readAll,
  async run(call) {
    const [name] = call.arguments;
    return name === undefined ? showFleet(call) : showOne(call, name);
  },
};

async function showFleet({ flags, output, reach, screen, now }: Call): Promise<ExitCode> {
  const { api, namespace } = await reach();
  const everywhere = flags.has("all-namespaces");
  const selection = everywhere ? {} : { namespace };
  const [clusters, backups] = await Promise.all([
    all(api, EtcdCluster, selection),
    found(() => all(api, EtcdBackup, selection)),
  ]);
  const view = fleetOf(clusters, backups, now());
  if (output !== "text") screen.print(structured(output, view));
  else if (view.clusters.length === 0)
    screen.print(
      `No EtcdClusters ${everywhere ? "anywhere" : `in the namespace ${namespace}: -A shows all namespaces`}.`,
    );
  else screen.print(fleetText(view, screen, everywhere ? "all" : "namespace"));
  return 0;
}

async function showOne({ output, reach, screen, now }: Call, name: string): Promise<ExitCode> {
  const there = await reach();
  const view = viewOf(await observe(there, { namespace: there.namespace, name }, now()));
  screen.print(output === "text" ? clusterText(view, screen) : structured(output, view));
  return 0;
}
