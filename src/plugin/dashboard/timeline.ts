// What happened to a cluster, the newest first: events, which are the operator's decisions, and conditions that changed.
import { withDefaults } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { Hue } from "../screen/colour.ts";
import { timeOf } from "../screen/words.ts";
import { lastSeen, type Observed, valueOr } from "../observe/observe.ts";
import type { Moment } from "./messages.ts";

const mostShown = 40;

export function timelineOf(observed: Observed): Moment[] {
  return [...eventsOf(observed), ...conditionsOf(observed)].toSorted((a, b) => b.at - a.at).slice(0, mostShown);
}

function eventsOf(observed: Observed): Moment[] {
  return valueOr(observed.events, []).map((event): Moment => {
    const count = event.series?.count ?? event.deprecatedCount ?? 1;
    return {
      at: lastSeen(event),
      hue: event.type === "Warning" ? "warning" : "dim",
      title: event.reason ?? "",
      sentence: event.note ?? "",
      ...(count > 1 && { count }),
    };
  });
}

/** Those that say how the cluster is, whenever they change. */
const states: ReadonlyMap<string, Hue> = new Map([
  ["Available", "bad"],
  ["Ready", "warning"],
]);
/** Those that say what is done, while it is done. */
const activities: ReadonlySet<string> = new Set(["Recovering", "Upgrading", "Scaling"]);

/** Several conditions often change for one reason: it is said once. */
function conditionsOf({ cluster }: Observed): Moment[] {
  const moments = withDefaults(cluster).status.conditions.flatMap(
    ({ type, status, reason, message, lastTransitionTime }): Moment[] => {
      const at = timeOf(lastTransitionTime);
      const isTrue = status === "True";
      const otherwise = states.get(type);
      if (at === undefined || (otherwise === undefined && !(isTrue && activities.has(type)))) return [];
      const hue = otherwise === undefined ? "strong" : isTrue ? "good" : otherwise;
      return [{ at, hue, title: isTrue ? type : `Not ${type.toLowerCase()}`, sentence: message || reason }];
    },
  );
  return moments.filter(
    ({ at, sentence }, index) => moments.findIndex((one) => one.at === at && one.sentence === sentence) === index,
  );
}
