// What could not be read, and what the figures therefore lack: a line each, at the end.
import type { Found, Observed } from "../observe/observe.ts";

export function notesOf(observed: Observed): string[] {
  const sources: readonly (readonly [Found<unknown>, string])[] = [
    [observed.pods, "Members are shown as the status reports them"],
    [observed.nodes, "Zones are not shown"],
    [observed.claims, "Volumes are not shown"],
    [observed.events, "Events are not shown"],
    [observed.backups, "Backups are not shown"],
    [observed.restores, "Restores are not shown"],
  ];
  const notes = sources.flatMap(([found, lacks]) => (found.t === "missing" ? [`${lacks}: ${found.why}.`] : []));
  return [...notes, ...figuresNote(observed)];
}

/** One line for all members that give no figures for the same reason. */
function figuresNote({ figures }: Observed): string[] {
  const byReason = new Map<string, string[]>();
  for (const [name, found] of figures)
    if (found.t !== "found") byReason.set(found.why, [...(byReason.get(found.why) ?? []), name]);
  return [...byReason].map(([why, names]) =>
    names.length === figures.size
      ? `Live figures (size, lag) are not shown: ${why}.`
      : `No live figures of ${names.join(", ")}: ${why}.`,
  );
}
