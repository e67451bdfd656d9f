// Shows the table of members: redrawn in place on a terminal; in a log, one line for each change of a member.
import { bold, columns, dim, green, red, say, seconds, yellow } from "../lab/progress.ts";
import { clipped } from "../lab/width.ts";
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

interface Picture {
  readonly rows: readonly MemberRow[];
  /** As in "until all members serve: 2/3". */
  readonly title: string;
  /** What happens now, in a sentence. A log has it once. */
  readonly stage: string;
  /** What changes all the time; not for a log. */
  readonly note: string;
}

export class LiveTable {
  readonly #began = Date.now();
  readonly #logged = new Map<string, string>();
  #height = 0;

  show({ rows, title, stage, note }: Picture): void {
    if (terminal) this.#redraw(rows, `${yellow("…")} `, title, [stage, note]);
    else this.#log(rows, stage);
  }

  /** The last picture, which stays. */
  end({ rows, title, stage }: Omit<Picture, "note">): void {
    if (terminal) this.#redraw(rows, `${green("✓")} `, title, []);
    else this.#log(rows, stage);
  }

  get elapsed(): number {
    return Date.now() - this.#began;
  }

  #redraw(rows: readonly MemberRow[], mark: string, title: string, below: readonly string[]): void {
    const took = seconds(this.elapsed);
    const indent = "  ";
    const room = columns() - indent.length;
    const [heading = "", ...lines] = tableLines(rows).map((line) => clipped(line, room));
    const painted = lines.map((line, index) => paint[rows[index]?.state ?? "waiting"](line));
    const first = `${mark}${clipped(title, room - "… ".length - ` ${took}`.length)} ${dim(took)}`;
    const said = below.filter(Boolean).map((line) => dim(clipped(line, room)));
    const block = [first, ...said, dim(heading), ...painted];
    // Up to the first line of the table, and each line over the old one: clearing everything first would flicker.
    const back = this.#height === 0 ? "" : `\u001b[${this.#height}A`;
    process.stderr.write(`${back}${block.map((line) => `\r${indent}${line}\u001b[K\n`).join("")}\u001b[J`);
    this.#height = block.length;
  }

  #log(rows: readonly MemberRow[], stage: string): void {
    this.#logOnce("stage", stage);
    for (const { name, node, version, state } of rows)
      this.#logOnce(`member ${name}`, `${name}  ${version || "-"}  ${state}  ${node || "-"}`);
  }

  #logOnce(what: string, text: string): void {
    if (text === "" || this.#logged.get(what) === text) return;
    this.#logged.set(what, text);
    say(`  ${seconds(this.elapsed).padStart(7)}  ${text}`);
  }
}
