// The tables of this folder agree with each other, with the operator's metrics, and with the files that are made from them.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import * as path from "node:path";
import { describe, test } from "node:test";
import { conditionTypes, readyReasonsThatMean } from "../src/api/conditions.ts";
import type { ConditionType, Reasons } from "../src/api/conditions/reason.ts";
import { alerts } from "./alerts/alerts.ts";
import { cluster } from "./dashboards/cluster.ts";
import { fleet } from "./dashboards/fleet.ts";
import { grafanaJson } from "./dashboards/grafana.ts";
import { etcdMetrics } from "./etcd-metrics.ts";
import { generatedFiles } from "./files.ts";
import { operatorMetrics } from "./operator-metrics.ts";
import { inPlaceholders } from "./pages.ts";
import { runbookPath } from "./rules.ts";
import { familyOf, metricNames } from "./testing/metric-names.ts";
import { queriesOf } from "./testing/queries.ts";

const root = path.resolve(import.meta.dirname, "..");
const ours = new Set(operatorMetrics().map(({ name }) => name));
const exists = (name: string): boolean =>
  name === "ALERTS" || familyOf(name).some((family) => ours.has(family) || etcdMetrics[family] !== undefined);

const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, "")
    .replaceAll(" ", "-");

describe("files made from tables", () => {
  for (const file of generatedFiles())
    test(`${file.path} is up to date (else run: node observability/generate.ts)`, () => {
      const current = readFileSync(path.join(root, file.path), "utf8");
      assert.equal(current, file.render(current));
    });

  for (const page of ["docs/observability.md", ...alerts.map(runbookPath)])
    test(`links in ${page} lead somewhere`, () => {
      const text = readFileSync(path.join(root, page), "utf8");
      for (const [, file = "", anchor] of text.matchAll(/\]\(([^)#\s]+)(?:#([^)]+))?\)/g)) {
        const target = path.join(root, path.dirname(page), file);
        assert.ok(existsSync(target), `${file} does not exist`);
        if (anchor === undefined) continue;
        const headings = [...readFileSync(target, "utf8").matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) =>
          anchorOf(title),
        );
        assert.ok(headings.includes(anchor), `${file} has no heading #${anchor}`);
      }
    });

  test("there is no runbook without an alert", () => {
    const pages = readdirSync(path.join(root, "docs/runbooks")).sort();
    assert.deepEqual(pages, alerts.map(({ name }) => `${name}.md`).sort());
  });
});

describe("metrics", () => {
  test("are found in an expression, and labels, functions and texts are not taken for them", () => {
    const expr =
      'sum by (namespace, le) (rate(a_total{b="c_total",d!=""}[5m])) / on (namespace) group_left (x) (max_over_time(e[1h]) offset 5m) > 1e3 unless f:g == bool 0';
    assert.deepEqual(metricNames(expr), ["a_total", "e", "f:g"]);
  });

  test("a name that nobody has is noticed", () => {
    assert.ok(!exists("etcd_operator_cluster_members_wished"));
    assert.ok(exists("etcd_disk_wal_fsync_duration_seconds_bucket"));
  });

  test("of etcd that the table has are all used", () => {
    const used = [...alerts, ...[fleet, cluster].flatMap(queriesOf)].flatMap(({ expr }) => metricNames(expr));
    const families = new Set(used.flatMap(familyOf));
    assert.deepEqual(
      Object.keys(etcdMetrics).filter((name) => !families.has(name)),
      [],
    );
  });

  for (const { name, expr } of alerts)
    test(`of the alert ${name} exist`, () => {
      const names = metricNames(expr);
      assert.ok(names.length > 0);
      assert.deepEqual(
        names.filter((one) => !exists(one)),
        [],
      );
    });
});

describe("dashboards", () => {
  for (const dashboard of [fleet, cluster]) {
    const { title, rows, variables } = dashboard;
    const exprs = queriesOf(dashboard).map(({ expr }) => expr);

    test(`"${title}" names metrics that exist, and each query once`, () => {
      const named = [...exprs, ...variables.map(({ metric }) => metric)].flatMap(metricNames);
      assert.deepEqual(
        named.filter((name) => !exists(name)),
        [],
      );
      assert.equal(new Set(exprs).size, exprs.length);
    });

    test(`"${title}" says of each panel what is good, and has titles of its own`, () => {
      const panels = rows.flatMap((row) => row.panels);
      assert.equal(new Set(panels.map((panel) => panel.title)).size, panels.length);
      for (const { title: named, description } of panels) assert.match(description, /\.$/, named);
    });

    test(`"${title}" has no panels on top of each other`, () => {
      const { panels } = grafanaJson(dashboard) as {
        panels: { id: number; gridPos: { x: number; y: number; w: number; h: number } }[];
      };
      assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
      const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) => {
        assert.ok(x + w <= 24);
        return Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`);
      });
      assert.equal(new Set(cells).size, cells.length);
    });
  }
});

describe("alerts", () => {
  test("have names of their own, and summaries without a template in the docs", () => {
    assert.equal(new Set(alerts.map(({ name }) => name)).size, alerts.length);
    for (const { summary, description } of alerts)
      assert.doesNotMatch(inPlaceholders(`${summary} ${description}`), /\{\{/);
  });

  test("name reasons of conditions that the operator gives", () => {
    const named = alerts.flatMap(({ expr }) =>
      [...expr.matchAll(/reason=~"([^"]*)"/g)].flatMap(([, list = ""]) => list.split("|")),
    );
    assert.ok(named.length > 0);
    assert.deepEqual(
      named.filter((reason) => !Object.hasOwn(conditionTypes.EtcdCluster.Ready.reasons.False, reason)),
      [],
    );
  });

  test("tell of every reason that needs a person", () => {
    const expressions = alerts.map(({ expr }) => expr).join("\n");
    const withoutAlert = readyReasonsThatMean("stalled", "degraded").filter((reason) => !expressions.includes(reason));
    // Two of them are alarms, which the members are asked for.
    assert.deepEqual(withoutAlert, ["Corrupt", "NoSpace"]);
  });

  test("that reasons of conditions name exist, and every reason that needs a person names one", () => {
    const types: readonly ConditionType[] = Object.values(conditionTypes).flatMap((one) => Object.values(one));
    const rows: readonly Reasons[] = types.flatMap(({ reasons }) =>
      "as" in reasons ? [] : [reasons.True, reasons.False],
    );
    const named = rows.flatMap((some) => Object.values(some)).flatMap(({ runbook }) => runbook ?? []);
    const names = new Set(alerts.map(({ name }) => name));
    assert.deepEqual(
      named.filter((name) => !names.has(name)),
      [],
    );
    const unready: Reasons = conditionTypes.EtcdCluster.Ready.reasons.False;
    const withoutAlert = readyReasonsThatMean("stalled", "degraded").filter(
      (one) => unready[one]?.runbook === undefined,
    );
    assert.deepEqual(withoutAlert, []);
  });

  test("that need somebody at once have a mitigation with a command or a page", () => {
    for (const { name, severity, runbook } of alerts)
      if (severity === "critical")
        assert.ok(
          runbook.mitigation.some(({ say, run }) => run !== undefined || say.includes("](")),
          name,
        );
  });
});
