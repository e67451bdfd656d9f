// Plays a scenario under a sequence of operators, and records after each step what the cluster looks like and what was
// written on the way.
import { waitFor } from "../../../lab/progress.ts";
import { EtcdCluster } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { claimLabel, clusterIdAnnotation, clusterUidAnnotation } from "../../../src/cluster/objects/claims.ts";
import { settingsAnnotation } from "../../../src/cluster/objects/member-pod.ts";
import { decoded } from "../../../src/cluster/objects/secrets.ts";
import { PersistentVolumeClaim, PodDisruptionBudget, Secret, Service } from "../../../src/kube/objects/kinds.ts";
import type { Key } from "../../../src/kube/objects/objects.ts";
import { certificatesIn } from "../../../src/tls/pem.ts";
import type { TestCluster } from "../../e2e/support/cluster.ts";
import { kube, patience, restrictedNamespace } from "../../e2e/support/environment.ts";
import { CrashingOperators } from "../support/crashing-operators.ts";

/** The state after a step, and the writes that led to it. */
export interface StepResult {
  readonly step: string;
  readonly state: object;
  readonly writes: object;
}

export interface ScenarioResult {
  readonly steps: readonly StepResult[];
  readonly crashes: number;
}

/** One cluster under a sequence of operators. */
export interface Setup {
  readonly key: Key;
  readonly operators: CrashingOperators;
  /** Call it after each step, when the cluster is healthy. */
  readonly record: (step: string, cluster: TestCluster) => Promise<void>;
}

export type Scenario = (setup: Setup) => Promise<void>;

export async function run(scenario: Scenario, name: string, changesEach: number): Promise<ScenarioResult> {
  const namespace = await restrictedNamespace(name);
  const operators = new CrashingOperators(namespace, changesEach);
  const steps: StepResult[] = [];
  let counted = 0;
  const record = async (step: string, cluster: TestCluster): Promise<void> => {
    const changes = operators.changes.slice(counted);
    counted += changes.length;
    steps.push({ step, state: await readyStateOf(cluster), writes: countedBy(changes) });
  };
  try {
    await scenario({ key: { namespace, name }, operators, record });
  } finally {
    await operators.stop();
  }
  // Frees the machine for the scenarios that still run.
  await kube.delete(EtcdCluster, { namespace, name });
  return { steps, crashes: operators.crashes };
}

/** A member that keeps its operator waiting on a busy machine is not Ready for a moment: that is not what is compared. */
function readyStateOf(cluster: TestCluster): Promise<object> {
  let seen: Awaited<ReturnType<typeof stateOf>> | undefined;
  return waitFor(
    `${cluster.name} to be Ready when it is read`,
    async () => {
      seen = await stateOf(cluster);
      const isReady = seen.conditions?.some(({ type, status }) => type === "Ready" && status === "True");
      return isReady === true ? seen : undefined;
    },
    { timeoutMs: patience, lastSeen: () => JSON.stringify(seen?.conditions) },
  );
}

/** Everything except names, times and counters. */
async function stateOf(cluster: TestCluster) {
  const { namespace } = cluster;
  const [{ status, spec, metadata: { uid } = {} }, pods, services, budgets, claims, secrets] = await Promise.all([
    cluster.get(),
    cluster.pods(),
    kube.list(Service, { namespace }),
    kube.list(PodDisruptionBudget, { namespace }),
    kube.list(PersistentVolumeClaim, { namespace }),
    kube.list(Secret, { namespace }),
  ]);
  return {
    spec,
    pods: pods.map(({ metadata, spec }) => ({
      image: spec?.containers[0]?.image,
      settings: metadata?.annotations?.[settingsAnnotation],
    })),
    versions: status?.versions,
    targetVersion: status?.targetVersion,
    phase: status?.phase,
    size: status?.size,
    ready: status?.ready,
    conditions: status?.conditions?.map(({ type, status, reason }) => ({ type, status, reason })),
    services: services.items.map(({ spec }) => ({
      ports: spec?.ports?.map(({ port }) => port),
      clusterIP: spec?.clusterIP === "None",
    })),
    budgets: budgets.items.map(({ spec }) => spec?.minAvailable),
    claims: claims.items.map(({ metadata, spec }) => ({
      asked: spec?.resources?.requests,
      role: metadata?.labels?.[claimLabel],
      isOurs: metadata?.annotations?.[clusterUidAnnotation] === uid,
      isOfThisEtcd: metadata?.annotations?.[clusterIdAnnotation] === status?.clusterId,
      settings: metadata?.annotations?.[settingsAnnotation],
      owners: metadata?.ownerReferences?.length ?? 0,
    })),
    secrets: secrets.items.map((secret) => ({
      use: secret.metadata?.name?.replace(cluster.name, ""),
      certificates: Object.entries(decoded(secret)).map(([name, text]) => [name, certificatesIn(text)?.length]),
    })),
  };
}

function countedBy(changes: readonly string[]): object {
  const count = (what: string): number => changes.filter((change) => change === what).length;
  return {
    podsMade: count("POST pods"),
    claimsMade: count("POST persistentvolumeclaims"),
    added: count("MemberAdd"),
    promoted: count("MemberPromote"),
    moved: count("MemberUpdate"),
    removed: count("MemberRemove"),
  };
}
