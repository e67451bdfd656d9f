import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { test } from "node:test";
import { startServer } from "./testing/local-server.ts";

/** Runs a program that has `origin` at hand; gives its output and how it ended. */
function runClient(url: string, program: string): Promise<{ output: string; exit: number | string | null }> {
  const module = new URL("./origin.ts", import.meta.url).href;
  const source = `import { Http2Origin } from ${JSON.stringify(module)};
    const origin = new Http2Origin(${JSON.stringify(url)});
    ${program}`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", source], { timeout: 60_000 });
  return new Promise((resolve) => {
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.on("close", (code, signal) => resolve({ output: output.trim(), exit: code ?? signal }));
  });
}

test("a process ends although its connection is open, once it waits for nothing", async () => {
  await using server = await startServer((stream) => {
    stream.respond({ ":status": 200 });
    stream.end("ok");
  });
  const program = `console.log((await origin.fetch({ method: "GET", path: "/", deadline: 30_000 })).status);`;
  assert.deepEqual(await runClient(server.url, program), { output: "200", exit: 0 });
});

test("a process lives as long as it waits for an open stream", async () => {
  await using server = await startServer((stream) => {
    stream.respond({ ":status": 200 });
    setTimeout(() => stream.end("late"), 300);
  });
  const program = `let got = "";
    await origin.send({ method: "GET", path: "/" }, { onData: (chunk) => void (got += chunk) });
    console.log(got);`;
  assert.deepEqual(await runClient(server.url, program), { output: "late", exit: 0 });
});
