// `watch`: `status` that follows what happens: drawn anew on a terminal, else a line for each change.
import { EtcdBackup } from "../../api/etcd-backup/etcd-backup.ts";
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { EtcdRestore } from "../../api/etcd-restore/etcd-restore.ts";
import { Informer } from "../../kube/cache/informer.ts";
import type { Selection } from "../../kube/client/api.ts";
import { systemClock } from "../../kube/clock.ts";
import { Pod } from "../../kube/objects/kinds.ts";
import { type Kind, type KubeObject, secondsTime } from "../../kube/objects/objects.ts";
import type { Call, Command, ExitCode, Right } from "../command.ts";
import type { Reach } from "../place/reach.ts";
import { sentenceOf } from "../place/sentences.ts";
import { readAll } from "../rights.ts";
import { all, found, memberSelector, readSnapshot } from "../snapshot/snapshot.ts";
import { clusterText } from "../view/cluster-text.ts";
import { type ClusterView, viewOf } from "../view/cluster-view.ts";
import { fleetOf, fleetText, type FleetView } from "../view/fleet.ts";

export const watchCommand: Command = {
  name: "watch",
  what: "Follow what happens to all clusters, or to one.",
  details:
    "On a terminal the screen of `status` is drawn anew whenever something changes. Else, or with -o json, each change is a\nline. Ctrl-C ends it.",
  arguments: [{ name: "NAME", is: "optional", of: "cluster" }],
  flags: [{ name: "all-namespaces", short: "A", what: "Without a name: the clusters of all namespaces." }],
  examples: [
    { what: "One cluster, live", line: "watch my-etcd" },
    { what: "A log of what happens", line: "watch my-etcd | tee my-etcd.log" },
  ],
  rights: readAll.map(
    (right): Right =>
      right.resource.includes("/") || right.scope === "cluster"
        ? right
        : { ...right, verbs: [...right.verbs, "watch"] },
  ),
  async run(call) {
    const reach = await call.reach();
    const [name] = call.arguments;
    // A mistake in the name or a right that lacks is said before anything is drawn.
    const follow = name === undefined ? fleetFollower(call, reach) : clusterFollower(call, reach, name);
    await follow.look();
    return followChanges(call, reach, follow);
  },
};

interface Follower {
  readonly sources: readonly (readonly [Kind<KubeObject>, Selection])[];
  /** Reads everything, and shows it if it is worth it. */
  readonly look: () => Promise<void>;
}

/** Changes come in bursts. */
const gatherFor = 250;
/** Ages, and the figures of members, have no event. */
const lookEvery = 5_000;

async function followChanges(call: Call, { api }: Reach, { sources, look }: Follower): Promise<ExitCode> {
  const { signal } = call;
  let wake = (): void => undefined;
  let changed = false;
  for (const [kind, selection] of sources) {
    const informer = new Informer({ api, kind, selection, optional: "live changes", observe: () => undefined });
    informer.subscribe(() => {
      changed = true;
      wake();
    });
    informer.run(signal).catch(() => undefined); // ends only with the signal
  }
  while (!signal.aborted) {
    await new Promise<void>((resolve) => {
      const cancel = systemClock.after(lookEvery, resolve);
      wake = (): void => {
        cancel();
        systemClock.after(gatherFor, resolve);
      };
      signal.addEventListener("abort", () => resolve(), { once: true });
      if (changed) wake();
    });
    changed = false;
    if (signal.aborted) break;
    await look().catch((error: unknown) => call.screen.note(sentenceOf(error)));
  }
  return 0;
}

function clusterFollower(call: Call, reach: Reach, name: string): Follower {
  const { namespace } = reach;
  const own = { namespace, fieldSelector: `metadata.name=${name}` };
  const show = shower(call, lineOf);
  return {
    sources: [
      [EtcdCluster, own],
      [Pod, { namespace, labelSelector: memberSelector(name) }],
      [EtcdRestore, { namespace }],
      [EtcdBackup, { namespace }],
    ],
    async look() {
      const view = viewOf(await readSnapshot(reach, { namespace, name }, call.now()));
      show(view, () => clusterText(view, call.screen));
    },
  };
}

function fleetFollower(call: Call, { api, namespace }: Reach): Follower {
  const everywhere = call.flags.has("all-namespaces");
  const selection = everywhere ? {} : { namespace };
  const show = shower(call, linesOfFleet);
  return {
    sources: [
      [EtcdCluster, selection],
      [EtcdBackup, selection],
    ],
    async look() {
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
      screen.draw(`${text()}\n\n${screen.paint("dim", `${secondsTime(new Date(now()))}, Ctrl-C ends`)}`);
      return;
    }
    const line = inLine(view);
    if (line === last) return;
    last = line;
    screen.print(output === "text" ? `${secondsTime(new Date(now()))} ${line}` : JSON.stringify(view));
  };
}

/** Without ages and figures, which always change. */
export function lineOf({ name, ready, quorum, members }: ClusterView): string {
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
