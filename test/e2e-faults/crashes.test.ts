// Operators that are killed right after every write, or every second or third one. Each starts from what the last one left,
// and the cluster ends in the same state as under an undisturbed operator, with as many pods created and members added.
// (src/cluster/crashes.test.ts tries each single crash in memory.)
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { waitFor } from "../../lab/progress.ts";
import { EtcdCluster, type EtcdClusterSpec } from "../../src/api/etcd-cluster/etcd-cluster.ts";
import { claimLabel, clusterIdAnnotation, clusterUidAnnotation } from "../../src/cluster/objects/claims.ts";
import { settingsAnnotation } from "../../src/cluster/objects/member-pod.ts";
import { PersistentVolumeClaim, PodDisruptionBudget, Service } from "../../src/kube/objects/kinds.ts";
import type { Key } from "../../src/kube/objects/objects.ts";
import { createCluster, type TestCluster } from "../e2e/support/cluster.ts";
import { kube, patience, restrictedNamespace } from "../e2e/support/environment.ts";
import { deletePods } from "../e2e/support/disruptions.ts";
import { memberAt } from "../e2e/support/healthy.ts";
import { untilRolled } from "../e2e/support/rolled.ts";
import { holdSameData } from "../e2e/support/same-data.ts";
import { Writer } from "../e2e/support/writer.ts";
import { onlyReturned, untilReturned } from "../e2e-volumes/support/returned.ts";
import { onVolumes, untilEachClaim } from "../e2e-volumes/support/volumes.ts";
import { root } from "../suites.ts";
import { kubectl } from "../support/kubectl.ts";
import { type Row, rowsOf } from "../support/matrix.ts";
import { CrashingOperators } from "./support/crashing-operators.ts";

/** The state after a step, and the writes that led to it. */
interface StepResult {
  readonly step: string;
  readonly state: object;
  readonly writes: object;
}

interface Crashes {
  /** Writes of each operator. */
  readonly changes: number;
  readonly after: string;
  /** Operators that must have been killed for the test to prove anything. */
  readonly fewest: number;
}

interface ScenarioResult {
  readonly steps: readonly StepResult[];
  readonly crashes: number;
}

/** One cluster under a sequence of operators. */
interface Setup {
  readonly key: Key;
  readonly operators: CrashingOperators;
  /** Call it after each step, when the cluster is healthy. */
  readonly record: (step: string, cluster: TestCluster) => Promise<void>;
}

type Scenario = (setup: Setup) => Promise<void>;

async function run(scenario: Scenario, name: string, changesEach: number): Promise<ScenarioResult> {
  const namespace = await restrictedNamespace(name);
  const operators = new CrashingOperators(namespace, changesEach);
  const steps: StepResult[] = [];
  let counted = 0;
  const record = async (step: string, cluster: TestCluster): Promise<void> => {
    const changes = operators.changes.slice(counted);
    counted += changes.length;
    steps.push({ step, state: await stateOf(cluster), writes: countedBy(changes) });
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

/** Members are added and removed one at a time while a client writes. */
async function oneByOne({ key, operators, record }: Setup): Promise<void> {
  const cluster = await createCluster(key, { size: 1 });
  const writer = new Writer(cluster);
  const intact = async (step: string): Promise<void> => {
    await operators.during(writer.nothingIsLost());
    await record(step, cluster);
  };
  try {
    const first = await operators.during(cluster.untilHealthy());
    await intact("creation");
    // With this many entries members join one after another. Members that join together may legitimately be replaced while
    // clients write and operators crash, so the write counts could not be compared.
    await operators.during(writer.progress(100));

    await cluster.scale(3);
    const three = await operators.during(cluster.untilHealthy());
    await intact("growth");

    const victim = three.members.find(({ id }) => id !== three.leader.id);
    assert.ok(victim);
    await deletePods(cluster, victim.name);
    await operators.during(cluster.untilHealthy({ without: [victim.name] }));
    await intact("repair");

    await cluster.scale(1);
    const last = await operators.during(cluster.untilHealthy());
    await intact("shrinking");
    assert.equal(last.clusterId, first.clusterId);
  } finally {
    await writer.stop();
  }
}

/** Four members join the seed together, after a first write to it. */
async function together({ key, operators, record }: Setup): Promise<void> {
  const cluster = await createCluster(key, { size: 5 });
  await operators.during(firstWrite(cluster));
  const { members } = await operators.during(cluster.untilHealthy());
  for (const { etcd } of members) assert.equal((await etcd.list("/early")).keys.length, 1);
  await record("creation", cluster);
}

/** An edit is rolled out, member by member, while a client writes. */
const rolled =
  (from: Omit<EtcdClusterSpec, "size">, to: Partial<EtcdClusterSpec>): Scenario =>
  async ({ key, operators, record }) => {
    const cluster = await createCluster(key, { size: 3, ...from });
    const first = await operators.during(cluster.untilHealthy());
    await record("creation", cluster);
    const writer = new Writer(cluster);
    try {
      // With this many entries members join one after another.
      await operators.during(writer.progress(100));
      await cluster.edit(to);
      const last = await operators.during(untilRolled(cluster));
      assert.equal(last.clusterId, first.clusterId);
      await holdSameData(last);
      await operators.during(writer.nothingIsLost());
      await record("roll", cluster);
    } finally {
      await writer.stop();
    }
  };

/** Members with volumes: a lost pod comes back as the same member, and the volumes are asked to grow. */
async function onTheirVolumes({ key, operators, record }: Setup): Promise<void> {
  const cluster = await createCluster(key, { size: 3, pod: onVolumes("1Gi") });
  const first = await operators.during(cluster.untilHealthy());
  await operators.during(untilNoted(cluster, "1Gi"));
  await record("creation", cluster);
  const writer = new Writer(cluster);
  try {
    const victim = first.members.find(({ id }) => id !== first.leader.id);
    assert.ok(victim);
    await deletePods(cluster, victim.name);
    onlyReturned(first, await operators.during(untilReturned(cluster, first, victim.name)), victim.name);
    await operators.during(writer.nothingIsLost());
    await record("repair", cluster);

    await cluster.edit({ pod: onVolumes("2Gi") });
    await operators.during(untilNoted(cluster, "2Gi"));
    onlyReturned(first, await operators.during(cluster.untilHealthy()), victim.name);
    await operators.during(writer.nothingIsLost());
    await record("volumes that grow", cluster);
  } finally {
    await writer.stop();
  }
}

/** The claims ask for that much, and say whose data they hold. */
async function untilNoted(cluster: TestCluster, storage: string): Promise<void> {
  await untilEachClaim(cluster, `claims of ${storage} with notes`, (claims) =>
    claims.every(({ metadata, spec }) => {
      const { [clusterIdAnnotation]: id } = metadata?.annotations ?? {};
      return id !== undefined && spec?.resources?.requests?.["storage"] === storage;
    }),
  );
}

function firstWrite(cluster: TestCluster): Promise<true> {
  let seen = "no member";
  const write = async (): Promise<true | undefined> => {
    const address = (await cluster.pods()).map(({ status }) => status?.podIP).find((one) => one !== undefined);
    if (address === undefined) return undefined;
    try {
      await memberAt(address).put("/early", "1", { deadline: 1000 });
      return true;
    } catch (error) {
      seen = String(error);
      return undefined;
    }
  };
  return waitFor("a first write", write, { timeoutMs: patience, everyMs: 20, lastSeen: () => seen });
}

/** Everything except names, times and counters. */
async function stateOf(cluster: TestCluster): Promise<object> {
  const { namespace } = cluster;
  const [{ status, spec, metadata: { uid } = {} }, pods, services, budgets, claims] = await Promise.all([
    cluster.get(),
    cluster.pods(),
    kube.list(Service, { namespace }),
    kube.list(PodDisruptionBudget, { namespace }),
    kube.list(PersistentVolumeClaim, { namespace }),
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

describe("crashing operators", { concurrency: 3 }, () => {
  before(async () => {
    await kubectl("apply", "--server-side", "--filename", `${root}/example/crd/etcdcluster.yaml`);
    await kubectl("wait", "--for=condition=Established", "crd/etcdclusters.etcd.database.coreos.com", "--timeout=60s");
  });

  for (const { scenario, prefix, lead, each } of [
    {
      scenario: oneByOne,
      prefix: "",
      lead: "",
      each: [
        { changes: 1, after: "every write", fewest: 20, onlyInMatrix: true },
        { changes: 2, after: "every second write", fewest: 10, onlyInMatrix: true },
        { changes: 3, after: "every third write", fewest: 6 },
      ],
    },
    {
      scenario: together,
      prefix: "together-",
      lead: "while members join together, ",
      each: [
        { changes: 1, after: "every write", fewest: 15, onlyInMatrix: true },
        { changes: 2, after: "every second write", fewest: 7 },
      ],
    },
    {
      scenario: rolled({ version: "3.5.35" }, { version: "3.6.16" }),
      prefix: "upgrade-",
      lead: "during an upgrade, ",
      each: [
        { changes: 1, after: "every write", fewest: 20, onlyInMatrix: true },
        { changes: 3, after: "every third write", fewest: 6 },
      ],
    },
    {
      scenario: rolled({}, { etcd: { snapshotCount: 5_000 } }),
      prefix: "configuration-",
      lead: "while members are exchanged for a setting, ",
      each: [
        { changes: 1, after: "every write", fewest: 20, onlyInMatrix: true },
        { changes: 3, after: "every third write", fewest: 6 },
      ],
    },
    {
      scenario: onTheirVolumes,
      prefix: "volumes-",
      lead: "with volumes, ",
      each: [
        { changes: 1, after: "every write", fewest: 15, onlyInMatrix: true },
        { changes: 2, after: "every second write", fewest: 8, onlyInMatrix: true },
        { changes: 3, after: "every third write", fewest: 6 },
      ],
    },
  ]) {
    let undisturbedRun: Promise<ScenarioResult> | undefined;
    const undisturbed = (): Promise<ScenarioResult> =>
      (undisturbedRun ??= run(scenario, `${prefix}calm`, Number.POSITIVE_INFINITY));
    for (const { changes, after, fewest } of rowsOf<Row & Crashes>(each))
      test(`${lead}operators that crash after ${after} reach the same state as an undisturbed one, and lose nothing`, async (t) => {
        const disturbed = run(scenario, `${prefix}killed-${changes}`, changes);
        const [expected, { steps, crashes }] = await Promise.all([undisturbed(), disturbed]);
        t.diagnostic(`${crashes} operators were killed`);
        assert.equal(expected.crashes, 0);
        assert.ok(crashes >= fewest, `only ${crashes} operators were killed`);
        assert.deepEqual(steps, expected.steps);
      });
  }
});
