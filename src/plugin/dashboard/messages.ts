// What the server tells the page: the same views that `status -o json` prints, with what only a page can show beside them.
import type { Finding } from "../doctor/finding.ts";
import type { Hue } from "../screen/colour.ts";
import type { ClusterView } from "../view/cluster-view.ts";
import type { FleetRow, FleetView } from "../view/fleet.ts";

export type Message = FleetMessage | ClusterMessage | ProblemMessage;

export interface FleetMessage {
  readonly t: "fleet";
  /** In milliseconds since 1970, by the clock of the server. */
  readonly at: number;
  /** Absent: all namespaces. */
  readonly namespace?: string;
  readonly view: Omit<FleetView, "clusters"> & { readonly clusters: readonly (FleetRow & { readonly hue: Hue })[] };
}

export interface ClusterMessage {
  readonly t: "cluster";
  readonly at: number;
  readonly view: ClusterView;
  readonly hues: Hues;
  readonly zones: readonly Zone[];
  readonly timeline: readonly Moment[];
  /** What is wrong, and the command that fixes it. */
  readonly findings: readonly Finding[];
  readonly commands: readonly CommandLine[];
  readonly history: History;
}

interface ProblemMessage {
  readonly t: "problem";
  readonly at: number;
  readonly sentence: string;
}

export interface Hues {
  readonly ready: Hue;
  readonly quorum: Hue;
  readonly database: Hue;
  /** In the order of the view. */
  readonly members: readonly Hue[];
  readonly certificates: readonly Hue[];
}

/** Where members are: a zone with its nodes. */
export interface Zone {
  /** Absent: the nodes have no zone, or it may not be read. */
  readonly name?: string;
  readonly nodes: readonly NodeOfMembers[];
  /** Nodes of the zone without a member of this cluster. */
  readonly others: number;
}

export interface NodeOfMembers {
  /** Absent: no node has been chosen yet, or there is no pod any more. */
  readonly name?: string;
  /** As in `not ready`, `cordoned`. */
  readonly trouble?: string;
  readonly members: readonly string[];
}

/** Something that happened: an event, or a condition that changed. */
export interface Moment {
  readonly at: number;
  readonly hue: Hue;
  /** As in `MemberReplaced`, `Ready: False`. */
  readonly title: string;
  readonly sentence: string;
  /** How often, where it happened several times. */
  readonly count?: number;
}

export interface CommandLine {
  readonly what: string;
  readonly command: string;
}

/** What was seen since somebody began to watch, the oldest first. `null`: not known at that moment. */
export interface History {
  readonly times: readonly number[];
  readonly members: Readonly<Record<string, Series>>;
}

export interface Series {
  readonly lag: readonly (number | null)[];
  readonly dbSize: readonly (number | null)[];
}
