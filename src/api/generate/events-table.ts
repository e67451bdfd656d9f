// The table of Events in docs/clusters.md, made from `eventReasons`.
import { type EventReason, eventReasons } from "../events.ts";

const begin = "<!-- Events: made by `node src/api/generate.ts` from src/api/events.ts. -->";
const end = "<!-- End of events. -->";

/** Replaces the table between the two marks; the rest of the page is written by hand. */
export function withEventsTable(page: string): string {
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from < 0 || to < from) throw new Error(`The page lacks the marks of the events table: ${begin} and ${end}`);
  return `${page.slice(0, from + begin.length)}\n\n${eventsTable()}\n\n${page.slice(to)}`;
}

function eventsTable(): string {
  const rows = Object.values<EventReason>(eventReasons).map(
    ({ reason, type, on = ["EtcdCluster"], when, whatToDo = "" }) =>
      `| \`${reason}\` | ${type} | ${on.join(", ")} | ${when} | ${whatToDo} |`,
  );
  return ["| reason | type | on | when | what to do |", "|---|---|---|---|---|", ...rows].join("\n");
}
