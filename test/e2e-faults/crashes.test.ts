// Crashes on a real Kubernetes: operators that are killed right after every change that they make, or every second or
// third one. Each of them finds what the last one left, at every point where one can be interrupted, and the cluster
// comes to the same end as under an operator that nobody disturbs, with as many pods made and members added.
// (In memory each single crash is tried in an otherwise undisturbed run: src/cluster/crashes.test.ts.)
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { waitFor } from "../../lab/progress.ts";
import { PodDisruptionBudget, Service } from "../../src/kube/objects/kinds.ts";
import type { Key } from "../../src/kube/objects/objects.ts";
import { makeCluster, type TestCluster } from "../e2e/support/cluster.ts";
import { kube, patience, restrictedNamespace } from "../e2e/support/ground.ts";
import { deletePods } from "../e2e/support/harm.ts";
import { memberAt } from "../e2e/support/whole.ts";
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

/** One cluster and a row of operators. */
interface Stage {
  readonly key: Key;
  readonly lives: Lives;
  /** To be called after each step, when the cluster is whole. */
  readonly note: (step: string, cluster: TestCluster) => Promise<void>;
}

type Story = (stage: Stage) => Promise<void>;

async function play(story: Story, name: string, changesEach: number): Promise<Played> {
  const namespace = await restrictedNamespace(name);
  const lives = new Lives(namespace, changesEach);
  const outcomes: Outcome[] = [];
  let counted = 0;
  const note = async (step: string, cluster: TestCluster): Promise<void> => {
    const changes = lives.changes.slice(counted);
    counted += changes.length;
    outcomes.push({ step, state: await stateOf(cluster), made: countedBy(changes) });
  };
  try {
    await story({ key: { namespace, name }, lives, note });
  } finally {
    await lives.stop();
  }
  return { outcomes, deaths: lives.deaths };
}

/** Members come and go one at a time while somebody writes. */
async function oneByOne({ key, lives, note }: Stage): Promise<void> {
  const cluster = await makeCluster(key, { size: 1 });
  const writer = new Writer(cluster);
  const intact = async (step: string): Promise<void> => {
    await lives.during(writer.nothingIsLost());
    await note(step, cluster);
  };
  try {
    const first = await lives.during(cluster.whole());
    await intact("creation");
    // From so many entries on members join one after the other. Those that join together may have to be exchanged when
    // clients write much while operators come and go, which would be no fault, and no end to compare with.
    await lives.during(writer.progress(100));

    await cluster.scale(3);
    const three = await lives.during(cluster.whole());
    await intact("growth");

    const victim = three.members.find(({ id }) => id !== three.leader.id);
    assert.ok(victim);
    await deletePods(cluster, victim.name);
    await lives.during(cluster.whole({ without: [victim.name] }));
    await intact("repair");

    await cluster.scale(1);
    const last = await lives.during(cluster.whole());
    await intact("shrinking");
    assert.equal(last.clusterId, first.clusterId);
  } finally {
    await writer.stop();
  }
}

/** Four join the first member together, which has been written to by then. */
async function together({ key, lives, note }: Stage): Promise<void> {
  const cluster = await makeCluster(key, { size: 5 });
  await lives.during(firstWrite(cluster));
  const { members } = await lives.during(cluster.whole());
  for (const { etcd } of members) assert.equal((await etcd.list("/early")).keys.length, 1);
  await note("creation", cluster);
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
    moved: count("MemberUpdate"),
    removed: count("MemberRemove"),
  };
}

describe("operators that are killed", { concurrency: 3 }, () => {
  before(async () => {
    await kubectl("apply", "--server-side", "--filename", `${root}/example/crd/etcdcluster.yaml`);
    await kubectl("wait", "--for=condition=Established", "crd/etcdclusters.etcd.database.coreos.com", "--timeout=60s");
  });

  for (const { story, prefix, lead, each } of [
    {
      story: oneByOne,
      prefix: "",
      lead: "",
      each: [
        { changes: 1, told: "every change that they make", fewest: 20 },
        { changes: 2, told: "every second change", fewest: 10 },
        { changes: 3, told: "every third change", fewest: 6 },
      ],
    },
    {
      story: together,
      prefix: "together-",
      lead: "while members join together, ",
      each: [
        { changes: 1, told: "every change that they make", fewest: 15 },
        { changes: 2, told: "every second change", fewest: 7 },
      ],
    },
  ]) {
    let calm: Promise<Played> | undefined;
    const undisturbed = (): Promise<Played> => (calm ??= play(story, `${prefix}calm`, Number.POSITIVE_INFINITY));
    for (const { changes, told, fewest } of each)
      test(`${lead}after ${told}, come to the same end as one that nobody disturbs, and lose nothing`, async (t) => {
        const disturbed = play(story, `${prefix}killed-${changes}`, changes);
        const [expected, { outcomes, deaths }] = await Promise.all([undisturbed(), disturbed]);
        t.diagnostic(`${deaths} operators were killed`);
        assert.equal(expected.deaths, 0);
        assert.ok(deaths >= fewest, `only ${deaths} operators were killed`);
        assert.deepEqual(outcomes, expected.outcomes);
      });
  }
});
