// What the page receives about one cluster or all, from what was read: the views of `status`, the findings of `doctor`, and
// where and when things are. Purely.
import { diagnosisOf } from "../doctor/doctor.ts";
import type { Observed } from "../observe/observe.ts";
import { type ClusterView, viewOf } from "../view/cluster-view.ts";
import type { FleetView } from "../view/fleet.ts";
import { certificateHue, databaseHue, healthHue, quorumHue, readyHue, rowHue } from "../view/hues.ts";
import { commandLinesOf, completedFindings, type SameFlags } from "./command-lines.ts";
import type { Samples } from "./history.ts";
import type { ClusterMessage, FleetMessage, Hues } from "./messages.ts";
import { timelineOf } from "./timeline.ts";
import { zonesOf } from "./topology.ts";

/** Adds to the samples what it sees. */
export function tellOfCluster(observed: Observed, samples: Samples, flags: SameFlags): ClusterMessage {
  const view = viewOf(observed);
  samples.add(observed.now, view);
  return {
    t: "cluster",
    at: observed.now,
    view,
    hues: huesOf(view),
    zones: zonesOf(observed, view.members),
    timeline: timelineOf(observed),
    findings: completedFindings(diagnosisOf(observed).findings, view.namespace, flags),
    commands: commandLinesOf(view, flags),
    history: samples.history(),
  };
}

function huesOf(view: ClusterView): Hues {
  const { quorum, database, members, certificates } = view;
  return {
    ready: readyHue(view),
    quorum: quorumHue(quorum),
    database: (database && databaseHue(database)) ?? "good",
    members: members.map(healthHue),
    certificates: certificates.map(certificateHue),
  };
}

export function tellOfFleet(view: FleetView, at: number, namespace: string | undefined): FleetMessage {
  const clusters = view.clusters.map((row) => ({ ...row, hue: rowHue(row) }));
  return { t: "fleet", at, ...(namespace !== undefined && { namespace }), view: { ...view, clusters } };
}
