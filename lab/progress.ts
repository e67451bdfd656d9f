// Shows a waiting person what is being done, for how long, and what it waits for: one live line on a terminal, plain lines
// in a log. Everything that may take longer than two seconds runs inside `step`.
import { setTimeout as sleep } from "node:timers/promises";

const terminal = process.stderr.isTTY && process.env["TERM"] !== "dumb";
const coloured = terminal && process.env["NO_COLOR"] === undefined;
const paint = (code: string, text: string): string => (coloured ? `\u001b[${code}m${text}\u001b[0m` : text);

export const bold = (text: string): string => paint("1", text);
export const dim = (text: string): string => paint("2", text);
export const green = (text: string): string => paint("32", text);
export const red = (text: string): string => paint("31", text);
export const yellow = (text: string): string => paint("33", text);

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
  const line = (): string => `${what}${detail === "" ? "" : dim(` – ${detail}`)} ${dim(seconds(Date.now() - began))}`;
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
