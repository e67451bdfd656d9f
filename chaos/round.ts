// One round: a fresh cluster, clients that write, a fault and a change meanwhile, and then everything that can be known about
// what came of it.
import { cp, rm, writeFile } from "node:fs/promises";
import * as path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { heal } from "../lab/faults/undo.ts";
import { waitFor, type Step } from "../lab/progress.ts";
import { checkNames, judge, type Judgement, type Verdict } from "../test/robustness/judge.ts";
import { Recorder, type Summary } from "../test/robustness/recorder.ts";
import { Recording } from "../test/robustness/recording.ts";
import { begin, type Ending } from "./changes/begin.ts";
import { changes } from "./changes/list.ts";
import { auditExcerpt, eventsOf, saveEvidence } from "./evidence/evidence.ts";
import { inject } from "./faults/inject.ts";
import { faults } from "./faults/list.ts";
import { type Ground, operatorName, untilOperatorReady } from "./ground.ts";
import {
  failed,
  hashVerdict,
  identityVerdict,
  oneDisruptionVerdict,
  ourChecks,
  skipped,
  trafficVerdict,
} from "./judging/checks.ts";
import { recoveryOf } from "./judging/recovery.ts";
import { actionsIn, type Sample } from "./judging/samples.ts";
import type { AnyCheck, RoundResult } from "./result.ts";
import { type Round, textOf } from "./schedule.ts";
import type { Scene } from "./scene.ts";
import { Entrance } from "./subject/entrance.ts";
import { Keeper } from "./subject/keeper.ts";
import { Observer } from "./subject/observer.ts";
import { nameOf, Subject } from "./subject/subject.ts";
import type { Timeline } from "./evidence/timeline.ts";

const doors = 3;
/** Clients go on for a moment after everything is undone, so that the history has what comes then. */
const calmSeconds = 2;
/** Clients go on until the change is made as well, but for no longer: longer histories take too long to judge. */
const mostTrafficMs = 30_000;
/** A fault, a change and the end of the fault are over by then, however busy the machine is. */
const disturbedMs = 180_000;
const requestsASecond = 120;
/** In which the last write has to succeed, and be seen. All nodes may have just got their power back. */
const settleSeconds = 90;
const healWithinMs = 300_000;
const steadyMs = 3_000;
const lookEveryMs = 200;
const judgeSeconds = 180;
/** How long clients write before a restore, without a fault. */
const calmTrafficSeconds = 8;

interface Mark {
  readonly at: number;
  readonly what: string;
}

/** What is noted on the way, so that a round which ends early tells what it knows. */
class Notes {
  readonly checks = new Map<AnyCheck, Verdict>();
  readonly marks: Mark[] = [];
  /** When clients began to write. */
  from: number | undefined;
  injected: number | undefined;
  undone: number | undefined;
  hit: string | undefined;
  faultProblem: string | undefined;
  summary: Summary | undefined;
  acknowledged: number[] = [];
  /** The same for all answered requests. */
  answered: number[] = [];

  mark(what: string): void {
    this.marks.push({ at: Date.now(), what });
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export async function runRound(ground: Ground, round: Round, folder: string, progress: Step): Promise<RoundResult> {
  await rm(folder, { recursive: true, force: true });
  const began = Date.now();
  const notes = new Notes();
  await using owned = new AsyncDisposableStack();
  const name = `c${round.number}`;
  using keeper = new Keeper(ground.lab, ground.namespace, [name, operatorName], path.join(folder, "kept"));
  let samples: readonly Sample[] = [];
  let subject: Subject | undefined;
  try {
    progress.detail("makes the cluster");
    subject = owned.use(await Subject.create(ground, name, round));
    notes.mark("the cluster is healthy");
    const scene: Scene = { ground, subject, round };
    await using entrance = await Entrance.open(doors);
    await using observer = new Observer(subject, entrance, isTranslated(round));
    samples = observer.samples;
    await withTraffic(scene, { entrance, observer, keeper, folder, notes, progress });
  } catch (error) {
    ground.signal.throwIfAborted();
    notes.mark(`the round ended: ${messageOf(error)}`);
    notes.checks.set("healed", failed(messageOf(error)));
  } finally {
    await heal(ground.lab);
  }
  keeper.look();
  progress.detail("looks at what the operator did");
  const cluster = `${ground.namespace}/${name}`;
  const actions = actionsIn(keeper.logsOf(operatorName), cluster).toSorted((a, b) => a.at - b.at);
  notes.checks.set("identity", identityOf(round, samples));
  notes.checks.set("oneDisruption", oneDisruptionVerdict(actions, samples));
  const result = resultOf(round, began, notes, samples);
  const ended = Date.now();
  const timeline: Timeline = {
    title: textOf(round),
    from: began,
    to: ended,
    marks: notes.marks,
    ...(notes.injected !== undefined && {
      fault: { from: notes.injected, to: notes.undone ?? notes.injected, what: `${round.fault}: ${notes.hit ?? ""}` },
    }),
    acknowledged: notes.acknowledged,
    samples,
    actions,
    events: await eventsOf(ground, name).catch(() => []),
    checks: result.checks,
  };
  await saveEvidence(folder, { result, timeline, operatorLog: keeper.logsOf(operatorName) });
  // The next round has a cluster of its own; one that does not go is left to the end of the run.
  await subject?.delete().catch(() => undefined);
  keeper[Symbol.dispose]();
  const isBad = Object.values(result.checks).some(({ status }) => status === "failed");
  if (!isBad) {
    for (const part of ["kept", "recording", "tls", "operator.log"])
      await rm(path.join(folder, part), { recursive: true, force: true });
    return result;
  }
  await writeFile(path.join(folder, "audit.jsonl"), await auditExcerpt(ground, began, ended));
  return { ...result, folder };
}

/** Whether clients speak plain text to a door that speaks what the members speak, because that changes. */
const isTranslated = ({ change }: Round): boolean => ["tls-on", "tls-off", "rotate-ca"].includes(change);

/** After a restore the data is another, under another id. */
function identityOf({ change }: Round, samples: readonly Sample[]): Verdict {
  if (changes[change].afterTraffic !== true) return identityVerdict(samples);
  return skipped("a restore begins a new cluster; the change's own check compares revisions across it");
}

interface Tools {
  readonly entrance: Entrance;
  readonly observer: Observer;
  readonly keeper: Keeper;
  readonly folder: string;
  readonly notes: Notes;
  readonly progress: Step;
}

async function withTraffic(scene: Scene, tools: Tools): Promise<void> {
  const { round, subject, ground } = scene;
  const { entrance, folder, notes, progress } = tools;
  const out = path.join(folder, "recording");
  const speaksTls = round.secured && !isTranslated(round);
  const tls = speaksTls ? await subject.writeCertificates(path.join(folder, "tls")) : undefined;
  const scheme = tls === undefined ? "http://127.0.0.1" : "https://localhost";
  progress.detail("clients begin");
  await using recorder = await Recorder.start({
    endpoints: entrance.ports.map((port) => `${scheme}:${port}`),
    out,
    seed: round.trafficSeed,
    rate: requestsASecond,
    settleSeconds,
    ...(tls !== undefined && { tls }),
    ...(subject.login !== undefined && { login: subject.login }),
  });
  const from = Date.now();
  notes.from = from;
  notes.mark("clients begin to write");
  const later = changes[round.change].afterTraffic === true;
  const ending = later ? undefined : await disturb(scene, notes, from, progress);
  const seconds = later ? calmTrafficSeconds : round.seconds;
  await sleep(Math.max(0, from + seconds * 1000 - Date.now(), later ? 0 : calmSeconds * 1000));
  if (!later) await steadyOrLate(scene, tools, from + mostTrafficMs);
  notes.mark("clients end");
  progress.detail("the last write, and who saw it");
  const summary = await recorder.stop();
  notes.summary = summary;
  await readTimes(out, summary, notes);
  notes.checks.set("traffic", trafficOf(notes, from));
  if (later) {
    await untilSteady(scene, tools);
    await judgeRecording(scene, tools, out);
    const after = await disturb(scene, notes, Date.now(), progress);
    await conclude(scene, tools, after);
    return;
  }
  await conclude(scene, tools, ending);
  await judgeRecording(scene, tools, out);
  ground.signal.throwIfAborted();
}

/** The fault and the change, each at its time; and the fault undone. Returns when all of that is over. */
async function disturb(scene: Scene, notes: Notes, from: number, progress: Step): Promise<Ending | undefined> {
  const { round, ground } = scene;
  const { signal } = ground;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(disturbedMs)]);
  const at = (seconds: number): Promise<void> =>
    sleep(Math.max(0, from + seconds * 1000 - Date.now()), undefined, { signal: limit });
  const fault = async (): Promise<void> => {
    await at(round.faultAt);
    progress.detail(`fault: ${round.fault}`);
    notes.injected = Date.now();
    try {
      notes.hit = await inject[round.fault](scene);
      notes.mark(`fault: ${round.fault} (${notes.hit})`);
    } catch (error) {
      signal.throwIfAborted();
      notes.faultProblem = messageOf(error);
      notes.mark(`the fault could not be done: ${notes.faultProblem}`);
    }
    if (faults[round.fault].lasts !== true) return;
    await at((notes.injected - from) / 1000 + round.faultLasts);
    await heal(ground.lab);
    notes.undone = Date.now();
    notes.mark("the fault is undone");
  };
  const change = async (): Promise<Ending | undefined> => {
    await at(round.changeAt);
    notes.mark(`change: ${round.change}`);
    try {
      return await begin[round.change](scene);
    } catch (error) {
      signal.throwIfAborted();
      notes.checks.set("change", failed(`it could not be asked for: ${messageOf(error)}`));
      return undefined;
    }
  };
  const [, ending] = await Promise.all([fault(), change()]);
  // What is paused stays so for as long as the fault lasts, and no longer.
  if (round.change !== "pause-resume") return ending;
  notes.checks.set("change", (await ending?.()) ?? failed("it was never paused"));
  notes.mark("resumed");
  return undefined;
}

/** Whether it has been whole for long enough since the fault ended. */
function isSteady({ observer, notes }: Tools): boolean {
  const from = Math.max(notes.injected ?? 0, notes.undone ?? 0);
  const since = observer.healthySince;
  return since !== undefined && Date.now() - Math.max(since, from) > steadyMs;
}

async function steadyOrLate({ ground }: Scene, tools: Tools, latest: number): Promise<void> {
  while (Date.now() < latest && !isSteady(tools)) await sleep(lookEveryMs, undefined, { signal: ground.signal });
}

async function untilSteady({ ground }: Scene, tools: Tools): Promise<void> {
  await waitFor(
    "the cluster to be whole again",
    async () => {
      ground.signal.throwIfAborted();
      return isSteady(tools) || undefined;
    },
    { timeoutMs: healWithinMs, everyMs: lookEveryMs, lastSeen: () => tools.observer.lastSeen },
  );
}

async function conclude(scene: Scene, tools: Tools, ending: Ending | undefined): Promise<void> {
  const { notes, progress } = tools;
  progress.detail("waits until it is whole");
  await untilSteady(scene, tools);
  notes.mark("whole again");
  if (ending !== undefined) {
    progress.detail("looks whether the change was made");
    notes.checks.set("change", await ending().catch((error: unknown) => failed(messageOf(error))));
    await untilSteady(scene, tools);
  }
  await untilOperatorReady(scene.ground);
  notes.checks.set("healed", { status: "passed" });
  notes.checks.set("hash", await hashes(scene.subject));
}

/** Members apply what the leader has a moment later. */
async function hashes(subject: Subject): Promise<Verdict> {
  const statuses = await Promise.all(subject.pods.map((pod) => subject.member(pod).status()));
  const revision = Math.max(...statuses.map((status) => status.revision));
  try {
    const each = await waitFor(
      "every member to tell its hash",
      () =>
        Promise.all(
          subject.pods.map(async (pod) => {
            const { hash, compactRevision } = await subject.member(pod).hashKv(revision, { deadline: 10_000 });
            return { member: nameOf(pod), hash, compactRevision };
          }),
        ),
      { timeoutMs: 30_000, everyMs: 500 },
    );
    return hashVerdict(each);
  } catch (error) {
    return skipped(messageOf(error));
  }
}

async function readTimes(out: string, summary: Summary, notes: Notes): Promise<void> {
  const base = Date.parse(summary.began);
  const { operations } = await Recording.load(out);
  const answered = operations.filter(({ Output }) => Output.Error === "");
  const timeOf = ({ Return }: { Return: number }): number => base + Return / 1e6;
  notes.answered = answered.map(timeOf);
  notes.acknowledged = answered.filter(({ Input }) => Input.Type !== "range").map(timeOf);
}

function trafficOf({ answered, injected, summary }: Notes, from: number): Verdict {
  const until = injected ?? from + (summary?.seconds ?? 0) * 1000;
  return trafficVerdict(answered.filter((at) => at >= from && at < until).length, (until - from) / 1000);
}

async function judgeRecording(scene: Scene, { keeper, folder, notes, progress }: Tools, out: string): Promise<void> {
  progress.detail("judges what clients saw");
  keeper.look();
  const { round, subject } = scene;
  const data = round.onVolumes ? await keeper.copyVolumes(subject.key.name, subject.pods.map(nameOf)) : keeper.data;
  const judgement = await judge(out, { data, timeoutSeconds: judgeSeconds });
  for (const name of checkNames) notes.checks.set(name, judgement.checks[name]);
  await saveJudgement(folder, judgement);
}

async function saveJudgement(folder: string, judgement: Judgement): Promise<void> {
  await writeFile(path.join(folder, "judgement.json"), JSON.stringify(judgement, undefined, 1));
  if (judgement.page !== undefined) await cp(judgement.page, path.join(folder, "history.html"));
}

function resultOf(round: Round, began: number, notes: Notes, samples: readonly Sample[]): RoundResult {
  const { summary, injected, undone, from = began } = notes;
  const ended = from + (summary?.seconds ?? 0) * 1000;
  const during = injected !== undefined && notes.faultProblem === undefined && injected < ended;
  const checks = Object.fromEntries(
    [...checkNames, ...ourChecks].map((name) => [
      name,
      notes.checks.get(name) ?? skipped("the round ended before it came to that"),
    ]),
  ) as Record<AnyCheck, Verdict>;
  return {
    round,
    began: new Date(began).toISOString(),
    ...(notes.hit !== undefined && { hit: notes.hit }),
    ...(notes.faultProblem !== undefined && { faultProblem: notes.faultProblem }),
    checks,
    ...(during &&
      checks.traffic.status === "passed" && {
        recovery: recoveryOf({ began: from, injected, undone, ended }, notes.acknowledged, samples),
      }),
    counts: {
      operations: summary?.operations ?? 0,
      acknowledged: summary?.acknowledged ?? 0,
      unanswered: summary?.unanswered ?? 0,
    },
  };
}
