// What is left of a round: the timeline and the result of each, and of one that failed everything that could explain it.
import * as fs from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import * as path from "node:path";
import { auditLogPath } from "../../lab/config.ts";
import { Event } from "../../src/kube/objects/kinds.ts";
import type { Ground } from "../ground.ts";
import type { RoundResult } from "../result.ts";
import { type Noted, type Timeline, timelinePage } from "./timeline.ts";

interface Evidence {
  readonly result: RoundResult;
  readonly timeline: Timeline;
  readonly operatorLog: string;
}

export async function saveEvidence(folder: string, { result, timeline, operatorLog }: Evidence): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, "result.json"), JSON.stringify(result, undefined, 1));
  await writeFile(path.join(folder, "timeline.html"), timelinePage(timeline));
  await writeFile(path.join(folder, "operator.log"), operatorLog);
}

/** Events about the cluster and its pods. */
export async function eventsOf({ api, namespace }: Ground, cluster: string): Promise<Noted[]> {
  const { items } = await api.list(Event, { namespace });
  return items
    .filter(({ regarding }) => regarding?.name === cluster || regarding?.name?.startsWith(`${cluster}-`))
    .map((event) => ({
      at: Date.parse(event.eventTime ?? event.metadata?.creationTimestamp ?? ""),
      what: `${event.regarding?.name}: ${event.reason}: ${event.note}`,
    }))
    .filter(({ at }) => Number.isFinite(at))
    .toSorted((a, b) => a.at - b.at);
}

const mostLines = 5_000;

/** The writes in the namespace, as the API server logged them. Only of the file that it writes now. */
export async function auditExcerpt({ lab, namespace }: Ground, from: number, to: number): Promise<string> {
  const text = await fs.promises.readFile(auditLogPath(lab), "utf8").catch(() => "");
  const mine = text.split("\n").filter((line) => {
    if (!line.includes(`"namespace":"${namespace}"`) || /"verb":"(get|list|watch)"/.test(line)) return false;
    const at = Date.parse(/"stageTimestamp":"([^"]+)"/.exec(line)?.[1] ?? "");
    return at >= from && at <= to;
  });
  return `${mine.slice(-mostLines).join("\n")}\n`;
}
