// The workflows are what GitHub takes, by actionlint.
import assert from "node:assert/strict";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, test } from "node:test";
import { ensureProgram } from "../../lab/build/checks/programs.ts";
import { root } from "../suites.ts";
import { exitOf } from "../support/exit.ts";

const folder = mkdtempSync(path.join(tmpdir(), "etcd-operator-workflows-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const actionlint = await ensureProgram("actionlint");

/** Without shellcheck and pyflakes, which the machine may have or not. */
const wrongIn = async (file: string): Promise<string> =>
  (await exitOf(actionlint, ["-no-color", "-oneline", "-shellcheck=", "-pyflakes=", file])).stdout;

for (const file of globSync(".github/workflows/*.yml", { cwd: root }))
  test(`${file} is a workflow`, async () => {
    assert.equal(await wrongIn(path.join(root, file)), "");
  });

test("a workflow that is none is found", async () => {
  const bad = path.join(folder, "bad.yml");
  writeFileSync(
    bad,
    readFileSync(path.join(root, ".github/workflows/ci.yml"), "utf8").replace("needs: check", "needs: chekc"),
  );
  assert.match(await wrongIn(bad), /chekc/);
});
