// `make verify-release`: says of each thing that a release promises whether it holds.
import { readFile } from "node:fs/promises";
import * as path from "node:path";
import { parseArgs } from "node:util";
import { green, red, say, yellow } from "../../lab/progress.ts";
import { Failure } from "./failure.ts";
import { verifyRelease } from "./verify.ts";

const { values } = parseArgs({
  options: { release: { type: "string", default: "dist/release" }, key: { type: "string" } },
});

try {
  const folder = path.resolve(values.release);
  const key = values.key === undefined ? undefined : await readFile(values.key, "utf8");
  await verifyRelease(folder, key, (sentence) => say(`${green("✓")} ${sentence}`));
  if (key === undefined)
    say(
      `${yellow("–")} Checked with the key that is in the release. KEY=… checks with one that you have from elsewhere.`,
    );
} catch (error) {
  say(`${red("✗")} ${error instanceof Error ? error.message : String(error)}`);
  if (!(error instanceof Failure)) say(error instanceof Error ? (error.stack ?? "") : "");
  process.exitCode = 1;
}
