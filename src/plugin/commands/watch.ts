// `watch`: `status` that follows what happens: redrawn on a terminal, else a line for each change.
import { EtcdBackup } from "../../api/etcd-backup/etcd-backup.ts";
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { printableLine } from "../../kube/objects/printable.ts";
import { secondsTime } from "../../kube/objects/objects.ts";
import type { Call, Command } from "../command.ts";
import type { Reach } from "../place/reach.ts";
import { sentenceOf } from "../place/sentences.ts";
import { watchAll } from "../permissions.ts";
import { follow, type WatchedKind, sourcesOfCluster, sourcesOfFleet } from "../observe/follow.ts";
import { all, found, observe } from "../observe/observe.ts";
import { clusterText } from "../view/cluster-text.ts";
import { type ClusterView, viewOf } from "../view/cluster-view.ts";
import { fleetOf, fleetText, type FleetView } from "../view/fleet.ts";

export const watchCommand: Command = {
  name: "watch",
  what: "Follow what happens to all clusters, or to one.",
  details:
    "On a terminal, the screen of `status` is redrawn whenever something changes. Otherwise, or with -o json, each change is a\nline. Ctrl-C stops it.",
  arguments: [{ name: "NAME", is: "optional", of: "cluster" }],
  flags: [{ name: "all-namespaces", short: "A", what: "Without a name: the clusters of all namespaces." }],
  examples: [
    { what: "One cluster, live", line: "watch my-etcd" },
    { what: "A log of what happens", line: "watch my-etcd | tee my-etcd.log" },
  ],
  permissions: watchAll,
  async run(call) {
    const reach = await call.reach();
    const [name] = call.arguments;
    // A mistake in the name or a missing permission is reported before anything is drawn.
    const { sources, refresh } = name === undefined ? fleetFollower(call, reach) : clusterFollower(call, reach, name);
    await refresh();
    const refreshOrNote = (): Promise<void> => refresh().catch((error: unknown) => call.screen.note(sentenceOf(error)));
    await follow({ api: reach.api, sources, refresh: refreshOrNote, signal: call.signal });
    return 0;
  },
};

interface Follower {
  readonly sources: readonly WatchedKind[];
  /** Reads everything, and shows it if it is worth it. */
  readonly refresh: () => Promise<void>;
}

function clusterFollower(call: Call, reach: Reach, name: string): Follower {
  const { namespace } = reach;
  const show = shower(call, lineOf);
  return {
    sources: sourcesOfCluster({ namespace, name }),
    async refresh() {
      const view = viewOf(await observe(reach, { namespace, name }, call.now()));
      show(view, () => clusterText(view, call.screen));
    },
  };
}

function fleetFollower(call: Call, { api, namespace }: Reach): Follower {
  const everywhere = call.flags.has("all-namespaces");
  const selection = everywhere ? {} : { namespace };
  const show = shower(call, linesOfFleet);
  return {
    sources: sourcesOfFleet(selection),
    async refresh() {
      const [clusters, backups] = await Promise.all([
        all(api, EtcdCluster, selection),
        found(() => all(api, EtcdBackup, selection)),
      ]);
      const view = fleetOf(clusters, backups, call.now());
      show(view, () => fleetText(view, call.screen, everywhere ? "all" : "namespace"));
    },
  };
}

/** Draws the text on a terminal; else prints the line, if it is another than the last. */
function shower<V extends object>({ output, screen, now }: Call, inLine: (view: V) => string) {
  let last = "";
  let drawn = false;
  return (view: V, text: () => string): void => {
    if (screen.isTerminal && output === "text") {
      if (!drawn) screen.clear();
      drawn = true;
      screen.draw(`${text()}\n\n${screen.paint("dim", `${secondsTime(new Date(now()))}, Ctrl-C stops`)}`);
      return;
    }
    const line = printableLine(inLine(view));
    if (line === last) return;
    last = line;
    screen.print(output === "text" ? `${secondsTime(new Date(now()))} ${line}` : JSON.stringify(view));
  };
}

/** Without ages and figures, which always change. */
function lineOf({ name, ready, quorum, members }: ClusterView): string {
  const states = members.map((member) => `${member.name} ${member.role} ${member.health}`).join(", ");
  const verdict = ready.status === "True" ? "Ready" : `Not ready, ${ready.reason}: ${ready.sentence}`;
  return `${name} ${quorum.healthy}/${quorum.voters} ${verdict} [${states}]`;
}

function linesOfFleet({ clusters }: FleetView): string {
  return clusters
    .map(
      ({ namespace, name, members, ready, reason }) =>
        `${namespace}/${name} ${members} ${ready === "True" ? "Ready" : reason}`,
    )
    .join("; ");
}
