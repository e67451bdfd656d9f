// The workflows are what GitHub takes, by actionlint.
import assert from "node:assert/strict";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, test } from "node:test";
import { ensureProgram } from "../../lab/build/checks/programs.ts";
import { CommandError, run } from "../../lab/machine/command.ts";
import { root } from "../suites.ts";

const folder = mkdtempSync(path.join(tmpdir(), "etcd-operator-workflows-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const actionlint = await ensureProgram("actionlint");

/** Without shellcheck and pyflakes, which the machine may have or not. */
async function wrongIn(file: string): Promise<string> {
  try {
    return await run(actionlint, ["-no-color", "-oneline", "-shellcheck=", "-pyflakes=", file], { cwd: root });
  } catch (error) {
    // What it finds goes to its standard output.
    if (error instanceof CommandError) return `${error.message}\n${error.stderr}`;
    throw error;
  }
}

for (const file of globSync(".github/workflows/*.yml", { cwd: root }))
  test(`${file} is a workflow`, async () => {
    assert.equal(await wrongIn(file), "");
  });

test("a workflow that is none is found", async () => {
  const bad = path.join(folder, "bad.yml");
  writeFileSync(
    bad,
    readFileSync(path.join(root, ".github/workflows/ci.yml"), "utf8").replace("needs: check", "needs: chekc"),
  );
  assert.notEqual(await wrongIn(bad), "");
});
