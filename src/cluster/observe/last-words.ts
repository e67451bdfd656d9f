// Finds the reason why an etcd exited in the end of its log, which the kubelet keeps. The first line may be cut off.
import { shortened } from "../../transport/shortened.ts";

/** In one line; undefined when the log says nothing. */
export function lastWordsOf(log: string): string | undefined {
  const lines = log
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const entries = lines.map(entryOf).filter((entry) => entry !== undefined);
  const worst = entries.findLast(({ grave }) => grave) ?? entries.findLast(({ complains }) => complains);
  // What no logger wrote comes from the parsing of flags: first the complaint, then how to use the program.
  const words = panicIn(lines) ?? worst?.text ?? (entries.length === 0 ? lines[0] : undefined);
  return words === undefined ? undefined : shortened(words, longest);
}

/** A panic prints its reason before pages of stack, and a kubelet keeps no more than the end of them. */
function panicIn(lines: readonly string[]): string | undefined {
  if (!lines.some((line) => stackFrame.test(line))) return undefined;
  return lines.find((line) => line.startsWith("panic: ")) ?? "panic: the log before its stack has the reason";
}

const stackFrame = /\.go:\d+ \+0x[0-9a-f]+$/;

interface Entry {
  readonly text: string;
  /** Logged at error or above. */
  readonly grave: boolean;
  readonly complains: boolean;
}

function entryOf(line: string): Entry | undefined {
  return structured(line) ?? plain(line);
}

const graveLevels: ReadonlySet<unknown> = new Set(["error", "panic", "fatal"]);

/** As etcd writes since 3.4. */
function structured(line: string): Entry | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    const { level, msg, error } = JSON.parse(line) as Record<string, unknown>;
    const parts = [msg, error].filter((part) => typeof part === "string" && part !== "");
    const complains = graveLevels.has(level) || error !== undefined;
    return { text: parts.join(": "), grave: graveLevels.has(level), complains };
  } catch {
    return undefined; // cut off
  }
}

const oldEntry = /^\d{4}-\d\d-\d\d \S+ ([A-Z]) \| (.*)$/;

/** As etcd wrote before: date, time, a letter for the level. */
function plain(line: string): Entry | undefined {
  const [, level = "", text = ""] = oldEntry.exec(line) ?? [];
  if (level === "") return undefined;
  const grave = level === "C" || level === "E";
  return { text, grave, complains: grave || level === "W" };
}

const longest = 400;
