// What could not be read, and what the figures therefore lack: a line each, at the end.
import type { Found, Snapshot } from "../snapshot/snapshot.ts";

export function notesOf(snapshot: Snapshot): string[] {
  const sources: readonly (readonly [Found<unknown>, string])[] = [
    [snapshot.pods, "Members are shown as the status knows them"],
    [snapshot.nodes, "Zones are not shown"],
    [snapshot.claims, "Volumes are not shown"],
    [snapshot.events, "Events are not shown"],
    [snapshot.backups, "Backups are not shown"],
    [snapshot.restores, "Restores are not shown"],
  ];
  const notes = sources.flatMap(([found, lacks]) => (found.t === "missing" ? [`${lacks}: ${found.why}.`] : []));
  return [...notes, ...figuresNote(snapshot)];
}

/** One line for all members that give no figures for the same reason. */
function figuresNote({ figures }: Snapshot): string[] {
  const byReason = new Map<string, string[]>();
  for (const [name, found] of figures)
    if (found.t !== "found") byReason.set(found.why, [...(byReason.get(found.why) ?? []), name]);
  return [...byReason].map(([why, names]) =>
    names.length === figures.size
      ? `Live figures (size, lag) are not shown: ${why}.`
      : `No live figures of ${names.join(", ")}: ${why}.`,
  );
}
