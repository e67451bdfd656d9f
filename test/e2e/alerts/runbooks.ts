// Every command of every runbook, typed once on a cluster that serves; those of etcdctl also on one with TLS.
import assert from "node:assert/strict";
import { untyped } from "../../../docs/typed.ts";
import { killContainer } from "../../../lab/faults/containers.ts";
import { waitFor } from "../../../lab/progress.ts";
import { alerts } from "../../../observability/alerts/alerts.ts";
import { EtcdBackup } from "../../../src/api/etcd-backup/etcd-backup.ts";
import { EtcdRestore } from "../../../src/api/etcd-restore/etcd-restore.ts";
import { backUp, namespaced, restore, untilBackup } from "../../e2e-backup/support/objects.ts";
import { apply, kubectl } from "../../support/kubectl.ts";
import { filledIn, type Names, typeLines } from "../../support/typist.ts";
import type { TestCluster } from "../support/cluster.ts";
import { kube, lab, patience, patiently } from "../support/environment.ts";
import { followers, type HealthyMember } from "../support/healthy.ts";
import type { Stage } from "./stage.ts";

const runbooksPage = "docs/runbooks/";

type Ground = Omit<Stage, "proof"> & {
  /** The folder of the plugin. */
  readonly plugin: string;
};

/** What a step has to run, line by line. */
type Lines = readonly string[];

const cannotBeTyped = new Set(untyped.flatMap(({ page, begins }) => (page === runbooksPage ? (begins ?? []) : [])));

/** Each once, in the order of the alerts. */
const runbookSteps: readonly Lines[] = [
  ...new Map(
    alerts
      .flatMap(({ runbook }) => [...runbook.diagnosis, ...runbook.mitigation])
      .flatMap(({ run = [] }) => (run.length === 0 ? [] : [[run.join("\n"), run] as const])),
  ).values(),
].filter(([first = ""]) => !cannotBeTyped.has(first));

/** What ends a pod that the others name: last. */
const isLate = (lines: Lines): boolean => lines.some((line) => /^kubectl (delete|rollout) /.test(line));

/** Nobody has connected yet; files are written. */
const neverSpeaks = /^(kubectl port-forward|umask) /;

/** The answer of a cluster that is well may be nothing. All others have something to say. */
const silent: readonly RegExp[] = [
  / alarm (list|disarm)$/,
  / --types=Warning$/,
  /\{\.spec\.(paused|verify\.restore)\}/, // not set
  /\{\.status\.lastVerified\}/,
  /"(Available|CertificatesValid)"\)\]\.message/,
];
const mayBeSilent = (line: string): boolean => mayFindNothing.has(line) || silent.some((one) => one.test(line));

/** grep exits with 1 when it finds nothing. */
const mayFindNothing = new Set([
  `kubectl logs -n OPERATOR_NAMESPACE deployment/etcd-operator --since=15m | grep '"level":"error"'`,
]);

export class RunbookTypist {
  readonly #ground: () => Ground;
  /** By the cluster. A line is typed once on each. */
  readonly #typed = new Set<string>();

  constructor(ground: () => Ground) {
    this.#ground = ground;
  }

  /** While a majority of `plain` is stopped, and this one is left: what the runbooks say has to work then, too. */
  async withoutQuorum(pod: string): Promise<void> {
    const names = { ...(await clusterNames(this.#ground().plain)), POD: pod };
    const steps = ['"Available")].message', "kubectl etcd members ", " snapshot save "].map(
      (words) =>
        runbookSteps.find((lines) => lines.some((line) => line.includes(words))) ??
        assert.fail(`no runbook says ${words}`),
    );
    // At the same time: the plugin waits for members that are stopped.
    const apart = steps.flatMap((lines) => (needsOneShell(lines) ? [lines] : lines.map((line) => [line])));
    await Promise.all(apart.map((lines) => this.#type(lines, names, "has an answer")));
  }

  async everything(): Promise<void> {
    const ground = this.#ground();
    const inOrder = runbookSteps.toSorted((a, b) => Number(isLate(a)) - Number(isLate(b)));
    const typeOn = async (place: Place, names: Names): Promise<void> => {
      for (const lines of inOrder) if (placesOf(lines).includes(place)) await this.#type(lines, names);
    };
    const onPlain = await namesOfPlain(ground);
    const onSealed = await namesOf(ground, ground.sealed);
    await Promise.all([typeOn("plain", onPlain), typeOn("sealed", onSealed)]);
    await ground.plain.untilHealthy({ without: [onPlain["POD"] ?? ""] });
    await kubectl("rollout", "status", `--namespace=${ground.operator.namespace}`, "deployment/etcd-operator");
    await kube.delete(EtcdBackup, refusedIn(ground));
    await kube.delete(EtcdRestore, refusedIn(ground));
  }

  async #type(step: Lines, names: Names, answer: "has an answer" | "may have none" = "may have none"): Promise<void> {
    const key = (line: string): string => `${names["CLUSTER"]} ${line}`;
    const fresh = step.filter((line) => !this.#typed.has(key(line)));
    if (fresh.length === 0) return;
    const lines = needsOneShell(step) ? step : fresh;
    const typed = lines.map((line) => filledIn(line, names) + (mayFindNothing.has(line) ? " || (($? == 1))" : ""));
    const printed = await typeLines(typed, { PATH: `${this.#ground().plugin}:${process.env["PATH"] ?? ""}` });
    for (const [at, line] of lines.entries()) {
      this.#typed.add(key(line));
      if (neverSpeaks.test(line) || (answer === "may have none" && mayBeSilent(line))) continue;
      assert.notEqual(printed[at]?.trim(), "", `it says nothing: ${typed[at]}`);
    }
  }
}

/** Lines that go on with what others have left in the shell. */
const needsOneShell = (lines: Lines): boolean => lines.some((line) => line.endsWith("&"));

type Place = "plain" | "sealed";

function placesOf(lines: Lines): readonly Place[] {
  const text = lines.join("\n");
  if (/certificates|CertificatesValid|SECRET/.test(text)) return ["sealed"];
  return text.includes("kubectl etcd ctl ") ? ["plain", "sealed"] : ["plain"];
}

/** The name of an EtcdBackup that fails and keeps its worker, and of an EtcdRestore. */
const refusedIn = ({ namespace }: Pick<Ground, "namespace">) => ({ namespace, name: "refused" });

/** Makes what the steps are about: a member that has restarted, a backup that failed, a restore. */
async function namesOfPlain(ground: Ground): Promise<Names> {
  const { namespace, plain, sealed } = ground;
  const key = refusedIn(ground);
  const clientTLSSecret = "empty";
  await apply({ apiVersion: "v1", kind: "Secret", metadata: { namespace, name: clientTLSSecret } });
  const pvc = { claimName: "backups", path: "refused" };
  const etcdEndpoints = [`https://${plain.name}-client:2379`];
  await backUp(key, { etcdEndpoints, clientTLSSecret, storageType: "PVC", pvc }, namespaced);
  await restore(key, { etcdCluster: { name: sealed.name }, backupStorageType: "PVC", pvc }, namespaced);
  const [victim] = followers(await plain.untilHealthy());
  assert.ok(victim);
  await killContainer(lab, `${namespace}/${victim.name}`);
  await untilBackup(key, "to have failed", ({ status }) => status?.phase === "Failed");
  await untilRestarted(plain, victim);
  return { ...(await namesOf(ground, plain)), POD: victim.name, NODE: victim.node, NAME: key.name };
}

async function untilRestarted(cluster: TestCluster, { name, restarts }: HealthyMember): Promise<void> {
  const count = async (): Promise<number> =>
    (await cluster.pod(name))?.status?.containerStatuses?.[0]?.restartCount ?? restarts;
  await waitFor(`${name} to restart`, async () => (await count()) > restarts || undefined, { timeoutMs: patience });
  await cluster.untilHealthy();
}

async function namesOf({ operator }: Ground, cluster: TestCluster): Promise<Names> {
  const { leader } = await cluster.untilHealthy();
  const { revision } = await leader.etcd.put("typed", "now", patiently);
  return {
    ...(await clusterNames(cluster)),
    OPERATOR_NAMESPACE: operator.namespace,
    POD: leader.name,
    REVISION: String(revision),
  };
}

async function clusterNames(cluster: TestCluster): Promise<Names> {
  const { status } = await cluster.get();
  const SECRET = status?.clientSecret;
  return { NAMESPACE: cluster.namespace, CLUSTER: cluster.name, ...(SECRET && { SECRET }) };
}
