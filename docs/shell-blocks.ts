// Finds the commands in our documents that a reader is meant to type one after another, so that a test can type them:
// fenced blocks that begin with ```sh run.

const fence = "```";

export interface ShellBlock {
  /** Of its first command, counted from 1. */
  readonly line: number;
  readonly script: string;
}

export function shellBlocks(markdown: string): ShellBlock[] {
  const blocks: ShellBlock[] = [];
  let open: { mark: string; line: number; lines: string[] } | undefined;
  for (const [index, text] of markdown.split("\n").entries()) {
    if (open === undefined) {
      if (text.startsWith(fence)) open = { mark: text.trim(), line: index + 2, lines: [] };
    } else if (text.trim() !== fence) open.lines.push(text);
    else {
      if (open.mark === `${fence}sh run`) blocks.push({ line: open.line, script: open.lines.join("\n") });
      open = undefined;
    }
  }
  if (open !== undefined) throw new Error(`The block that begins in line ${open.line} has no end.`);
  return blocks;
}

/** All blocks of a document as one script of one shell, which says before each command where it stands. */
export function scriptOf(file: string, markdown: string): string {
  const blocks = shellBlocks(markdown).map(({ line, script }) => `echo '# ${file}:${line}' >&2\n${script}`);
  return ["set -euo pipefail", ...blocks].join("\n");
}
