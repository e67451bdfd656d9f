// Where a command prints: standard output and standard error, how wide it is, and whether it shows colours.
import { printable } from "../../kube/objects/printable.ts";
import { inColour, keepingColours, type Paint, plain } from "./colour.ts";

export interface Screen {
  /** How many letters fit in a line. */
  readonly columns: number;
  readonly rows: number;
  readonly paint: Paint;
  /** A person reads it, and it can be redrawn. */
  readonly isTerminal: boolean;
  /** Standard input is a terminal, too, so that questions can be asked. */
  readonly canAsk: boolean;
  print(text: string): void;
  /** On a terminal: away with all that is on it. */
  clear(): void;
  /** On a terminal: in the place of what was drawn before. */
  draw(text: string): void;
  /** Asks a question that is answered with yes or no. */
  ask(question: string): Promise<boolean>;
  /** On standard error: what is not part of the answer. */
  note(text: string): void;
}

export type WhenColour = "auto" | "always" | "never";

/** Where the output goes to a file or a program, it is as wide as a usual wide terminal: nobody's screen is too narrow. */
const widthOfFiles = 200;

const home = "\u001B[H";
const clearLine = "\u001B[K";
const clearBelow = "\u001B[J";

export function screenOf(process: NodeJS.Process, when: WhenColour): Screen {
  const { stdout, stderr, stdin, env } = process;
  // Node leaves the field out where there is none, whatever its types say.
  const [isTerminal = false, isTyped = false] = [stdout, stdin].map(
    (stream: { isTTY?: boolean }) => stream.isTTY ?? false,
  );
  const auto = isTerminal && env["NO_COLOR"] === undefined && env["TERM"] !== "dumb";
  const paint = when === "always" || (when === "auto" && auto) ? inColour : plain;
  // The last thing before the terminal: what got past the entrance of foreign text is stopped here.
  const shown = paint === plain ? printable : keepingColours;
  const line = (text: string): string => (text.endsWith("\n") ? shown(text) : `${shown(text)}\n`);
  return {
    get columns() {
      return isTerminal ? stdout.columns || 80 : widthOfFiles;
    },
    get rows() {
      return stdout.rows || 24;
    },
    paint,
    isTerminal,
    canAsk: isTerminal && isTyped,
    print: (text) => void stdout.write(line(text)),
    clear: () => void stdout.write(`${home}${clearBelow}`),
    draw(text) {
      const lines = shown(text)
        .split("\n")
        .slice(0, Math.max(1, (stdout.rows || 24) - 1));
      stdout.write(`${home}${lines.map((line) => `${line}${clearLine}`).join("\n")}\n${clearBelow}`);
    },
    async ask(question) {
      const { createInterface } = await import("node:readline/promises");
      const asking = createInterface({ input: stdin, output: stderr });
      try {
        return /^y(es)?$/i.test((await asking.question(`${shown(question)} [y/N] `)).trim());
      } finally {
        asking.close();
      }
    },
    note: (text) => void stderr.write(line(text)),
  };
}
