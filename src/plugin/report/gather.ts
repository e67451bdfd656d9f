// All that a report of a fault needs, as files: objects without secrets, what the members print and count, the operator.
// What may not be read is a file that says so.
import { stringify } from "yaml";
import type { KubeApi, Selection } from "../../kube/client/api.ts";
import { Deployment, Lease, Pod, PodDisruptionBudget, Secret, Service } from "../../kube/objects/kinds.ts";
import { type Kind, type KubeObject, keyOf } from "../../kube/objects/objects.ts";
import type { Call } from "../command.ts";
import type { Target } from "../one-cluster.ts";
import type { Reach } from "../place/reach.ts";
import { plain } from "../screen/colour.ts";
import { all, type Found, found, memberSelector, metricsPortOf, valueOr } from "../observe/observe.ts";
import { version } from "../../version.ts";
import { diagnosisOf, diagnosisText } from "../doctor/doctor.ts";
import { clusterText } from "../view/cluster-text.ts";
import { givenValues, redacted, without } from "./redact.ts";
import type { TextFile } from "./tar.ts";

const layout = { columns: 200, paint: plain };
const operatorSelector = "name=etcd-operator";

export async function gather(
  call: Call,
  target: Target,
  operatorNamespace: string,
  logLines: number,
): Promise<TextFile[]> {
  const { observed, view, key, reach } = target;
  const own: Selection = { namespace: key.namespace, labelSelector: memberSelector(key.name) };
  const operator: Selection = { namespace: operatorNamespace, labelSelector: operatorSelector };
  const list = <T extends KubeObject>(path: string, kind: Kind<T>, selection: Selection): Promise<TextFile> =>
    listFile(path, reach.api, kind, selection);
  const files = await Promise.all([
    list("services.yaml", Service, own),
    list("budgets.yaml", PodDisruptionBudget, own),
    list("secrets.yaml", Secret, own),
    list("operator/deployment.yaml", Deployment, operator),
    list("operator/pods.yaml", Pod, operator),
    leaseFile(reach.api, operatorNamespace),
  ]);
  const operators = valueOr(await found(() => all(reach.api, Pod, operator)), []);
  const values = givenValues(observed.cluster);
  const gathered: TextFile[] = [
    { path: "about.yaml", text: stringify(about(call, target)) },
    { path: "status.txt", text: `${clusterText(view, layout)}\n` },
    { path: "doctor.txt", text: `${diagnosisText(diagnosisOf(observed), layout)}\n` },
    objectFile("cluster.yaml", { t: "found", value: observed.cluster }),
    objectFile("pods.yaml", observed.pods),
    objectFile("nodes.yaml", observed.nodes),
    objectFile("claims.yaml", observed.claims),
    objectFile("events.yaml", observed.events),
    objectFile("backups.yaml", observed.backups),
    objectFile("restores.yaml", observed.restores),
    ...files,
    ...(await memberFiles(reach, valueOr(observed.pods, []), logLines)),
    ...(await logFiles(reach, operators, "operator", logLines)),
  ];
  return gathered.map(({ path, text }) => ({ path, text: without(text, values) }));
}

/** A namespace may have many of others: who leads what is nobody else's business. */
async function leaseFile(api: KubeApi, namespace: string): Promise<TextFile> {
  const leases = await found(() => all(api, Lease, { namespace }));
  const isOperators = ({ metadata }: Lease): boolean =>
    /^etcd-(backup-|restore-)?operator\b/.test(metadata?.name ?? "");
  const own = leases.t === "found" ? { ...leases, value: leases.value.filter(isOperators) } : leases;
  return objectFile("operator/leases.yaml", own);
}

const about = ({ now }: Call, { key }: Target) => ({
  plugin: version,
  node: process.versions.node,
  platform: `${process.platform} ${process.arch}`,
  taken: new Date(now()).toISOString(),
  cluster: key,
  removed: "values of Secrets, of ConfigMaps and of environment variables",
});

async function listFile<T extends KubeObject>(
  path: string,
  api: KubeApi,
  kind: Kind<T>,
  selection: Selection,
): Promise<TextFile> {
  return objectFile(path, await found(() => all(api, kind, selection)));
}

function objectFile(path: string, what: Found<unknown>): TextFile {
  return { path, text: what.t === "found" ? stringify(redacted(what.value), { lineWidth: 0 }) : `# ${what.why}\n` };
}

async function memberFiles(reach: Reach, pods: readonly Pod[], lines: number): Promise<TextFile[]> {
  const metrics = await Promise.all(
    pods.map(async (pod) => {
      const { name } = keyOf(pod);
      return textFile(`members/${name}.metrics`, await found(() => reach.metrics(keyOf(pod), metricsPortOf(pod))));
    }),
  );
  return [...metrics, ...(await logFiles(reach, pods, "members", lines))];
}

async function logFiles(reach: Reach, pods: readonly Pod[], folder: string, lines: number): Promise<TextFile[]> {
  const files = await Promise.all(
    pods.map(async (pod) => {
      const key = keyOf(pod);
      const containers = pod.spec?.containers.map(({ name }) => name) ?? [];
      const restarted = new Set(
        (pod.status?.containerStatuses ?? []).filter(({ restartCount }) => restartCount > 0).map(({ name }) => name),
      );
      return Promise.all(
        containers.flatMap((container) => [
          found(() => reach.logEnd(key, { container, lines })).then((log) =>
            textFile(`${folder}/${key.name}.log`, log),
          ),
          ...(restarted.has(container)
            ? [
                found(() => reach.logEnd(key, { container, lines, previous: true })).then((log) =>
                  textFile(`${folder}/${key.name}.previous.log`, log),
                ),
              ]
            : []),
        ]),
      );
    }),
  );
  return files.flat();
}

const textFile = (path: string, what: Found<string>): TextFile => ({
  path,
  text: what.t === "found" ? what.value : `# ${what.why}\n`,
});
