import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { test } from "node:test";
import { labConfig, logPath } from "../config.ts";
import { waitFor } from "../progress.ts";
import { startDaemon } from "./daemon.ts";

test("a daemon does not use the temporary folder of whoever starts it, which may go first", async () => {
  const state = mkdtempSync(path.join(tmpdir(), "daemon-"));
  const before = process.env["TMPDIR"];
  process.env["TMPDIR"] = state;
  try {
    const lab = { ...labConfig({ name: "daemon" }), state };
    startDaemon(lab, "says", ["sh", "-c", 'echo "TMPDIR=${TMPDIR-unset} OWN=$OWN"'], { OWN: "set" });
    const said = await waitFor(
      "what it says",
      async () => readFileSync(logPath(lab, "says"), "utf8").trim() || undefined,
      {
        timeoutMs: 60_000,
      },
    );
    assert.equal(said, "TMPDIR=unset OWN=set");
  } finally {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
    rmSync(state, { recursive: true });
  }
});
