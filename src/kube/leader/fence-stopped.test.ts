import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { eventually } from "../../transport/testing/eventually.ts";

test("a leader that was stopped for longer than its renew deadline writes nothing when it resumes", async (t) => {
  const program = fileURLToPath(new URL("../testing/programs/leader.ts", import.meta.url));
  const child = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
  const said = (count: number) =>
    eventually(
      `line ${count}`,
      () => lines[count - 1],
      () => lines,
      60_000,
    );
  const state = () => /^State:\s+(\S)/m.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1];

  assert.equal(await said(1), "leading");
  child.stdin.write("write\n");
  assert.equal(await said(2), "unaware sent");

  child.stdin.write("stop\n");
  await eventually("the stop", () => state() === "T", state);
  const stoppedAt = performance.now();
  await eventually("so long a stop", () => performance.now() - stoppedAt > 3200);
  child.kill("SIGCONT");
  assert.equal(await said(3), "unaware LeadershipLost");
});
