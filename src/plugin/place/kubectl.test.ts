// Another program in the place of kubectl, which prints what pods and tenants may print.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { Flags } from "../line/flags.ts";
import { kubectlOf } from "./kubectl.ts";

const program = `#!/bin/sh
printf 'out \\033[0m\\r\\n'
printf 'err \\033]52;c;cm0=\\007\\n' >&2
exit 3
`;

describe("what kubectl prints", () => {
  const folder = mkdtempSync(join(tmpdir(), "kubectl-"));
  const path = process.env["PATH"] ?? "";
  before(() => {
    writeFileSync(join(folder, "kubectl"), program, { mode: 0o755 });
    process.env["PATH"] = `${folder}${delimiter}${path}`;
  });
  after(() => {
    process.env["PATH"] = path;
    rmSync(folder, { recursive: true });
  });

  const run = async (output: "text" | "bytes", isTTY: boolean) => {
    const [stdout, stderr] = [Object.assign(new PassThrough(), { isTTY }), new PassThrough()];
    const standard = { stdout, stderr } as unknown as Pick<NodeJS.Process, "stdout" | "stderr">;
    const code = await kubectlOf(new Flags(new Map()), standard, new AbortController().signal).run([], output);
    stdout.end();
    stderr.end();
    return { code, out: await text(stdout), err: await text(stderr) };
  };
  const err = "err �]52;c;cm0=�\n";

  test("is clean where it is text, on a terminal and in a pipe", async () => {
    for (const isTTY of [true, false])
      assert.deepEqual(await run("text", isTTY), { code: 3, out: "out �[0m\r\n", err });
  });

  test("is clean on a terminal where it is data, and a pipe has its bytes from kubectl itself", async () => {
    assert.deepEqual(await run("bytes", true), { code: 3, out: "out �[0m\r\n", err });
    assert.deepEqual(await run("bytes", false), { code: 3, out: "", err });
  });

  test("is quoted when it fails", async () => {
    const kubectl = kubectlOf(new Flags(new Map()), process, new AbortController().signal);
    await assert.rejects(kubectl.read(["get"]), /^Refusal: kubectl get failed: err/);
  });
});
