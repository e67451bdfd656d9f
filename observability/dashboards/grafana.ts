// Dashboards as the JSON that Grafana imports. The data source is a variable, so that one file fits every Grafana.
import type { Dashboard, Panel, Query, Row, Unit, Variable } from "./panel.ts";

const datasource = { type: "prometheus", uid: "${datasource}" };
const height = { lines: 8, number: 4, table: 9 } as const;
const columns = 24;

export function grafanaJson(dashboard: Dashboard): object {
  return {
    uid: dashboard.uid,
    title: dashboard.title,
    description: dashboard.description,
    tags: ["etcd", "etcd-operator"],
    schemaVersion: 38,
    editable: true,
    graphTooltip: 1,
    refresh: "30s",
    time: { from: "now-3h", to: "now" },
    timezone: "browser",
    templating: { list: [dataSourceVariable, ...dashboard.variables.map(variable)] },
    annotations: { list: [] },
    links: [
      {
        title: "etcd",
        type: "dashboards",
        tags: ["etcd-operator"],
        asDropdown: true,
        includeVars: true,
        keepTime: true,
      },
    ],
    panels: laidOut(dashboard.rows),
  };
}

const dataSourceVariable = { name: "datasource", label: "Data source", type: "datasource", query: "prometheus" };

function variable({ name, label, metric, of }: Variable): object {
  const query = `label_values(${metric}, ${of})`;
  return { name, label, type: "query", datasource, query, definition: query, refresh: 2, sort: 1 };
}

interface Place {
  readonly panels: readonly object[];
  readonly y: number;
}

/** From left to right, and below when there is no more room. */
function laidOut(rows: readonly Row[]): readonly object[] {
  let next = 1;
  const place = ({ panels, y }: Place, row: Row): Place => {
    const heading = { id: next, type: "row", title: row.title, gridPos: { x: 0, y, w: columns, h: 1 }, panels: [] };
    next += 1;
    let [x, top, tallest] = [0, y + 1, 0];
    const placed = row.panels.map((panel) => {
      const h = height[panel.show];
      if (x + panel.width > columns) [x, top, tallest] = [0, top + tallest, 0];
      const gridPos = { x, y: top, w: panel.width, h };
      x += panel.width;
      tallest = Math.max(tallest, h);
      next += 1;
      return { id: next - 1, gridPos, ...panelJson(panel) };
    });
    return { panels: [...panels, heading, ...placed], y: top + tallest };
  };
  return rows.reduce<Place>(place, { panels: [], y: 0 }).panels;
}

function panelJson(panel: Panel): object {
  const { title, description, queries, show } = panel;
  const common = { title, description, datasource, targets: queries.map((query, at) => target(query, at, show)) };
  if (show === "number")
    return {
      ...common,
      type: "stat",
      fieldConfig: fields(panel),
      options: { reduceOptions: { calcs: ["lastNotNull"] }, colorMode: "value", textMode: "auto" },
    };
  if (show === "table")
    return {
      ...common,
      type: "table",
      fieldConfig: { ...fields(panel), overrides: queries.map(({ legend }, at) => named(letterOf(at), legend)) },
      transformations: [
        { id: "merge", options: {} },
        { id: "organize", options: { excludeByName: { Time: true } } },
      ],
    };
  return {
    ...common,
    type: "timeseries",
    fieldConfig: fields(panel),
    options: { legend: { displayMode: "list", placement: "bottom" }, tooltip: { mode: "multi", sort: "desc" } },
  };
}

const letterOf = (at: number): string => String.fromCharCode("A".charCodeAt(0) + at);

function target({ expr, legend }: Query, at: number, show: Panel["show"]): object {
  const once = show === "lines" ? { range: true } : { instant: true, ...(show === "table" && { format: "table" }) };
  return { refId: letterOf(at), datasource, expr, legendFormat: legend, ...once };
}

function fields({ unit, limits }: { unit: Unit; limits?: Panel["limits"] }): {
  defaults: object;
  overrides: readonly object[];
} {
  const steps = [
    { color: limits === undefined ? "text" : "green", value: null },
    ...(limits === undefined
      ? []
      : [
          { color: "yellow", value: limits.yellow },
          { color: "red", value: limits.red },
        ]),
  ];
  return { defaults: { unit, thresholds: { mode: "absolute", steps } }, overrides: [] };
}

/** A column of a table has the name of its query, and not `Value #A`. */
const named = (letter: string, legend: string): object => ({
  matcher: { id: "byName", options: `Value #${letter}` },
  properties: [{ id: "displayName", value: legend }],
});
