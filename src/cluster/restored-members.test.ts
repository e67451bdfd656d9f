// The first members of a restored cluster, which are made from the backup at the same time: whatever becomes of them before
// they serve, none is made twice, and the cluster gets there. The watch of the stage reports a member that is made twice, and
// members of two attempts that meet.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EtcdCluster } from "../api/etcd-cluster/etcd-cluster.ts";
import { Pod } from "../kube/objects/kinds.ts";
import { jobVariable } from "../worker/job.ts";
import { type FirstMember, firstMembersGate, plannedBeginning } from "./objects/first-members.ts";
import { volumesOf } from "./testing/happenings.ts";
import { key, Stage } from "./testing/stage.ts";
import { signerFor } from "./testing/tls/signer.ts";
import { restoreContainer } from "../worker/pod.ts";

const onVolumes = { pod: volumesOf("1Gi") };

/** The pods of first members that there ever were, by the uids under which they were made. */
function firstPodsIn(stage: Stage): Map<string, Pod> {
  const pods = new Map<string, Pod>();
  stage.api.onWrite(({ kind, verb, object }) => {
    if (kind !== Pod.kind || verb !== "create") return;
    const pod = object as Pod; // the server keeps pods under this kind
    if (isFirst(pod)) pods.set(pod.metadata?.uid ?? "", pod);
  });
  return pods;
}

const isFirst = ({ spec }: Pod): boolean =>
  spec?.initContainers?.some(({ name }) => name === restoreContainer) === true;

const isHeldBack = ({ spec }: Pod): boolean =>
  spec?.schedulingGates?.some(({ name }) => name === firstMembersGate) === true;

function jobIn({ spec }: Pod): { readonly token?: unknown; readonly initialCluster?: unknown } {
  const { env = [] } = spec?.initContainers?.find(({ name }) => name === restoreContainer) ?? {};
  return JSON.parse(env.find(({ name }) => name === jobVariable)?.value ?? "{}") as object;
}

const namesOf = (pods: Iterable<Pod>): readonly string[] => [...pods].map(({ metadata }) => metadata?.name ?? "");

async function firstMembers(stage: Stage): Promise<readonly FirstMember[]> {
  const { status = {} } = await stage.cluster();
  return plannedBeginning({ status } as never)?.beginning?.members ?? [];
}

const isDone = async (stage: Stage): Promise<boolean> => (await stage.cluster()).status?.restore?.phase === "Done";

/** Three members are restored in place, and their pods have been let start. */
async function letStart(stage: Stage, spec: object = {}): Promise<readonly string[]> {
  stage.startOperator();
  await stage.createWhole(3, "3.6.16", spec);
  await stage.restore();
  await stage.until("let start", async () => (await firstMembers(stage)).some(({ pod }) => pod !== undefined));
  return (await firstMembers(stage)).map(({ name }) => name);
}

describe("three members that are made from a backup", () => {
  for (const [where, spec] of [
    ["with volumes", onVolumes],
    ["without volumes", {}],
  ] as const)
    test(`${where} begin together, and nobody joins them`, async () => {
      await using stage = new Stage();
      const pods = firstPodsIn(stage);
      const names = await letStart(stage, spec);
      await stage.until("restored", () => isDone(stage));
      await stage.untilWhole(3);
      assert.deepEqual(namesOf(pods.values()).toSorted(), names.toSorted());
      assert.deepEqual(await stage.podNames(), names.toSorted());
      assert.equal(new Set([...pods.values()].map((pod) => JSON.stringify(jobIn(pod).initialCluster))).size, 1);
      assert.equal(new Set([...pods.values()].map((pod) => jobIn(pod).token)).size, 1);
      assert.ok([...pods.values()].every(isHeldBack), "they are made held back");
      const { items } = await stage.api.list(Pod, { namespace: key.namespace });
      assert.ok(!items.some(isHeldBack), "they are let start");
      assert.equal((await stage.cluster()).status?.restore?.plan, undefined);
    });

  test("with TLS are listed under the addresses that they have", async () => {
    await using stage = new Stage({ signer: signerFor() });
    const pods = firstPodsIn(stage);
    await letStart(stage, { TLS: { auto: true } });
    await stage.until("restored", () => isDone(stage));
    await stage.untilWhole(3);
    assert.equal(pods.size, 3);
    assert.match(JSON.stringify([...pods.values()].map(jobIn)), /"peerUrl":"https:/);
    assert.doesNotMatch(JSON.stringify([...pods.values()].map(jobIn)), /"peerUrl":"http:/);
  });

  test("are held back by others as long as those want: only the operator's own gate is removed", async () => {
    await using stage = new Stage();
    const gate = { name: "queue.example/admission" };
    stage.webhook = (pod, verb) => {
      const { schedulingGates = [] } = pod.spec ?? { containers: [] };
      if (verb !== "create" || !schedulingGates.some(({ name }) => name === firstMembersGate)) return pod;
      return { ...pod, spec: { containers: [], ...pod.spec, schedulingGates: [...schedulingGates, gate] } };
    };
    const names = await letStart(stage);
    const gatesOf = async (name: string): Promise<unknown> =>
      (await stage.api.get(Pod, { ...key, name })).spec?.schedulingGates;
    for (const name of names)
      await stage.until(`${name} let go`, async () => !isHeldBack(await stage.api.get(Pod, { ...key, name })));
    for (const name of names) {
      assert.deepEqual(await gatesOf(name), [gate]);
      await stage.api.mergePatch(Pod, { ...key, name }, { spec: { schedulingGates: null } });
    }
    await stage.until("restored", () => isDone(stage));
    await stage.untilWhole(3);
    assert.deepEqual(await stage.podNames(), names.toSorted());
  });

  test("serve without the one that is lost before, and it is replaced", async () => {
    await using stage = new Stage();
    stage.watch.allowAbsence();
    const pods = firstPodsIn(stage);
    const [first = "", ...others] = await letStart(stage);
    await stage.api.delete(Pod, { ...key, name: first });
    await stage.until("restored", () => isDone(stage));
    await stage.untilWhole(3);
    assert.equal(pods.size, 3, "none of them is made again");
    const names = await stage.podNames();
    assert.ok(!names.includes(first) && others.every((name) => names.includes(name)));
  });

  for (const [where, spec] of [
    ["with volumes", onVolumes],
    ["without volumes", {}],
  ] as const)
    test(`${where} begin again under other names when two of them are lost before they serve`, async () => {
      await using stage = new Stage();
      stage.watch.allowLoss();
      const pods = firstPodsIn(stage);
      const names = await letStart(stage, spec);
      for (const name of names.slice(0, 2)) await stage.api.delete(Pod, { ...key, name });
      await stage.until("restored", () => isDone(stage));
      await stage.untilWhole(3);
      const again = await stage.podNames();
      assert.ok(
        again.every((name) => !names.includes(name)),
        again.join(", "),
      );
      assert.equal(new Set(namesOf(pods.values())).size, pods.size, "no name is used twice");
      const tokens = new Set([...pods.values()].map((pod) => jobIn(pod).token));
      assert.equal(tokens.size, 2);
    });

  for (const how of ["deleted", "evicted", "being deleted"] as const)
    for (const [whose, count] of [
      ["all", 3],
      ["two", 2],
    ] as const)
      test(`with volumes keep what clients wrote while no operator ran, when the pods of ${whose} of them are ${how} then`, async () => {
        await using stage = new Stage();
        stage.watch.allowLoss();
        const names = await letStart(stage, onVolumes);
        await stage.stopOperator();
        await stage.until("a client is served", () => stage.write());
        const { clusterId } = stage.kubelet.etcd ?? {};
        for (const name of names.slice(0, count))
          if (how === "evicted") await stage.kubelet.evict(name);
          else await stage.api.delete(Pod, { ...key, name });
        if (how !== "being deleted") await stage.pass(5_000);
        stage.startOperator();
        await stage.until("restored", () => isDone(stage));
        await stage.untilWhole(3);
        assert.equal(stage.kubelet.etcd?.clusterId, clusterId);
        assert.ok(await stage.write());
      });

  /** A quota that has room for two. */
  async function withRoomForTwo(stage: Stage): Promise<() => void> {
    stage.startOperator();
    await stage.createWhole(3);
    let last: string | undefined;
    stage.api.onWrite(({ kind, object }) => {
      if (kind !== EtcdCluster.kind || object === undefined) return;
      const { status = {} } = object as EtcdCluster; // the server keeps them under this kind
      last ??= plannedBeginning({ status } as never)?.beginning?.members[2]?.name;
    });
    const lift = stage.rules.forbid((verb, kind, object) => {
      if (verb !== "create" || kind.plural !== "pods" || last === undefined) return false;
      const pod = object as Pod; // as its kind says
      return pod.metadata?.name === last || !isFirst(pod);
    }, "exceeded quota: pods");
    await stage.restore();
    return lift;
  }

  test("are made again while all of them are held back: none has run", async () => {
    await using stage = new Stage();
    const pods = firstPodsIn(stage);
    const lift = await withRoomForTwo(stage);
    await stage.until("two of them", () => pods.size === 2);
    const [held = ""] = namesOf(pods.values());
    await stage.api.delete(Pod, { ...key, name: held });
    lift();
    await stage.until("restored", () => isDone(stage));
    await stage.untilWhole(3);
    assert.deepEqual(await stage.podNames(), [...new Set(namesOf(pods.values()))].toSorted());
    assert.equal(pods.size, 4);
  });

  test("are two where a quota has room for two, and the third joins when it has more", async () => {
    await using stage = new Stage();
    const pods = firstPodsIn(stage);
    const lift = await withRoomForTwo(stage);
    await stage.until("two of them", () => pods.size === 2);
    assert.match((await stage.condition("Ready"))?.message ?? "", /exceeded quota: pods/);
    await stage.until("restored", () => isDone(stage));
    assert.equal(stage.kubelet.etcd?.members.filter(({ learner }) => !learner).length, 2);
    assert.equal(pods.size, 4, "two that were given up before they ran, and two that begin");
    lift();
    await stage.untilWhole(3);
  });
});

test("a restore begins with one member where a quota is known to have no room for all of them", async () => {
  await using stage = new Stage();
  const pods = firstPodsIn(stage);
  stage.startOperator();
  await stage.createWhole(3, "3.6.16", { pod: { resources: { limits: { cpu: "1" } } } });
  let asked = false;
  stage.rules.forbid((verb, kind, object) => {
    // While the members run; the worker is to have more than they.
    if (asked || verb !== "create" || kind.plural !== "pods") return false;
    const pod = object as Pod; // as its kind says
    return isFirst(pod) && stage.kubelet.pods.length === 3;
  }, "exceeded quota: compute, requested: limits.cpu=2, used: limits.cpu=3, limited: limits.cpu=4");
  await stage.restore();
  await stage.until("begun", async () => (await stage.cluster()).status?.restore !== undefined);
  asked = true;
  await stage.until("restored", () => isDone(stage));
  await stage.untilWhole(3);
  assert.equal(pods.size, 1);
});

test("a restore that an older operator has begun goes on with one first member", async () => {
  await using stage = new Stage();
  const pods = firstPodsIn(stage);
  stage.startOperator();
  await stage.createWhole(3);
  await stage.restore();
  await stage.until("begun", async () => (await stage.cluster()).status?.restore?.phase === "Stopping");
  const { together: _, ...plan } = JSON.parse((await stage.cluster()).status?.restore?.plan ?? "{}") as {
    together?: number;
  };
  const status = { restore: { plan: JSON.stringify(plan) } };
  await stage.api.mergePatch(EtcdCluster, key, { status }, { subresource: "status" });
  await stage.until("restored", () => isDone(stage));
  await stage.untilWhole(3);
  assert.equal(pods.size, 1);
  assert.equal(jobIn([...pods.values()][0]!).initialCluster, undefined);
});
