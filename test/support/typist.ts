// Types the lines of a page in one shell, as a person would who reads names in the place of placeholders: it waits for a port
// that is forwarded, and notices a line that fails or says nothing.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { CommandError, run } from "../../lab/machine/command.ts";
import { freePort } from "./free-port.ts";

/** By the placeholder, as in NAMESPACE. */
export type Names = Readonly<Record<string, string>>;

const placeholder = /\b[A-Z][A-Z_]{2,}\b/g;

export function filledIn(line: string, names: Names): string {
  return line.replaceAll(placeholder, (word) => names[word] ?? assert.fail(`nobody says what ${word} is in: ${line}`));
}

const forwarding = /^kubectl port-forward .* (?<port>\d+):\d+ &$/;
const portOf = (line: string): string | undefined => forwarding.exec(line)?.groups?.["port"];

/** Where a port of this machine is taken, a person takes another. */
async function withFreePorts(lines: readonly string[]): Promise<string[]> {
  const ports = new Map<string, string>();
  for (const port of lines.flatMap((line) => portOf(line) ?? [])) ports.set(port, String(await freePort()));
  return lines.map((line) =>
    [...ports].reduce((text, [port, free]) => text.replaceAll(new RegExp(`\\b${port}\\b`, "g"), free), line),
  );
}

/** A person goes on when kubectl says that it forwards; one that has ended ends the script. */
function untilForwarded(line: string): string[] {
  const port = portOf(line);
  return port === undefined
    ? []
    : [`until (: < /dev/tcp/127.0.0.1/${port}) 2> /dev/null; do kill -0 $!; sleep 0.1; done`];
}

/** What each line printed. In a folder of their own, which is gone afterwards; what still runs is ended. */
export async function typeLines(lines: readonly string[], env: Record<string, string> = {}): Promise<string[]> {
  const folder = mkdtempSync(path.join(tmpdir(), "etcd-operator-typed-"));
  const printed = (at: number): string => path.join(folder, `.printed-${at}`);
  const typed = await withFreePorts(lines);
  const script = [
    "set -euo pipefail",
    "trap 'jobs -p | xargs --no-run-if-empty kill' EXIT",
    ...typed.flatMap((line, at) => [`exec > ${printed(at)} 2>&1`, line, ...untilForwarded(line)]),
  ];
  try {
    await Promise.all(lines.map((_, at) => writeFile(printed(at), "")));
    await run("bash", ["-c", script.join("\n")], { cwd: folder, env, signal: AbortSignal.timeout(300_000) }).catch(
      async (error: unknown) => {
        const said = await Promise.all(
          lines.map(async (line, at) => `$ ${line}\n${await readFile(printed(at), "utf8")}`),
        );
        const code = error instanceof CommandError ? error.exitCode : null;
        throw new Error(`a line failed (${code ?? "no exit code"}):\n${said.join("\n")}`, { cause: error });
      },
    );
    return await Promise.all(lines.map((_, at) => readFile(printed(at), "utf8")));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
