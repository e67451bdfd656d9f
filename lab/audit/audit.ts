// `audit …`: counts the requests to the API server between two marks, by user, verb and resource.
import { randomUUID } from "node:crypto";
import * as fs from "node:fs";
import { parseArgs } from "node:util";
import { answers } from "../control-plane/api.ts";
import { type AuditEntry, type AuditMark, logLines, markText, parseEntry, parseMark } from "./audit-log.ts";
import { auditLogPath, type LabConfig, UsageError } from "../config.ts";
import { waitFor } from "../progress.ts";

const settleParameter = "labAuditMark";

/** The end of the log now. Call `settleAudit` first if requests that were just sent must be before the mark. */
export function auditMark(lab: LabConfig): AuditMark {
  const { ino, size } = fs.statSync(auditLogPath(lab));
  return { inode: ino, offset: size, time: new Date().toISOString() };
}

/** What was logged from one mark (or the oldest log) to another (or now), without the requests of `settleAudit`. */
export async function auditEntries(lab: LabConfig, from?: AuditMark, to?: AuditMark): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = [];
  for await (const line of logLines(lab, from, to)) if (!line.includes(settleParameter)) entries.push(parseEntry(line));
  return entries;
}

/** The log lags behind the responses: waits until a request of its own is in it, and so all before it. */
export async function settleAudit(lab: LabConfig): Promise<void> {
  const before = auditMark(lab);
  const id = randomUUID();
  // A busy API server may be slow to answer; one that is asked again only has more than one line with the id.
  const ask = async (): Promise<true | undefined> =>
    (await answers(lab, `/version?${settleParameter}=${id}`)) || undefined;
  await waitFor("the API server", ask, { timeoutMs: 30_000 }).catch((error: unknown) => {
    const why = "does not answer, so its log may be incomplete";
    throw new UsageError(`The API server of the lab "${lab.name}" ${why}.`, { cause: error });
  });
  await waitFor(
    "the audit log to catch up",
    async () => {
      for await (const line of logLines(lab, before)) if (line.includes(id)) return true;
      return undefined;
    },
    { timeoutMs: 60_000, everyMs: 20, lastSeen: () => `a log of ${auditMark(lab).offset} bytes without it` },
  );
}

const auditFields = ["user", "userAgent", "verb", "group", "resource", "subresource", "namespace", "code"] as const;
export type AuditField = (typeof auditFields)[number];

interface RequestCount {
  /** The values, in the order of the counted fields. */
  readonly of: readonly string[];
  readonly count: number;
}

/** The most frequent first. */
export function countRequests(entries: readonly AuditEntry[], by: readonly AuditField[]): RequestCount[] {
  const counted = new Set<string>();
  const counts = new Map<string, { of: readonly string[]; count: number }>();
  for (const entry of entries) {
    if (!countsAsRequest(entry) || counted.has(entry.id)) continue;
    counted.add(entry.id);
    const of = by.map((field) => String(entry[field]));
    const key = JSON.stringify(of);
    counts.set(key, { of, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  return [...counts.values()].sort((a, b) => b.count - a.count || a.of.join(" ").localeCompare(b.of.join(" ")));
}

/**
 * A watch counts when it starts: one that began long ago and ends between the two marks is not a request of that time.
 * The API server logs ResponseStarted for long-running requests only; for all others it logs the end.
 */
const countsAsRequest = (entry: AuditEntry): boolean =>
  isLongRunning(entry) ? entry.stage === "ResponseStarted" : entry.stage !== "RequestReceived";

const isLongRunning = ({ verb, subresource }: AuditEntry): boolean =>
  ["watch", "proxy"].includes(verb) || ["attach", "exec", "proxy", "log", "portforward"].includes(subresource);

const help = `audit mark                 print a mark, for --since and --until
audit count [options]      count the requests between two marks
  --since MARK, --until MARK   (default: the oldest log, now)
  --user USER                  only this user's
  --by FIELD[,FIELD]           ${auditFields.join(", ")} (default: user,verb,resource,subresource,code)
  --json                       one object a line instead of a table`;

export async function main(lab: LabConfig, args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      help: { type: "boolean", short: "h" },
      since: { type: "string" },
      until: { type: "string" },
      user: { type: "string" },
      by: { type: "string", default: "user,verb,resource,subresource,code" },
      json: { type: "boolean" },
    },
  });
  const [command] = positionals;
  if (values.help || command === undefined) return print(help);
  if (command !== "mark" && command !== "count")
    throw new UsageError(`"audit ${command}" is not a command; \`audit --help\` lists them.`);
  if (!fs.existsSync(auditLogPath(lab))) throw new UsageError(`The lab "${lab.name}" has no audit log: it is not up.`);
  const by = parseFields(values.by);
  if (values.until === undefined) await settleAudit(lab);
  if (command === "mark") return print(markText(auditMark(lab)));
  const [since, until] = [values.since, values.until].map((text) => (text === undefined ? text : parseMark(text)));
  const entries = (await auditEntries(lab, since, until)).filter(
    ({ user }) => values.user === undefined || user === values.user,
  );
  const counts = countRequests(entries, by);
  print(values.json ? jsonLines(counts, by) : table(counts, by));
}

function parseFields(text: string): AuditField[] {
  return text.split(",").map((name) => {
    const field = auditFields.find((field) => field === name);
    if (field === undefined) throw new UsageError(`"${name}" is not one of ${auditFields.join(", ")}.`);
    return field;
  });
}

function print(text: string): void {
  process.stdout.write(text === "" ? "" : `${text}\n`);
}

const jsonLines = (counts: readonly RequestCount[], by: readonly AuditField[]): string =>
  counts
    .map(({ of, count }) => JSON.stringify({ ...Object.fromEntries(by.map((field, i) => [field, of[i]])), count }))
    .join("\n");

export function table(counts: readonly RequestCount[], by: readonly AuditField[]): string {
  const total = counts.reduce((sum, { count }) => sum + count, 0);
  const rows = [["COUNT", ...by.map((field) => field.toUpperCase())]];
  for (const { of, count } of counts) rows.push([String(count), ...of.map((value) => value || "-")]);
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return [...lines, `${total} in all`].join("\n");
}
