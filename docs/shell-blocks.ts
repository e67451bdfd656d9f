// Finds the commands in our documents. Those that a reader is meant to type one after another are fenced blocks that begin
// with ```sh run, so that a test can type them.

const fence = "```";

export interface ShellBlock {
  /** The line of its first command, counted from 1. */
  readonly line: number;
  readonly script: string;
  /** Whether a test types it. */
  readonly isRun: boolean;
}

/** All blocks of commands, also those inside of lists. */
export function shellBlocks(markdown: string): ShellBlock[] {
  const blocks: ShellBlock[] = [];
  let open: { indent: string; mark: string; line: number; lines: string[] } | undefined;
  for (const [index, text] of markdown.split("\n").entries()) {
    if (open === undefined) {
      const { indent, mark } = /^(?<indent> *)```(?<mark>.*)$/.exec(text)?.groups ?? {};
      if (indent !== undefined) open = { indent, mark: (mark ?? "").trim(), line: index + 2, lines: [] };
    } else if (text.trim() !== fence) open.lines.push(text.slice(open.indent.length));
    else {
      const { mark, line, lines } = open;
      const isShell = /^(sh|bash|shell|console)\b/.test(mark);
      if (isShell) blocks.push({ line, script: lines.join("\n"), isRun: mark === "sh run" });
      open = undefined;
    }
  }
  if (open !== undefined) throw new Error(`The block that begins in line ${open.line} has no end.`);
  return blocks;
}

/** The one block that begins with this line, as it stands. */
export function blockThatBegins(markdown: string, line: string): string {
  const found = shellBlocks(markdown).filter(({ script }) => script.split("\n", 1)[0] === line);
  if (found.length !== 1) throw new Error(`${found.length} blocks begin with: ${line}`);
  return found.map(({ script }) => script).join("");
}

/** All marked blocks of a document as one script of one shell, which says before each command where it stands. */
export function scriptOf(file: string, markdown: string): string {
  const marked = shellBlocks(markdown).filter(({ isRun }) => isRun);
  const blocks = marked.map(({ line, script }) => `echo '# ${file}:${line}' >&2\n${script}`);
  return ["set -euo pipefail", ...blocks].join("\n");
}
