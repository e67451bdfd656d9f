import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { test, type TestContext } from "node:test";
import { eventually } from "../../transport/testing/eventually.ts";

interface Line {
  level: string;
  message: string;
  error?: { message: string };
}

function start(t: TestContext, main: string, endWithin = 60_000) {
  const url = (file: string): string => JSON.stringify(new URL(file, import.meta.url).href);
  const program = `
    import { logger } from ${url("./log.ts")};
    import { runProcess } from ${url("./run-process.ts")};
    const log = logger();
    const asked = (signal) => new Promise((resolve) => signal.addEventListener("abort", resolve));
    // A process that serves has something that keeps it alive.
    setInterval(() => {}, 1 << 30);
    runProcess(async (signal) => { log.info("running"); ${main} }, { log, endWithin: ${endWithin} });`;
  const child: ChildProcess = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  const lines: Line[] = [];
  createInterface({ input: child.stdout! }).on("line", (line) => lines.push(JSON.parse(line)));
  const said = (message: string) =>
    eventually(
      message,
      () => lines.find((line) => line.message === message),
      () => lines,
      60_000,
    );
  const exited = once(child, "exit").then(([code]: unknown[]) => code);
  return { child, said, exited };
}

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  test(`${signal} lets main end and exits with 0`, async (t) => {
    const { child, said, exited } = start(t, `await asked(signal); log.info("winding up");`);
    await said("running");
    child.kill(signal);
    await said("winding up");
    assert.equal(await exited, 0);
  });
}

test("an end that takes too long is cut short with 1", async (t) => {
  const { child, said, exited } = start(t, `await new Promise(() => {});`, 50);
  await said("running");
  child.kill("SIGTERM");
  assert.equal(await exited, 1);
  assert.equal((await said("shutdown took too long")).level, "error");
});

test("a second signal exits at once with 1", async (t) => {
  const { child, said, exited } = start(t, `await new Promise(() => {});`);
  await said("running");
  child.kill("SIGTERM");
  await said("shutting down");
  child.kill("SIGTERM");
  assert.equal(await exited, 1);
});

const failures: [string, string, string][] = [
  ["main fails", `throw new Error("oops");`, "failed"],
  [
    "an error is thrown where nobody catches it",
    `setTimeout(() => { throw new Error("oops"); }); await asked(signal);`,
    "uncaught error",
  ],
  ["a rejection is not handled", `void Promise.reject(new Error("oops")); await asked(signal);`, "uncaught error"],
];
for (const [name, main, message] of failures) {
  test(`when ${name}, that is logged and the process exits with 1`, async (t) => {
    const { said, exited } = start(t, main);
    assert.equal((await said(message)).error?.message, "oops");
    assert.equal(await exited, 1);
  });
}
