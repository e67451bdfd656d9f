// Pages of the docs as scripts that tests run in a shell, in the root of the tree.
import { readFile } from "node:fs/promises";
import * as path from "node:path";
import { blockThatBegins, scriptOf } from "../../docs/shell-blocks.ts";
import type { TypedBlock } from "../../docs/typed.ts";
import { run } from "../../lab/machine/command.ts";
import { root } from "../suites.ts";

const textOf = (page: string): Promise<string> => readFile(path.join(root, page), "utf8");

/** All marked blocks of a page. */
export const pageScript = async (page: string): Promise<string> => scriptOf(page, await textOf(page));

/** A block as it stands, but for names: those of the page, and those that the test has instead. */
export async function blockScript(
  { page, begins }: Pick<TypedBlock, "page" | "begins">,
  names: Readonly<Record<string, string>> = {},
): Promise<string> {
  const block = blockThatBegins(await textOf(page), begins);
  return Object.entries(names).reduce((script, [name, own]) => {
    const word = new RegExp(`(?<![\\w-])${name}(?![\\w-])`, "g");
    if (!word.test(script)) throw new Error(`${page} does not name ${name} in: ${block}`);
    return script.replaceAll(word, own);
  }, block);
}

interface Typing {
  readonly env?: Record<string, string>;
  readonly timeoutMs?: number;
}

/** Runs it in the root folder, until a command fails, and returns both output streams. */
export function typeScript(script: string, { env = {}, timeoutMs = 240_000 }: Typing = {}): Promise<string> {
  const signal = AbortSignal.timeout(timeoutMs);
  return run("bash", ["-euo", "pipefail", "-c", `exec 2>&1; ${script}`], { cwd: root, env, signal }).catch(
    (error: unknown) => {
      throw new Error(`failed: ${script}`, { cause: error });
    },
  );
}
