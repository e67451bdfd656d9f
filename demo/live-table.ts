// The table of members before a person's eyes: redrawn in place on a terminal, in a log one line for each thing that
// happened to a member.
import { bold, dim, green, red, say, seconds, yellow } from "../lab/progress.ts";
import { type MemberRow, type MemberState, tableLines } from "./table.ts";

const terminal = process.stderr.isTTY && process.env["TERM"] !== "dumb";

const paint: Record<MemberState, (text: string) => string> = {
  waiting: yellow,
  starting: yellow,
  joining: yellow,
  member: green,
  leader: (text) => green(bold(text)),
  stopping: red,
  gone: red,
};

export class LiveTable {
  readonly #began = Date.now();
  readonly #told = new Map<string, MemberState>();
  #height = 0;

  /** `note` is what else there is to tell; on a terminal it stands above the table. */
  show(rows: readonly MemberRow[], note: string): void {
    if (terminal) this.#redraw(rows, note);
    else this.#log(rows);
  }

  get elapsed(): number {
    return Date.now() - this.#began;
  }

  #redraw(rows: readonly MemberRow[], note: string): void {
    const [heading = "", ...lines] = tableLines(rows);
    const painted = lines.map((line, index) => paint[rows[index]?.state ?? "waiting"](line));
    const block = [`${yellow("…")} ${note} ${dim(seconds(this.elapsed))}`, dim(heading), ...painted];
    // Up to where it began, and everything below cleared.
    const back = this.#height === 0 ? "" : `\u001b[${this.#height}A\u001b[J`;
    process.stderr.write(`${back}${block.map((line) => `  ${line}\n`).join("")}`);
    this.#height = block.length;
  }

  #log(rows: readonly MemberRow[]): void {
    for (const { name, node, state } of rows) {
      if (this.#told.get(name) === state) continue;
      this.#told.set(name, state);
      say(`  ${seconds(this.elapsed).padStart(7)}  ${name}  ${node || "-"}  ${state}`);
    }
  }
}
