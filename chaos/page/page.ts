// docs/robustness.md: what was tried, what came of it, how long it was felt, and what nobody has tried.
import { changeNames, changes, etcdVersions } from "../changes/list.ts";
import { faultNames, faults } from "../faults/list.ts";
import { spreadOf } from "../judging/recovery.ts";
import { allChecks, checkWords, type RoundResult, type RunResult, withStatus } from "../result.ts";
import { fits } from "../schedule.ts";
import { distributions, type Group } from "./svg.ts";
import type { FalseAlarm, Found } from "./track-record.ts";

export interface Picture {
  readonly path: string;
  readonly svg: string;
}

const pictures = [
  { file: "robustness-writable.svg", title: "From the fault until writes are acknowledged again", of: "writableMs" },
  { file: "robustness-healed.svg", title: "From the fault until the cluster is whole again", of: "healedMs" },
  { file: "robustness-gap.svg", title: "The longest time without an acknowledged write", of: "longestGapMs" },
] as const;

function groupsOf(rounds: readonly RoundResult[], of: (typeof pictures)[number]["of"]): Group[] {
  return faultNames.map((name) => ({
    name,
    samples: rounds.flatMap(({ round, recovery }) => {
      const value = round.fault === name ? recovery?.[of] : undefined;
      return value === undefined ? [] : [value];
    }),
  }));
}

export function drawnFrom(runs: readonly RunResult[]): Picture[] {
  const rounds = runs.flatMap((run) => run.rounds);
  return pictures
    .map(({ file, title, of }) => ({ path: `docs/images/${file}`, title, groups: groupsOf(rounds, of) }))
    .filter(({ groups }) => groups.some(({ samples }) => samples.length > 0))
    .map(({ path, title, groups }) => ({ path, svg: distributions(title, groups) }));
}

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

const inCell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("<", "\\<");

function coverage(rounds: readonly RoundResult[]): string {
  const cell = (fault: (typeof faultNames)[number], change: (typeof changeNames)[number]): string => {
    if (!fits(fault, change)) return "×";
    const here = rounds.filter(
      ({ round, hit }) => round.fault === fault && round.change === change && hit !== undefined,
    );
    const bad = here.filter((round) => withStatus(round, "failed").length > 0).length;
    if (here.length === 0) return "";
    return bad === 0 ? `${here.length}` : `${here.length} (${bad} failed)`;
  };
  return table(
    ["", ...changeNames.map((name) => `\`${name}\``)],
    faultNames.map((fault) => [`\`${fault}\``, ...changeNames.map((change) => cell(fault, change))]),
  );
}

function checks(rounds: readonly RoundResult[]): string {
  const count = (name: (typeof allChecks)[number], status: "passed" | "failed" | "skipped"): string =>
    String(rounds.filter((round) => round.checks[name].status === status).length);
  return table(
    ["Check", "What holds when it passes", "Passed", "Failed", "Skipped"],
    allChecks.map((name) => [
      `\`${name}\``,
      checkWords[name],
      count(name, "passed"),
      count(name, "failed"),
      count(name, "skipped"),
    ]),
  );
}

function reasons(rounds: readonly RoundResult[]): string {
  const counted = new Map<string, number>();
  for (const round of rounds)
    for (const name of withStatus(round, "skipped")) {
      // What differs from round to round is not the reason.
      const why = (round.checks[name].why ?? "").replaceAll(/\d[\d.]*/g, "…").replaceAll(/\/\S+/g, "…");
      const key = `\`${name}\`: ${why}`;
      counted.set(key, (counted.get(key) ?? 0) + 1);
    }
  if (counted.size === 0) return "No check was skipped.";
  return [...counted]
    .toSorted(([, a], [, b]) => b - a)
    .map(([why, times]) => `- ${times} × ${inCell(why)}`)
    .join("\n");
}

const inSeconds = (ms: number | undefined): string => (ms === undefined ? "" : (ms / 1000).toFixed(1));

function times(rounds: readonly RoundResult[]): string {
  const rows = faultNames.flatMap((name) => {
    const here = rounds.flatMap(({ round, recovery }) => (round.fault === name && recovery ? [recovery] : []));
    if (here.length === 0) return [];
    const [writable, gap] = [
      spreadOf(here.map((one) => one.writableMs)),
      spreadOf(here.map((one) => one.longestGapMs)),
    ];
    const healed = spreadOf(here.flatMap(({ healedMs }) => (healedMs === undefined ? [] : [healedMs])));
    const lasted = spreadOf(here.flatMap(({ undoneMs }) => (undoneMs === undefined ? [] : [undoneMs])));
    const both = (spread: typeof gap): string[] => [inSeconds(spread?.p50), inSeconds(spread?.max)];
    return [
      [`\`${name}\``, String(here.length), inSeconds(lasted?.p50), ...both(writable), ...both(gap), ...both(healed)],
    ];
  });
  return table(
    ["Fault", "N", "lasted, p50", "writable, p50", "max", "no write, p50", "max", "whole, p50", "max"],
    rows,
  );
}

function untried(rounds: readonly RoundResult[]): string {
  const seen = (fault: string, change: string): boolean =>
    rounds.some(({ round, hit }) => round.fault === fault && round.change === change && hit !== undefined);
  const possible = faultNames.flatMap((fault) =>
    changeNames.filter((change) => fits(fault, change)).map((change) => [fault, change] as const),
  );
  const tried = possible.filter(([fault, change]) => seen(fault, change)).length;
  const faultsNot = faultNames.filter((fault) => !changeNames.some((change) => seen(fault, change)));
  const changesNot = changeNames.filter((change) => !faultNames.some((fault) => seen(fault, change)));
  const named = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(", ") || "none";
  return [
    `- Pairs: ${tried} of ${possible.length} were tried in these runs. Faults not tried at all: ${named(faultsNot)}. Changes not tried at all: ${named(changesNot)}.`,
    "- Two faults at once, faults that last for minutes, clocks that differ, packets that are repeated or damaged, disks that return errors, memory that runs out.",
    "- What the disk has not kept when power goes: the lab's kernel goes on running, so a node that is switched off loses nothing that was written.",
    "- Databases of more than a few kilobytes, and histories of more than half a minute.",
    "- The end of the replacement of a CA, a minute and a half after its beginning.",
    "- etcd before 3.5; certificates that are given; backups in other stores than S3.",
  ].join("\n");
}

function record(found: readonly Found[]): string {
  if (found.length === 0) return "Nothing yet.";
  return table(
    ["What was wrong", "Since", "Until", "Seen by", "Found now by"],
    found.map(({ what, since, until, seenBy, test }) => [
      inCell(what),
      since,
      until ?? "open",
      `\`${seenBy}\``,
      `[${test.split("/").at(-1)}](../${test})`,
    ]),
  );
}

function alarms(all: readonly FalseAlarm[]): string {
  if (all.length === 0) return "";
  const rows = all.map(({ check, seenBy, what, test }) => [
    `\`${check}\``,
    inCell(seenBy),
    inCell(what),
    `[${test.split("/").at(-1)}](../${test})`,
  ]);
  return `\nChecks that failed although the product was correct: bugs of the checks themselves.\n\n${table(
    ["Check", "Seen by", "What was wrong", "Found now by"],
    rows,
  )}\n`;
}

/** What people have written down about what the runs found. */
export interface Findings {
  readonly found: readonly Found[];
  readonly falseAlarms: readonly FalseAlarm[];
}

export function robustnessPage(runs: readonly RunResult[], { found, falseAlarms }: Findings): string {
  const rounds = runs.flatMap((run) => run.rounds);
  const writes = rounds.reduce((sum, { counts }) => sum + counts.acknowledged, 0);
  const secured = rounds.filter(({ round }) => round.secured).length;
  const bad = rounds.filter((round) => withStatus(round, "failed").length > 0).length;
  const images = drawnFrom(runs).map(
    ({ path, svg }) => `![${/<title[^>]*>([^<]*)/.exec(svg)?.[1] ?? ""}](${path.replace("docs/", "")})`,
  );
  return `<!-- Made by \`make chaos CHAOS_PAGE=1\`. The track record is in chaos/page/track-record.ts. -->
# Robustness

\`make chaos\` breaks one thing while another changes, again and again, on fresh clusters of the [lab](lab.md). Clients made with
etcd's own Go client write, read and watch meanwhile and record every answer. These records are judged by the checkers
that etcd uses for itself, with the write-ahead logs of all members, also of those that are gone; and by checks of what an operator
could break besides.

${runs.length} runs, ${rounds.length} rounds (${secured} with TLS and a login), ${writes} acknowledged writes. Rounds in which a check failed: ${bad}.

## Checks

${checks(rounds)}

Skipped is not passed. Why checks were skipped:

${reasons(rounds)}

## Faults and changes

How many rounds had the fault (row) during the change (column). × is a pair that makes no sense or that no
operator can survive: it deletes the only copy of the data, needs a member that does not exist, or waits for a paused operator.

${coverage(rounds)}

${faultNames.map((name) => `- \`${name}\`: ${faults[name].what}.`).join("\n")}

The changes:

${changeNames.map((name) => `- \`${name}\`: ${changes[name].what}.`).join("\n")}

## Recovery

In seconds, from the moment at which the fault was injected. Faults that last are undone after the time in the third column; the
change of the round is in these times, too. Writable: the end of the longest time without an acknowledged write, or 0 where none lasted for half a second. Whole: the status is Ready,
and every member answers and votes.

${times(rounds)}

${images.join("\n\n")}

## Track record

Bugs of the product that these runs found.

${record(found)}
${alarms(falseAlarms)}
## Not covered

${untried(rounds)}

## How to repeat

\`\`\`
make chaos CHAOS_SEED=1 CHAOS_MINUTES=30
make chaos CHAOS_FAULTS=partition,delete-leader CHAOS_CHANGES=upgrade-3.7,none
make chaos CHAOS_PAGE=1          # writes this page from all results in dist/chaos/results
\`\`\`

At one commit a seed gives the same faults, changes and times; what a cluster makes of them depends on the machine. A round that fails leaves a folder with
a timeline, the recording, porcupine's page, the logs of operator and members and the API server's audit log.

${table(
  ["Began", "Seed", "Rounds", "Commit", "Kubernetes", "etcd"],
  runs.map(({ began, seed, rounds, commit, kubernetes }) => [
    began,
    String(seed),
    String(rounds.length),
    commit,
    kubernetes,
    etcdVersions.filter((version) => rounds.some(({ round }) => round.version === version)).join(", "),
  ]),
)}
`;
}
