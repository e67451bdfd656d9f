// `make chaos`: breaks one thing after another while something else changes, on fresh clusters under clients that record what
// they see, and judges each round. The seed decides what meets what. Exit code 1: a check failed.
import { mkdir, writeFile } from "node:fs/promises";
import * as path from "node:path";
import { run } from "../lab/machine/command.ts";
import { tree } from "../lab/images/bundle.ts";
import { bold, dim, green, red, say, seconds, step, yellow } from "../lab/progress.ts";
import { command } from "../demo/command.ts";
import { robustnessProgram } from "../test/robustness/recorder.ts";
import { prepareDelay } from "../lab/faults/delay.ts";
import { type Ground, wantedLab, withGround } from "./ground.ts";
import { chaosOptions, type ChaosOptions, sameAgain } from "./options.ts";
import type { Recovery } from "./judging/recovery.ts";
import { writePage } from "./page/write.ts";
import { allChecks, type RoundResult, type RunResult, withStatus } from "./result.ts";
import { runRound } from "./round.ts";
import { schedule, textOf } from "./schedule.ts";

const evidence = path.join(tree, "dist", "chaos");

/** So that its step is shown as one that failed. The next round begins all the same. */
class RoundFailed extends Error {}

/** Results are there as soon as each round is over: a run that is interrupted tells of those it had. */
async function runRounds(ground: Ground, options: ChaosOptions, folder: string, results: RoundResult[]): Promise<void> {
  const until = Date.now() + options.minutes * 60_000;
  for (const round of schedule(options)) {
    if (Date.now() >= until) break;
    ground.signal.throwIfAborted();
    const at = results.length;
    try {
      await step(textOf(round), async (progress) => {
        const one = await runRound(ground, round, path.join(folder, `round-${round.number}`), progress);
        results.push(one);
        if (withStatus(one, "failed").length > 0) throw new RoundFailed(textOf(round));
      });
    } catch (error) {
      if (!(error instanceof RoundFailed)) throw error;
    }
    for (const line of results.slice(at).flatMap(lines)) say(line);
  }
}

function lines(result: RoundResult): string[] {
  const { checks, recovery, faultProblem, counts, folder } = result;
  const failures = withStatus(result, "failed").map((name) => red(`  ✗ ${name}: ${checks[name].why ?? ""}`));
  const skips = withStatus(result, "skipped").map((name) => yellow(`  – ${name} skipped: ${checks[name].why ?? ""}`));
  const healed = recovery?.healedMs === undefined ? "" : `, whole after ${seconds(recovery.healedMs)}`;
  const times =
    recovery === undefined
      ? ""
      : `; ${writable(recovery)}${healed}; at most ${seconds(recovery.longestGapMs)} without a write`;
  return [
    dim(`  ${counts.acknowledged} writes acknowledged, ${counts.unanswered} unanswered${times}`),
    ...(faultProblem === undefined ? [] : [yellow(`  – the fault could not be done: ${faultProblem}`)]),
    ...skips,
    ...failures,
    ...(folder === undefined ? [] : [red(`  evidence: ${path.relative(process.cwd(), folder)}`)]),
  ];
}

const writable = ({ writableMs }: Recovery): string =>
  writableMs === 0 ? "writes went on" : `writes again after ${seconds(writableMs)}`;

async function summarize(result: RunResult, file: string): Promise<boolean> {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(result, undefined, 1)}\n`);
  const { rounds } = result;
  const count = (status: "passed" | "failed" | "skipped"): number =>
    rounds.reduce((sum, round) => sum + withStatus(round, status).length, 0);
  const bad = rounds.filter((round) => withStatus(round, "failed").length > 0);
  const acknowledged = rounds.reduce((sum, { counts }) => sum + counts.acknowledged, 0);
  say();
  say(
    `${bold(`${rounds.length} rounds`)}: ${count("passed")} checks passed, ${count("failed")} failed, ${count("skipped")} skipped; ` +
      `${acknowledged} writes were acknowledged.`,
  );
  const never = allChecks.filter((name) => !rounds.some(({ checks }) => checks[name].status === "passed"));
  if (never.length > 0) say(yellow(`Never passed: ${never.join(", ")}.`));
  if (bad.length === 0 && rounds.length > 0) say(green("No check failed."));
  for (const { round, folder } of bad) say(red(`${textOf(round)}: ${path.relative(process.cwd(), folder ?? "")}`));
  if (bad.length > 0) say("Open timeline.html there, and history.html if the history is bad.");
  say(`The same again: ${result.again}`);
  return bad.length === 0 && rounds.length > 0;
}

await command(async (args, signal) => {
  const options = chaosOptions(process.env, () => Math.floor(Math.random() * 1_000_000));
  const lab = wantedLab(args);
  await step("the recorder and the judge", async () => void (await robustnessProgram()));
  if (options.faults.includes("delay")) await step("the program that delays packets", prepareDelay);
  const folder = path.join(evidence, String(options.seed));
  const began = new Date().toISOString();
  const rounds: RoundResult[] = [];
  let ending: { readonly error: unknown } | undefined;
  try {
    await withGround(lab, signal, async (ground) => {
      say(bold(`For ${seconds(options.minutes * 60_000)}, with seed ${options.seed}:`));
      await runRounds(ground, options, folder, rounds);
    });
  } catch (error) {
    if (rounds.length === 0) throw error;
    ending = { error };
  }
  const commit = (await run("git", ["-C", tree, "rev-parse", "--short", "HEAD"]).catch(() => "unknown")).trim();
  const result: RunResult = {
    seed: options.seed,
    began,
    commit,
    kubernetes: lab.kubernetes,
    again: sameAgain(options, process.env),
    rounds,
  };
  const file = path.join(evidence, "results", `${began.replaceAll(/[:.]/g, "-")}-${options.seed}.json`);
  if (!(await summarize(result, file))) process.exitCode = 1;
  if (options.page) for (const written of await writePage(path.dirname(file))) say(`Written: ${written}`);
  if (ending !== undefined) throw ending.error;
});
