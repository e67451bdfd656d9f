// Reads the API server's audit log between two marks, across rotation, while the server writes it.
import * as fs from "node:fs";
import * as path from "node:path";
import { auditLogPath, type LabConfig, UsageError } from "../config.ts";

/** A position in the log. The inode identifies the file, also after rotation renames it. */
export interface AuditMark {
  readonly inode: number;
  readonly offset: number;
  readonly time: string;
}

/** One stage of one request. */
export interface AuditEntry {
  readonly id: string;
  readonly stage: string;
  /** When it came to this stage. */
  readonly time: string;
  /** When the request came. */
  readonly received: string;
  readonly user: string;
  readonly userAgent: string;
  readonly verb: string;
  readonly uri: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly code: number;
}

export const markText = (mark: AuditMark): string => `${mark.inode}:${mark.offset}@${mark.time}`;

export function parseMark(text: string): AuditMark {
  const [, inode, offset, time] = /^(\d+):(\d+)@(.+)$/.exec(text) ?? [];
  if (inode === undefined || offset === undefined || time === undefined)
    throw new UsageError(`"${text}" is not a mark; \`audit mark\` prints one.`);
  return { inode: Number(inode), offset: Number(offset), time };
}

/** The fields of a log line that we use. A request for no resource, such as /version, has no `objectRef`. */
interface LogLine {
  readonly auditID: string;
  readonly stage: string;
  readonly stageTimestamp: string;
  readonly requestReceivedTimestamp: string;
  readonly user?: { readonly username?: string };
  readonly userAgent?: string;
  readonly verb: string;
  readonly requestURI: string;
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code?: number };
}

export function parseEntry(line: string): AuditEntry {
  const { objectRef = {}, ...entry } = JSON.parse(line) as LogLine;
  return {
    id: entry.auditID,
    stage: entry.stage,
    time: entry.stageTimestamp,
    received: entry.requestReceivedTimestamp,
    user: entry.user?.username ?? "",
    userAgent: entry.userAgent ?? "",
    verb: entry.verb,
    uri: entry.requestURI,
    group: objectRef.apiGroup ?? "",
    resource: objectRef.resource ?? "",
    subresource: objectRef.subresource ?? "",
    namespace: objectRef.namespace ?? "",
    name: objectRef.name ?? "",
    code: entry.responseStatus?.code ?? 0,
  };
}

/** Oldest first: a rotated log has the time of its rotation in its name. */
function logFiles(lab: LabConfig): { file: string; inode: number }[] {
  const { dir, name, ext } = path.parse(auditLogPath(lab));
  const rotated = fs
    .readdirSync(dir)
    .filter((file) => file.startsWith(`${name}-`) && file.endsWith(ext))
    .sort();
  return [...rotated, `${name}${ext}`]
    .map((file) => path.join(dir, file))
    .map((file) => ({ file, inode: fs.statSync(file).ino }));
}

export async function* logLines(lab: LabConfig, from?: AuditMark, to?: AuditMark): AsyncGenerator<string> {
  const logs = logFiles(lab);
  const position = (mark: AuditMark): number => {
    const index = logs.findIndex(({ inode }) => inode === mark.inode);
    if (index < 0) throw new UsageError(`The log that ${markText(mark)} points into is no longer kept.`);
    return index;
  };
  const first = from === undefined ? 0 : position(from);
  const last = to === undefined ? logs.length - 1 : position(to);
  for (const [index, { file }] of logs.entries()) {
    if (index < first || index > last) continue;
    const start = from !== undefined && index === first ? from.offset : 0;
    const end = to !== undefined && index === last ? to.offset : Number.POSITIVE_INFINITY;
    yield* linesBetween(file, start, end);
  }
}

/**
 * The lines that begin at `start` or later, and before `end`. A mark may be in the middle of a line: that line belongs to
 * the time before it. A last line without its newline is still being written, and is left out.
 */
export async function* linesBetween(file: string, start: number, end: number): AsyncGenerator<string> {
  // From the byte before: it is a newline unless the mark is within a line.
  const begin = Math.max(0, start - 1);
  let offset = begin;
  let pending: Buffer = Buffer.alloc(0);
  for await (const chunk of fs.createReadStream(file, { start: begin }) as AsyncIterable<Buffer>) {
    pending = Buffer.concat([pending, chunk]);
    let next = 0;
    for (let newline = pending.indexOf(10); newline >= 0; newline = pending.indexOf(10, next)) {
      const began = offset + next;
      if (began >= end) return;
      if (began >= start) yield pending.subarray(next, newline).toString();
      next = newline + 1;
    }
    offset += next;
    pending = pending.subarray(next);
  }
}
