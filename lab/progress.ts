// Shows a waiting person what is being done, for how long, and what it waits for: one live line on a terminal, plain lines
// in a log. Everything that may take longer than two seconds runs inside `step`.
import { setTimeout as sleep } from "node:timers/promises";
import { clipped } from "./width.ts";

const terminal = process.stderr.isTTY && process.env["TERM"] !== "dumb";
const coloured = terminal && process.env["NO_COLOR"] === undefined;
const paint = (code: string, text: string): string => (coloured ? `\u001b[${code}m${text}\u001b[0m` : text);

export const bold = (text: string): string => paint("1", text);
export const dim = (text: string): string => paint("2", text);
export const green = (text: string): string => paint("32", text);
export const red = (text: string): string => paint("31", text);
export const yellow = (text: string): string => paint("33", text);

/** How many characters a line of the terminal takes; a log takes any number. It changes with the window. */
export const columns = (): number => (terminal ? process.stderr.columns || 80 : Number.POSITIVE_INFINITY);

/** Prints a line to stderr; stdout is for output that programs read. */
export function say(text = ""): void {
  process.stderr.write(`${terminal ? "\r\u001b[K" : ""}${text}\n`);
}

export function seconds(milliseconds: number): string {
  const s = milliseconds / 1000;
  if (s < 100) return `${s.toFixed(1)} s`;
  return `${Math.floor(s / 60)} min ${Math.round(s % 60)} s`;
}

export interface Step {
  /** Shown after the text of the step. */
  detail(text: string): void;
}

const quietMs = 2_000;
const logEveryMs = 20_000;

export async function step<T>(what: string, work: (step: Step) => Promise<T>): Promise<T> {
  const began = Date.now();
  let detail = "";
  let logged = began;
  let announced = false;
  // A live line must not wrap: the next one would be written below it instead of over it. Room is left for the terminal's ^C.
  const line = (): string => {
    const took = seconds(Date.now() - began);
    const room = columns() - "… ".length - ` ${took}^C`.length;
    const shown = clipped(what, room);
    const rest = detail === "" ? "" : clipped(` – ${detail}`, room - shown.length);
    return `${shown}${dim(rest)} ${dim(took)}`;
  };
  const timer = setInterval(
    () => {
      const now = Date.now();
      if (terminal) process.stderr.write(`\r\u001b[K${yellow("…")} ${line()}`);
      else if ((!announced && now - began >= quietMs) || now - logged >= logEveryMs) {
        announced = true;
        logged = now;
        process.stderr.write(`… ${line()}\n`);
      }
    },
    terminal ? 200 : 500,
  );
  timer.unref();
  try {
    const result = await work({
      detail(text) {
        detail = text;
      },
    });
    say(`${green("✓")} ${what} ${dim(seconds(Date.now() - began))}`);
    return result;
  } catch (error) {
    say(`${red("✗")} ${what} ${dim(seconds(Date.now() - began))}`);
    throw error;
  } finally {
    clearInterval(timer);
  }
}

/** Shows for how long the work has lasted, if that is longer than a moment, and leaves nothing of it. Not for a log. */
export async function patiently<T>(work: Promise<T>): Promise<T> {
  if (!terminal) return work;
  const began = Date.now();
  const timer = setInterval(() => {
    const took = Date.now() - began;
    if (took >= quietMs) process.stderr.write(`\r\u001b[K${yellow("…")} ${dim(seconds(took))}`);
  }, 200);
  try {
    return await work;
  } finally {
    clearInterval(timer);
    process.stderr.write("\r\u001b[K");
  }
}

/** Polls `probe` until it returns a value; the error of a timeout says what was last seen. */
export async function waitFor<T>(
  what: string,
  probe: () => Promise<T | undefined>,
  options: { timeoutMs: number; everyMs?: number; lastSeen?: () => string },
): Promise<T> {
  const deadline = Date.now() + options.timeoutMs;
  let lastError: unknown;
  for (;;) {
    try {
      const result = await probe();
      if (result !== undefined) return result;
    } catch (error) {
      lastError = error;
    }
    if (Date.now() > deadline) {
      const seen = options.lastSeen?.() ?? (lastError instanceof Error ? lastError.message : "nothing yet");
      throw new Error(`${what}: not within ${seconds(options.timeoutMs)}; last seen: ${seen}`, { cause: lastError });
    }
    await sleep(options.everyMs ?? 100);
  }
}
