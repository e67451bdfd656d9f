// Everything that is found wrong with a cluster, the worst first.
import type { TextLayout } from "../view/cluster-text.ts";
import { type ClusterView, viewOf } from "../view/cluster-view.ts";
import type { Observed } from "../observe/observe.ts";
import { item } from "../screen/wrap.ts";
import { examinations } from "./examinations.ts";
import type { Finding, Severity } from "./finding.ts";

interface Diagnosis {
  readonly name: string;
  readonly namespace: string;
  readonly findings: readonly Finding[];
  readonly notes: ClusterView["notes"];
}

const severities: readonly Severity[] = ["serious", "warning", "note"];

export function diagnosisOf(observed: Observed): Diagnosis {
  const view = viewOf(observed);
  const findings = examinations.flatMap((examine) => examine(view, observed));
  return {
    name: view.name,
    namespace: view.namespace,
    findings: severities.flatMap((severity) => findings.filter((one) => one.severity === severity)),
    notes: view.notes,
  };
}

export const isSerious = ({ findings }: Diagnosis): boolean => findings.some(({ severity }) => severity === "serious");

/** Commands that work from another namespace, too. A plugin takes flags only after its name. */
export function withNamespace(diagnosis: Diagnosis): Diagnosis {
  const { namespace, findings } = diagnosis;
  const there = (command: string): string =>
    command.replaceAll(/kubectl (etcd )?(?!-n)/g, (_, plugin: string = "") => `kubectl ${plugin}-n ${namespace} `);
  return { ...diagnosis, findings: findings.map((one) => ({ ...one, command: there(one.command) })) };
}

const marks = { serious: ["bad", "SERIOUS"], warning: ["warning", "WARNING"], note: ["dim", "NOTE"] } as const;

export function diagnosisText({ name, namespace, findings, notes }: Diagnosis, { columns, paint }: TextLayout): string {
  const head = `${paint("strong", name)} in ${namespace}`;
  const said = findings.flatMap(({ severity, what, command }) => {
    const [hue, mark] = marks[severity];
    const lines = item(what, columns, `${mark.padEnd(8)} `);
    const first = lines[0] ?? "";
    return [
      `${paint(hue, first.slice(0, mark.length))}${first.slice(mark.length)}`,
      ...lines.slice(1),
      `         ${paint("strong", command)}`,
    ];
  });
  const well =
    findings.length === 0
      ? [paint("good", `Nothing is wrong${notes.length === 0 ? "" : " in what could be read"}.`)]
      : said;
  const unseen = notes.length === 0 ? [] : ["Not checked:", ...notes.flatMap((one) => item(one, columns))];
  return [head, ...well, ...unseen].join("\n");
}
