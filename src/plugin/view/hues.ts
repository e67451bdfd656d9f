// What is good, a warning or bad in a view: the terminal and the page paint by the same judgement.
import type { Hue } from "../screen/colour.ts";
import type { CertificateView, ClusterView, DatabaseView, QuorumView } from "./cluster-view.ts";
import type { FleetRow } from "./fleet.ts";
import type { MemberView } from "./members.ts";

/** Ready is False, and nobody has to do anything about it. */
const progressing: ReadonlySet<string> = new Set([
  "Creating",
  "Scaling",
  "Updating",
  "Joining",
  "Electing",
  "ServiceNotReady",
  "MembersLeaving",
  "VolumesDoomed",
  "Restoring",
]);

const readyHues = { True: "good", False: "bad", Unknown: "warning" } as const;

export function readyHue({ ready, quorum }: Pick<ClusterView, "ready" | "quorum">): Hue {
  const isChanging = ready.status === "False" && quorum.margin >= 0 && progressing.has(ready.reason);
  return isChanging ? "warning" : readyHues[ready.status];
}

export function rowHue({ ready, reason, paused }: FleetRow): Hue {
  return paused || (ready === "False" && progressing.has(reason)) ? "warning" : readyHues[ready];
}

export function quorumHue({ margin, voters }: QuorumView): Hue {
  if (voters > 0 && margin < 0) return "bad";
  return margin === 0 ? "warning" : "good";
}

export function databaseHue({ size, quota, pressure }: DatabaseView): Hue | undefined {
  if (quota !== undefined && size > 0.95 * quota) return "bad";
  return pressure === undefined ? undefined : "warning";
}

export function healthHue({ healthy, health }: MemberView): Hue {
  if (healthy) return health === "healthy" ? "good" : "warning";
  return health === "starting" || health === "leaving" ? "warning" : "bad";
}

export function certificateHue({ warning }: Pick<CertificateView, "warning">): Hue {
  if (warning === undefined) return "good";
  return warning === "30d" ? "warning" : "bad";
}
