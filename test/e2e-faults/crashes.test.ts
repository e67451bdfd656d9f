// Crashes on a real Kubernetes: operators that are killed right after every change that they make, or every second or
// third one. Each of them finds what the last one left, at every point where one can be interrupted, and the cluster
// comes to the same end as under an operator that nobody disturbs, with as many pods made and members added.
// (In memory each single crash is tried in an otherwise undisturbed run: src/cluster/crashes.test.ts.)
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { PodDisruptionBudget, Service } from "../../src/kube/kinds.ts";
import { makeCluster, type TestCluster } from "../e2e/support/cluster.ts";
import { kube, restrictedNamespace } from "../e2e/support/ground.ts";
import { deletePods } from "../e2e/support/harm.ts";
import { Writer } from "../e2e/support/writer.ts";
import { root } from "../suites.ts";
import { kubectl } from "../support/kubectl.ts";
import { Lives } from "./support/lives.ts";

/** What there is after a step, and what it took. */
interface Outcome {
  readonly step: string;
  readonly state: object;
  readonly made: object;
}

interface Played {
  readonly outcomes: readonly Outcome[];
  readonly deaths: number;
}

async function play(name: string, changesEach: number): Promise<Played> {
  const namespace = await restrictedNamespace(name);
  const lives = new Lives(namespace, changesEach);
  const cluster = await makeCluster({ namespace, name }, { size: 1 });
  const writer = new Writer(cluster);
  const outcomes: Outcome[] = [];
  let counted = 0;
  const note = async (step: string): Promise<void> => {
    await lives.during(writer.nothingIsLost());
    const changes = lives.changes.slice(counted);
    counted += changes.length;
    outcomes.push({ step, state: await stateOf(cluster), made: countedBy(changes) });
  };
  try {
    const first = await lives.during(cluster.whole());
    await note("creation");
    // From so many entries on members join one after the other. Those that join together may have to be exchanged when
    // clients write much while operators come and go, which would be no fault, and no end to compare with.
    await lives.during(writer.progress(100));

    await cluster.scale(3);
    const three = await lives.during(cluster.whole());
    await note("growth");

    const victim = three.members.find(({ id }) => id !== three.leader.id);
    assert.ok(victim);
    await deletePods(cluster, victim.name);
    await lives.during(cluster.whole({ without: [victim.name] }));
    await note("repair");

    await cluster.scale(1);
    const last = await lives.during(cluster.whole());
    await note("shrinking");
    assert.equal(last.clusterId, first.clusterId);
  } finally {
    await Promise.all([writer.stop(), lives.stop()]);
  }
  return { outcomes, deaths: lives.deaths };
}

/** All that is not a name, a time or a number that grows. */
async function stateOf(cluster: TestCluster): Promise<object> {
  const { namespace } = cluster;
  const [{ status, spec }, pods, services, budgets] = await Promise.all([
    cluster.get(),
    cluster.pods(),
    kube.list(Service, { namespace }),
    kube.list(PodDisruptionBudget, { namespace }),
  ]);
  return {
    spec,
    pods: pods.length,
    phase: status?.phase,
    size: status?.size,
    ready: status?.ready,
    conditions: status?.conditions?.map(({ type, status, reason }) => ({ type, status, reason })),
    services: services.items.map(({ spec }) => ({
      ports: spec?.ports?.map(({ port }) => port),
      clusterIP: spec?.clusterIP === "None",
    })),
    budgets: budgets.items.map(({ spec }) => spec?.minAvailable),
  };
}

function countedBy(changes: readonly string[]): object {
  const count = (what: string): number => changes.filter((change) => change === what).length;
  return {
    podsMade: count("POST pods"),
    added: count("MemberAdd"),
    promoted: count("MemberPromote"),
    removed: count("MemberRemove"),
  };
}

describe("operators that are killed", { concurrency: 3 }, () => {
  let calm: Promise<Played> | undefined;
  const undisturbed = (): Promise<Played> => (calm ??= play("calm", Number.POSITIVE_INFINITY));

  before(async () => {
    await kubectl("apply", "--server-side", "--filename", `${root}/example/crd/etcdcluster.yaml`);
    await kubectl("wait", "--for=condition=Established", "crd/etcdclusters.etcd.database.coreos.com", "--timeout=60s");
  });

  for (const { changes, told, fewest } of [
    { changes: 1, told: "every change that they make", fewest: 20 },
    { changes: 2, told: "every second change", fewest: 10 },
    { changes: 3, told: "every third change", fewest: 6 },
  ])
    test(`after ${told} come to the same end as one that nobody disturbs, and lose nothing`, async (t) => {
      const [expected, { outcomes, deaths }] = await Promise.all([undisturbed(), play(`killed-${changes}`, changes)]);
      t.diagnostic(`${deaths} operators were killed`);
      assert.equal(expected.deaths, 0);
      assert.ok(deaths >= fewest, `only ${deaths} operators were killed`);
      assert.deepEqual(outcomes, expected.outcomes);
    });
});
