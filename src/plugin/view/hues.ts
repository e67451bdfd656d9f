// What is good, a warning or bad in a view: the terminal and the page paint by the same judgement.
import { rowOf } from "../../api/conditions.ts";
import type { ConditionStatus } from "../../kube/objects/conditions.ts";
import type { Hue } from "../screen/colour.ts";
import type { CertificateView, ClusterView, DatabaseView, QuorumView } from "./cluster-view.ts";
import type { FleetRow } from "./fleet.ts";
import type { MemberView } from "./members.ts";

/** A reason that is not in the table is of a newer operator: then the status alone counts. */
function hueOf(status: ConditionStatus, reason: string): Hue {
  const known = rowOf("EtcdCluster", "Ready", { status, reason })?.severity;
  return known ?? ({ True: "good", False: "bad", Unknown: "warning" } as const)[status];
}

export function readyHue({ ready, quorum }: Pick<ClusterView, "ready" | "quorum">): Hue {
  const hasNoQuorum = ready.status === "False" && quorum.margin < 0 && !quorum.replaced;
  return hasNoQuorum ? "bad" : hueOf(ready.status, ready.reason);
}

export function rowHue({ ready, reason, paused }: FleetRow): Hue {
  return paused ? "warning" : hueOf(ready, reason);
}

export function quorumHue({ margin, voters, replaced }: QuorumView): Hue {
  if (replaced) return "warning";
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
