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
    const argv = ["sh", "-c", 'echo "TMPDIR=${TMPDIR-unset} OWN=$OWN"; exec sleep 600'];
    const { pid } = startDaemon(lab, "says", argv, { OWN: "set" });
    try {
      const said = async (): Promise<string | undefined> =>
        readFileSync(logPath(lab, "says"), "utf8").trim() || undefined;
      assert.equal(await waitFor("what it says", said, { timeoutMs: 60_000 }), "TMPDIR=unset OWN=set");
    } finally {
      process.kill(pid, "SIGKILL");
    }
  } finally {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
    rmSync(state, { recursive: true });
  }
});
