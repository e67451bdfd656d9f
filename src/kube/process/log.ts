// Structured logs: one JSON line an event, written synchronously so that the last words before an exit are not lost.
// Our own, because pino costs 1.7 MB of private memory and does no more for us.
import { writeSync } from "node:fs";
import { escapedJson } from "../objects/printable.ts";
import { withoutSecrets } from "./redact.ts";

const logLevels = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof logLevels)[number];
export type Fields = Readonly<Record<string, unknown>>;

export interface Logger {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
  /** A logger that says these on every line, e.g. controller, key, reconcile id. */
  with(fields: Fields): Logger;
}

interface LogOptions {
  level?: LogLevel;
  /** Gets one line, newline included. Default: standard output. */
  write?: (line: string) => void;
  now?: () => Date;
}

export function logger(options: LogOptions = {}): Logger {
  const { level = "info", write = writeToStdout, now = () => new Date() } = options;
  const lowest = logLevels.indexOf(level);
  const bound = (context: Fields): Logger => {
    const at =
      (name: LogLevel) =>
      (message: string, fields?: Fields): void => {
        if (logLevels.indexOf(name) < lowest) return;
        write(`${line({ time: now().toISOString(), level: name, message }, { ...context, ...fields })}\n`);
      };
    return {
      debug: at("debug"),
      info: at("info"),
      warn: at("warn"),
      error: at("error"),
      with: (fields) => bound({ ...context, ...fields }),
    };
  };
  return bound({});
}

export const silent: Logger = logger({ write: () => undefined });

/** A log line must never be the thing that fails, nor may a field replace the time, the level or the message. */
function line(head: Fields, fields: Fields): string {
  try {
    return escapedJson(JSON.stringify({ ...head, ...withoutSecrets(fields), ...head }));
  } catch (error) {
    return escapedJson(JSON.stringify({ ...head, unloggable: String(error) }));
  }
}

function writeToStdout(text: string): void {
  const bytes = Buffer.from(text);
  let written = 0;
  // A pipe whose reader is slow takes part of a line, or none for now. After this many tries the rest is dropped: a
  // reader that stands still must not stop the operator.
  for (let tries = 0; written < bytes.length && tries < 1000; tries += 1) {
    try {
      written += writeSync(1, bytes, written);
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EAGAIN")) return;
      Atomics.wait(oneMoment, 0, 0, 1);
    }
  }
}

const oneMoment = new Int32Array(new SharedArrayBuffer(4));
