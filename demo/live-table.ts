// Shows the table of members: redrawn in place on a terminal; in a log, one line for each change of a member.
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
  readonly #logged = new Map<string, MemberState>();
  #height = 0;

  /** A terminal shows `note` above the table. */
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
    // Moves up to the first line of the table and clears everything below.
    const back = this.#height === 0 ? "" : `\u001b[${this.#height}A\u001b[J`;
    process.stderr.write(`${back}${block.map((line) => `  ${line}\n`).join("")}`);
    this.#height = block.length;
  }

  #log(rows: readonly MemberRow[]): void {
    for (const { name, node, state } of rows) {
      if (this.#logged.get(name) === state) continue;
      this.#logged.set(name, state);
      say(`  ${seconds(this.elapsed).padStart(7)}  ${name}  ${node || "-"}  ${state}`);
    }
  }
}
