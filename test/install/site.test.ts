// The documentation as a site. Pages, links and navigation are held against each other by unit tests; this builds it.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import * as path from "node:path";
import { run } from "../../lab/machine/command.ts";
import { root } from "../suites.ts";
import { matrixTest } from "../support/matrix.ts";

matrixTest("make site builds every page, in both languages, without a dead link", async () => {
  await run("make", ["site"], { cwd: root });
  for (const page of ["index.html", "walk-through.html", "zh/walk-through.html", "dashboard.html"])
    assert.ok(existsSync(path.join(root, "dist/site", page)), page);
});
