// The test command: checks, unit tests, then the suites on a real Kubernetes, and one closing line with the counts. It
// starts its own lab, so that a lab in use is left alone, and always takes it down again.
import { spawn } from "node:child_process";
import * as path from "node:path";
import { run as runTests } from "node:test";
import { parseArgs } from "node:util";
import { kubeconfigPath, type LabConfig, labConfig } from "../lab/config.ts";
import { bold, dim, green, red, say, seconds, yellow } from "../lab/progress.ts";
import { isParallel, runInParallel, sendResult } from "./parallel.ts";
import { ownScratch } from "./scratch.ts";
import { type Suite, root, suites } from "./suites.ts";

interface Count {
  passed: number;
  failed: number;
}

const { values: options, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: { file: { type: "string" }, test: { type: "string" }, "own-lab": { type: "boolean" } },
});

// Every test file and every operator that a test starts is a process that loads much of src: most of that is remembered.
process.env["NODE_COMPILE_CACHE"] ??= path.join(root, "node_modules/.cache/compiled");

const interrupted = new AbortController();
const failures: string[] = [];

/** The Kubernetes that the suites run on, started for the first suite that needs one. */
type Target = { t: "none" } | { t: "given" } | { t: "running"; lab: LabConfig } | { t: "own"; lab: LabConfig };
let target: Target = process.env["LAB"] === "none" ? { t: "given" } : { t: "none" };

async function prepareTarget(suite: Suite): Promise<string | undefined> {
  if (suite.need === "nothing") return undefined;
  if (target.t === "given") {
    if (suite.need === "lab") return "it needs the lab's faults, and LAB=none";
    if (process.env["KUBECONFIG"] === undefined) return "LAB=none, and KUBECONFIG does not say which Kubernetes to use";
    return undefined;
  }
  if (target.t === "none") {
    const { up, isUp } = await import("../lab/up.ts");
    const everyday = labConfig();
    // A single suite uses the lab that is up; `make test` never does.
    if (wanted.length > 0 && !options["own-lab"] && (await isUp(everyday))) target = { t: "running", lab: everyday };
    else {
      const where = options["own-lab"]
        ? { name: "beside", subnet: "10.95.0.0/16" }
        : { name: "test", subnet: "10.98.0.0/16" };
      const { owned, removeLeftLab } = await import("./support/left-lab.ts");
      const lab = owned(labConfig(where));
      await removeLeftLab(lab);
      target = { t: "own", lab };
      await up(lab, { signal: interrupted.signal });
    }
    process.env["KUBECONFIG"] = kubeconfigPath(target.lab);
    process.env["LAB_NAME"] = target.lab.name;
    process.env["LAB_SUBNET"] = `${target.lab.prefix}.0.0/16`;
    process.env["PATH"] = `${target.lab.bin}:${process.env["PATH"] ?? ""}`;
  }
  return undefined;
}

async function stopTarget(): Promise<void> {
  if (target.t !== "own") return;
  const { down } = await import("../lab/down.ts");
  await down(target.lab);
}

function runCommand(name: string, command: readonly string[]): Promise<Count> {
  return new Promise((resolve) => {
    const began = Date.now();
    const [program = "", ...args] = command;
    const child = spawn(path.join(root, "node_modules/.bin", program), args, {
      cwd: root,
      env: { ...process.env, NO_COLOR: "1" },
      signal: interrupted.signal,
    });
    const output: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => output.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => output.push(chunk));
    let failure: string | undefined;
    child.on("error", (error) => {
      failure = error.message;
    });
    child.on("close", (code) => {
      const passed = code === 0 && failure === undefined;
      if (!passed) {
        say(Buffer.concat(output).toString().trimEnd());
        failures.push(`${name}: ${failure ?? `${command.join(" ")} found something (above)`}`);
      }
      say(`  ${passed ? green("✓") : red("✗")} ${command.join(" ")} ${dim(seconds(Date.now() - began))}`);
      resolve(passed ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 });
    });
  });
}

function runFiles(suite: Extract<Suite, { atOnce: number }>): Promise<Count> {
  const files = suite.files().filter((file) => options.file === undefined || file === path.normalize(options.file));
  if (files.length === 0) {
    failures.push(`${suite.name}: no test file${options.file === undefined ? "" : ` ${options.file}`}`);
    return Promise.resolve({ passed: 0, failed: 1 });
  }
  const count: Count = { passed: 0, failed: 0 };
  const times = new FileTimes();
  return new Promise((resolve, reject) => {
    const stream = runTests({
      files: files.map((file) => path.join(root, file)),
      cwd: root,
      concurrency: suite.atOnce,
      signal: interrupted.signal,
      ...(options.test === undefined ? {} : { testNamePatterns: options.test }),
    });
    for (const type of ["test:dequeue", "test:complete"] as const) stream.on(type, ({ file }) => times.see(file));
    stream.on("test:pass", (event) => {
      // `describe` blocks and files are no tests; tests filtered out by name or `skip` did not run.
      if (event.details.type === "suite" || event.skip !== undefined || event.todo !== undefined) return;
      if (isFile(event.name)) return;
      count.passed += 1;
      say(`  ${green("✓")} ${event.name} ${dim(seconds(event.details.duration_ms))}`);
    });
    stream.on("test:fail", (event) => {
      if (event.details.type === "suite" && event.details.error.message.includes("subtest")) return;
      if (isFile(event.name) && event.details.error.message.includes("subtest")) return;
      count.failed += 1;
      const where = event.file === undefined ? "" : `${path.relative(root, event.file)}: `;
      say(`  ${red("✗")} ${event.name} ${dim(seconds(event.details.duration_ms))}`);
      const error = event.details.error.cause ?? event.details.error;
      say(indent(whole(error)));
      failures.push(`${suite.name}: ${where}${event.name}\n${indent(beginning(reasonOf(error)))}`);
    });
    stream.on("test:stdout", (event) => process.stderr.write(event.message));
    stream.on("test:stderr", (event) => process.stderr.write(event.message));
    stream.on("error", reject);
    stream.on("end", () => {
      if (count.passed + count.failed === 0) {
        failures.push(`${suite.name}: no test ran`);
        count.failed += 1;
      }
      if (suite.atOnce === 1) for (const line of times.slowest()) say(dim(`  ${line}`));
      resolve(count);
    });
    stream.resume();
  });
}

/** Which files a suite spends its time on. */
class FileTimes {
  readonly #seen = new Map<string, { first: number; last: number }>();

  see(file: string | undefined): void {
    if (file === undefined) return;
    const now = Date.now();
    this.#seen.set(file, { first: this.#seen.get(file)?.first ?? now, last: now });
  }

  slowest(): string[] {
    return [...this.#seen]
      .map(([file, { first, last }]) => ({ file: path.relative(root, file), took: last - first }))
      .filter(({ took }) => took >= 20_000)
      .sort((a, b) => b.took - a.took)
      .map(({ file, took }) => `${file} took ${seconds(took)}`);
  }
}

const runsInParallel = (suite: Suite): boolean => "inParallel" in suite;
/** Node reports a file as a test when it crashes or has no tests. */
const isFile = (name: string): boolean => name.endsWith(".test.ts");
/** With all that it was caused by: what a program printed last is often there. */
const whole = (error: unknown): string =>
  error instanceof Error
    ? [error.stack ?? error.message, ...(error.cause === undefined ? [] : [`caused by ${whole(error.cause)}`])].join(
        "\n",
      )
    : String(error);
/** That which caused the others. */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : reasonOf(error.cause);
};
const indent = (text: string): string => text.replaceAll(/^/gm, "      ");
/** Enough to tell what went wrong; the whole of it is where the test ran. */
const beginning = (text: string): string => text.trim().split("\n").slice(0, 12).join("\n").slice(0, 1000);

async function main(): Promise<number> {
  const unknown = wanted.filter((name) => !suites.some((suite) => suite.name === name));
  if (unknown.length > 0) {
    say(`No suite is called ${unknown.join(", ")}. There are: ${suites.map((suite) => suite.name).join(", ")}.`);
    return 2;
  }
  const began = Date.now();
  // The part that runs in parallel uses that of the whole run.
  const scratch = isParallel ? undefined : await ownScratch();
  const total: Count = { passed: 0, failed: 0 };
  const left: string[] = [];
  // The suites that run in parallel share one process, and run there one after another: two cores carry two at once.
  const inParallel = wanted.length > 0 || target.t === "given" ? [] : suites.filter(runsInParallel);
  let parallel: Promise<void> | undefined;
  const startParallel = async (): Promise<void> => {
    const names = inParallel.map(({ name }) => name);
    say(bold(`${names.join(", ")}: in parallel, marked ${dim("┃")}`));
    const { passed, failed, ...result } = await runInParallel(names, interrupted.signal);
    total.passed += passed;
    total.failed += failed;
    failures.push(...result.failures);
  };
  try {
    for (const suite of suites) {
      if (interrupted.signal.aborted) break;
      const named = wanted.includes(suite.name);
      if (!named && (wanted.length > 0 || ("onlyWhenNamed" in suite && suite.onlyWhenNamed))) continue;
      if (inParallel.includes(suite)) {
        parallel ??= startParallel();
        continue;
      }
      const because = await prepareTarget(suite);
      if (because !== undefined) {
        say(`${yellow("–")} ${suite.name} is left out: ${because}.`);
        left.push(suite.name);
        continue;
      }
      const suiteBegan = Date.now();
      say(bold(`${suite.name}: ${suite.what}`));
      const count = "command" in suite ? await runCommand(suite.name, suite.command) : await runFiles(suite);
      total.passed += count.passed;
      total.failed += count.failed;
      say(
        dim(`  ${suite.name}: ${count.passed} passed, ${count.failed} failed in ${seconds(Date.now() - suiteBegan)}`),
      );
    }
  } catch (error) {
    total.failed += 1;
    failures.push(error instanceof Error ? error.message : String(error));
  } finally {
    await Promise.all([parallel, stopTarget()]);
    await scratch?.remove();
  }
  if (interrupted.signal.aborted) {
    total.failed += 1;
    failures.push("interrupted before the end");
  }
  if (!isParallel) report(total, left, Date.now() - began);
  sendResult({ ...total, failures });
  return total.failed === 0 ? 0 : 1;
}

function report({ passed, failed }: Count, left: readonly string[], milliseconds: number): void {
  say();
  if (failures.length > 0) say(red(`Failed:\n${failures.map((failure) => `  ${failure}`).join("\n")}`));
  if (left.length > 0) say(`Left out: ${left.join(", ")}.`);
  say(dim(`Took ${seconds(milliseconds)}.`));
  process.stdout.write(`${passed} passed, ${failed} failed\n`);
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.on(signal, () => {
    if (!interrupted.signal.aborted) say(`${signal}: stopping, and cleaning up.`);
    interrupted.abort();
  });

// The run that this is a part of is over, and this part's lab must not stay.
process.on("disconnect", () => interrupted.abort());
// Who listens holds the channel open, and the process would never end.
process.channel?.unref();

process.exitCode = await main();
