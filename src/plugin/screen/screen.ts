// Where a command prints: standard output and standard error, how wide it is, and whether it shows colours.
import { inColour, type Paint, plain } from "./colour.ts";

export interface Screen {
  /** How many letters fit in a line. */
  readonly columns: number;
  readonly rows: number;
  readonly paint: Paint;
  /** Somebody looks at it, and it can be drawn again. */
  readonly isTerminal: boolean;
  /** Standard input is a terminal, too, so that questions can be asked. */
  readonly canAsk: boolean;
  print(text: string): void;
  /** On standard error: what is not part of the answer. */
  note(text: string): void;
}

export type WhenColour = "auto" | "always" | "never";

/** Where the output goes to a file or a program, it is as wide as a usual wide terminal: nobody's screen is too narrow. */
const widthOfFiles = 200;

export function screenOf(process: NodeJS.Process, when: WhenColour): Screen {
  const { stdout, stderr, stdin, env } = process;
  const isTerminal = Boolean(stdout.isTTY);
  const auto = isTerminal && env["NO_COLOR"] === undefined && env["TERM"] !== "dumb";
  return {
    get columns() {
      return isTerminal ? stdout.columns || 80 : widthOfFiles;
    },
    get rows() {
      return stdout.rows || 24;
    },
    paint: when === "always" || (when === "auto" && auto) ? inColour : plain,
    isTerminal,
    canAsk: isTerminal && Boolean(stdin.isTTY),
    print: (text) => void stdout.write(text.endsWith("\n") ? text : `${text}\n`),
    note: (text) => void stderr.write(text.endsWith("\n") ? text : `${text}\n`),
  };
}
