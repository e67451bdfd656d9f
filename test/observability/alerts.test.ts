// Every alert fires under its fault and clears after it, judged by Prometheus' own engine. All cases are judged by one process:
// to start it takes longer than to judge.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { stringify } from "yaml";
import { ensurePrometheus } from "../../lab/build/prometheus.ts";
import { alerts } from "../../observability/alerts/alerts.ts";
import { ruleOf } from "../../observability/rules.ts";
import type { Case } from "./case.ts";
import { cases } from "./cases.ts";
import { samplesOf } from "./series.ts";

const rules = path.resolve(import.meta.dirname, "../../observability/rules.yaml");
const promtool = path.join(await ensurePrometheus(), "promtool");
const run = promisify(execFile);

/** What it says, whether it finds something or not. */
const saysOf = (...args: string[]): Promise<string> =>
  run(promtool, args, { timeout: 300_000 }).then(
    ({ stdout, stderr }) => `${stdout}\n${stderr}`,
    (error: unknown) => `${(error as { stdout: string }).stdout}\n${(error as { stderr: string }).stderr}`,
  );

/** The rule alone: what the others make of these series is not asked. */
function write(folder: string, name: string, { alert, series, fires, silent, labels = {} }: Case): string {
  const tested = alerts.find((one) => one.name === alert);
  assert.ok(tested, alert);
  const ruleFile = path.join(folder, `${alert}.rules.yaml`);
  writeFileSync(ruleFile, stringify({ groups: [{ name: "tested", rules: [ruleOf(tested)] }] }));
  const all = Object.entries({ alertname: alert, alertstate: "firing", severity: tested.severity, ...labels });
  const firing = `ALERTS{${all.map(([label, value]) => `${label}="${value}"`).join(",")}}`;
  const at = (minute: number, samples: object[]): object => ({
    expr: 'ALERTS{alertstate="firing"}',
    eval_time: `${minute}m`,
    exp_samples: samples,
  });
  const input_series = Object.entries(series).map(([of, stretches]) => ({ series: of, values: samplesOf(stretches) }));
  const promql_expr_test = [
    ...fires.map((minute) => at(minute, [{ labels: firing, value: 1 }])),
    ...silent.map((minute) => at(minute, [])),
  ];
  const tests = [{ interval: "1m", input_series, promql_expr_test }];
  const file = path.join(folder, `${name}.yaml`);
  writeFileSync(file, stringify({ rule_files: [ruleFile], evaluation_interval: "1m", tests }));
  return file;
}

/** What it says of each case. */
async function judged(tried: readonly Case[]): Promise<string[]> {
  const folder = await mkdtemp(path.join(tmpdir(), "alerts-"));
  try {
    const files = tried.map((one, index) => write(folder, String(index), one));
    const said = (await saysOf("test", "rules", ...files)).split("Unit Testing:").slice(1);
    return files.map((file) => said.find((part) => part.includes(file)) ?? "nothing");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The opposite of what is the case. */
const wrong = cases.slice(0, 1).map((one) => ({ ...one, fires: one.silent, silent: one.fires }));
const verdicts = await judged([...cases, ...wrong]);

test("the rules are ones that Prometheus takes", async () => {
  assert.match(await saysOf("check", "rules", rules), new RegExp(`SUCCESS: ${alerts.length} rules found`));
});

test("every alert has a case in which it fires and clears", () => {
  const shown = new Set(cases.filter(({ fires, silent }) => fires.length > 0 && silent.length > 0).map((c) => c.alert));
  assert.deepEqual([...shown].sort(), alerts.map(({ name }) => name).sort());
});

test("a case that does not hold is noticed", () => {
  assert.match(verdicts.at(-1) ?? "", /FAILED/);
});

for (const [index, { alert, what }] of cases.entries())
  test(`${alert} ${what}`, () => assert.match(verdicts[index] ?? "", /^[^\n]*\n\s*SUCCESS\s*$/));
