// Every alert fires under its fault and clears after it, judged by Prometheus' own engine.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { stringify } from "yaml";
import { ensurePrometheus } from "../../lab/build/prometheus.ts";
import { alerts } from "../../observability/alerts/alerts.ts";
import { type Case, cases } from "./cases.ts";
import { samplesOf } from "./series.ts";

const rules = path.resolve(import.meta.dirname, "../../observability/rules.yaml");
const promtool = path.join(await ensurePrometheus(), "promtool");
const folder = mkdtempSync(path.join(tmpdir(), "alerts-"));
after(() => rm(folder, { recursive: true, force: true }));

const run = promisify(execFile);

/** Its output when it finds something. */
const complaints = (...args: string[]): Promise<string> =>
  run(promtool, args, { timeout: 20_000 }).then(
    () => "",
    (error: unknown) => `${(error as { stdout: string }).stdout}\n${(error as { stderr: string }).stderr}`,
  );

function testFile({ alert, series, fires, silent, labels = {} }: Case): object {
  const severity = alerts.find(({ name }) => name === alert)?.severity ?? "";
  const all = Object.entries({ alertname: alert, alertstate: "firing", severity, ...labels });
  const firing = `ALERTS{${all.map(([label, value]) => `${label}="${value}"`).join(",")}}`;
  const at = (minute: number, samples: object[]): object => ({
    expr: `ALERTS{alertname="${alert}",alertstate="firing"}`,
    eval_time: `${minute}m`,
    exp_samples: samples,
  });
  return {
    rule_files: [rules],
    evaluation_interval: "1m",
    tests: [
      {
        interval: "1m",
        input_series: Object.entries(series).map(([name, stretches]) => ({
          series: name,
          values: samplesOf(stretches),
        })),
        promql_expr_test: [
          ...fires.map((minute) => at(minute, [{ labels: firing, value: 1 }])),
          ...silent.map((minute) => at(minute, [])),
        ],
      },
    ],
  };
}

test("the rules are ones that Prometheus takes", async () => {
  assert.equal(await complaints("check", "rules", rules), "");
});

test("every alert has a case in which it fires and clears", () => {
  const shown = new Set(cases.filter(({ fires, silent }) => fires.length > 0 && silent.length > 0).map((c) => c.alert));
  assert.deepEqual([...shown].sort(), alerts.map(({ name }) => name).sort());
});

test("a case that does not hold is noticed", async () => {
  const [first] = cases;
  assert.ok(first);
  const file = path.join(folder, "wrong.yaml");
  writeFileSync(file, stringify(testFile({ ...first, fires: first.silent, silent: first.fires })));
  assert.match(await complaints("test", "rules", file), /FAILED/);
});

for (const [index, one] of cases.entries())
  test(`${one.alert} ${one.what}`, async () => {
    const file = path.join(folder, `${index}.yaml`);
    writeFileSync(file, stringify(testFile(one)));
    assert.equal(await complaints("test", "rules", file), "");
  });
