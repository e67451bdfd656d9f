// What is done to the members of etcd, and what keeps it from being done. etcd here takes everything, or says one error.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { EtcdError, type EtcdReason } from "../../etcd/errors.ts";
import type { DowngradeStep } from "../../etcd/member.ts";
import { ApiError } from "../../kube/client/errors.ts";
import type { Pod } from "../../kube/objects/kinds.ts";
import type { Key, Kind, KubeObject } from "../../kube/objects/objects.ts";
import { ownerReference } from "../../kube/objects/owners.ts";
import { assess } from "../assess/assess.ts";
import type { ClusterAction, PodSeen } from "../plan/actions.ts";
import { learner, three, voter } from "../testing/plan-table.ts";
import {
  sampleCluster,
  sampleId,
  sampleName,
  sampleNow,
  sampleWorld,
  type SampleWorld,
} from "../testing/sample-world.ts";
import { carryOut } from "./actions.ts";
import { type ClusterExecution, executionOf } from "./execution.ts";
import { NotYet } from "../../controllers/obstacle.ts";
import { judged } from "../testing/judged.ts";

interface Live {
  readonly cluster?: EtcdCluster;
  readonly pod?: Pod | Error;
  /** Pods of the others, by name, that are not as they were seen. */
  readonly others?: Readonly<Record<string, Pod>>;
  /** What etcd says instead of doing it. */
  readonly says?: Error;
  /** Says so only the first that is asked. */
  readonly onlyTheFirst?: true;
}

interface Done {
  readonly asked: readonly string[];
  readonly execution: ClusterExecution;
}

/** What becomes of the action, in the order in which it was asked for. */
async function carriedOut(
  action: ClusterAction,
  live: Live = {},
  sample: SampleWorld = { members: three },
): Promise<Done> {
  const { cluster = sampleCluster({}), pod, others = {}, says, onlyTheFirst } = live;
  const asked: string[] = [];
  const list = [{ id: sampleId("z") }];
  const ask = (what: string) => () => {
    asked.push(what);
    const isRefused = says !== undefined && (onlyTheFirst === undefined || asked.length === 1);
    return isRefused ? Promise.reject(says) : Promise.resolve(list);
  };
  const [memberRemove, memberPromote, memberUpdate] = [ask("remove"), ask("promote"), ask("update")];
  const memberAdd = (): Promise<object> => ask("add")().then((members) => ({ members }));
  const downgrade = (step: DowngradeStep) =>
    ask(`${step.do} downgrade${"version" in step ? ` ${step.version}` : ""}`)();
  const member = { memberRemove, memberPromote, memberUpdate, memberAdd, moveLeader: ask("move leader"), downgrade };
  const api = {
    get: (kind: Kind<KubeObject>, { name }: Key): Promise<KubeObject> => {
      if (kind.kind === EtcdCluster.kind) return Promise.resolve(cluster);
      if (name === "demo-a" || name === "demo-b")
        return Promise.resolve(others[name] ?? { metadata: { name, uid: `uid-of-${name}` } });
      if (pod instanceof Error) return Promise.reject(pod);
      return pod === undefined ? Promise.reject(new ApiError(404, "NotFound", "")) : Promise.resolve(pod);
    },
  };
  const assessment = assess(sampleWorld(sample), sampleNow);
  const context = { members: { at: () => member }, logins: { known: () => undefined } };
  const execution = executionOf(assessment, { api } as never, context as never);
  await carryOut(action, execution).catch((error: unknown) => {
    if (!(error instanceof NotYet)) throw error;
    asked.push("not yet");
  });
  return { asked, execution };
}

const saysOf = (reason: EtcdReason): EtcdError => new EtcdError(reason, "a call", "");
const ids = ({ execution }: Done): string[] => execution.members.map(({ id }) => id);

describe("a member is removed", () => {
  const removal = (pod: PodSeen): ClusterAction =>
    judged({
      do: "removeMember",
      id: sampleId("c"),
      member: sampleName("c"),
      because: "a test",
      cause: "lost",
      pod,
    });
  const seen = { t: "uid", uid: "uid-of-demo-c" } as const;
  const none = { t: "none" } as const;
  const { metadata, ...rest } = sampleCluster({});
  const pod = (uid: string, more: Pod["metadata"] = {}): Pod => ({ metadata: { name: "demo-c", uid, ...more } });
  const ours = { ownerReferences: [ownerReference(EtcdCluster, { ...rest, metadata })] };
  const labels = { app: "etcd", etcd_cluster: "demo" };
  const table: [string, PodSeen, Live, string[]][] = [
    ["whose pod is gone", none, {}, ["remove"]],
    ["whose pod is the one that was looked at", seen, { pod: pod("uid-of-demo-c") }, ["remove"]],
    ["whose pod has gone since", seen, {}, ["remove"]],
    ["unless its pod is another by now", seen, { pod: pod("another", { ...ours, labels }) }, ["not yet"]],
    ["unless its pod is there after all", none, { pod: pod("new", { ...ours, labels }) }, ["not yet"]],
    ["unless its pod had only lost its labels", none, { pod: pod("x", ours) }, ["not yet"]],
    ["unless somebody else's pod has its name", none, { pod: pod("x") }, ["not yet"]],
    [
      "unless one that is counted on is about to go",
      none,
      { others: { "demo-a": { metadata: { uid: "uid-of-demo-a", deletionTimestamp: "2026-01-31T12:00:00Z" } } } },
      ["not yet"],
    ],
    [
      "unless the pod of one that is counted on is another by now",
      none,
      { others: { "demo-b": { metadata: { uid: "another" } } } },
      ["not yet"],
    ],
    [
      "unless the cluster is another by now",
      none,
      { cluster: { ...rest, metadata: { ...metadata, uid: "x" } } },
      ["not yet"],
    ],
    [
      "unless the cluster was edited",
      none,
      { cluster: { ...rest, metadata: { ...metadata, generation: 2 } } },
      ["not yet"],
    ],
  ];
  for (const [what, sight, live, wanted] of table)
    test(what, async () => assert.deepEqual((await carriedOut(removal(sight), live)).asked, wanted));

  test("unless nobody can say whether its pod is there", async () => {
    const down = new ApiError(500, "InternalError", "");
    await assert.rejects(carriedOut(removal(none), { pod: down }), down);
  });

  test("and is off the list from then on, also when it was removed before", async () => {
    assert.deepEqual(ids(await carriedOut(removal(none))), [sampleId("z")]);
    const before = await carriedOut(removal(none), { says: saysOf("memberNotFound") });
    assert.deepEqual(ids(before), [sampleId("a"), sampleId("b")]);
    await assert.rejects(carriedOut(removal(none), { says: saysOf("notALearner") }));
  });
});

describe("a learner", () => {
  const members = [...three, learner("d")];
  const [id, member, because] = [sampleId("d"), sampleName("d"), "a test"];

  test("is promoted, also when it was before", async () => {
    const promotion: ClusterAction = { do: "promote", id, member };
    const there = { pod: { metadata: { name: member, uid: `uid-of-${member}` } } };
    assert.deepEqual(ids(await carriedOut(promotion, there, { members })), [sampleId("z")]);
    const { asked, execution } = await carriedOut(promotion, { ...there, says: saysOf("notALearner") }, { members });
    assert.deepEqual([asked, execution.members.length], [["promote"], 4]);
  });

  test("gets no vote while its pod is about to go, whatever the cache shows", async () => {
    const promotion: ClusterAction = { do: "promote", id, member };
    const going = { metadata: { name: member, deletionTimestamp: "2026-01-31T12:00:00Z" } };
    assert.deepEqual((await carriedOut(promotion, { pod: going }, { members })).asked, ["not yet"]);
    assert.deepEqual((await carriedOut(promotion, {}, { members })).asked, ["not yet"]);
  });

  test("keeps its address until it votes", async () => {
    const update: ClusterAction = { do: "updatePeerUrl", id, member, because };
    assert.deepEqual((await carriedOut(update, {}, { members })).asked, ["not yet"]);
    const voters = [...three.slice(1), voter("d"), learner("e")];
    const { asked, execution } = await carriedOut(update, {}, { members: voters });
    assert.deepEqual([asked, execution.members.length], [["update"], 1]);
  });
});

test("a member that is listed already is not added again", async () => {
  const addition = (letter: string): ClusterAction => ({ do: "addMember", member: sampleName(letter), as: "learner" });
  assert.deepEqual((await carriedOut(addition("d"))).asked, ["add"]);
  assert.deepEqual((await carriedOut(addition("b"))).asked, []);
  const members = [voter("a"), voter("b", { also: "http://demo-b.elsewhere.example:2380" })];
  assert.deepEqual((await carriedOut(addition("b"), {}, { members })).asked, []);
});

describe("a server that takes a peer for inactive which is back", () => {
  const addition: ClusterAction = { do: "addMember", member: sampleName("d"), as: "learner" };
  const removal: ClusterAction = judged({
    do: "removeMember",
    id: sampleId("c"),
    member: sampleName("c"),
    because: "a test",
    cause: "unwanted",
    pod: { t: "none" },
  });
  const says = saysOf("unhealthyCluster");
  const asked = async (action: ClusterAction, live: Live): Promise<readonly string[]> =>
    (await carriedOut(action, live)).asked;

  test("is not the last that is asked to add or remove a member", async () => {
    assert.deepEqual(await asked(addition, { says, onlyTheFirst: true }), ["add", "add"]);
    assert.deepEqual(await asked(removal, { says, onlyTheFirst: true }), ["remove", "remove"]);
  });

  test("is believed when every other one says the same", async () => {
    const isSaid = (error: unknown): boolean => error === says;
    await assert.rejects(carriedOut(addition, { says }), isSaid);
    await assert.rejects(carriedOut(removal, { says }), isSaid);
  });

  test("is the only one that is asked where it may have done it, or another would say the same", async () => {
    for (const reason of ["timeout", "tooManyLearners", "memberExists"] as const)
      await assert.rejects(asked(addition, { says: saysOf(reason), onlyTheFirst: true }));
  });
});

test("a leader that cannot be asked does not step down", async () => {
  const move: ClusterAction = { do: "moveLeader", from: sampleId("b"), to: sampleId("a"), because: "it goes" };
  assert.deepEqual((await carriedOut(move)).asked, ["move leader"]);
  const members = [voter("a"), voter("b", { pod: { address: undefined } }), voter("c")];
  assert.deepEqual((await carriedOut(move, {}, { members })).asked, ["not yet"]);
});

describe("a downgrade", () => {
  const enable: ClusterAction = { do: "enableDowngrade", to: "3.6.0", because: "a test" };
  const cancel: ClusterAction = { do: "cancelDowngrade", because: "a test" };
  test("is enabled, also when it was before", async () => {
    for (const live of [{}, { says: saysOf("downgradeInProgress") }])
      assert.deepEqual((await carriedOut(enable, live)).asked, ["enable downgrade 3.6.0"]);
    await assert.rejects(carriedOut(enable, { says: saysOf("noDowngrade") }));
  });
  test("is cancelled, also when there is none", async () => {
    for (const live of [{}, { says: saysOf("noDowngrade") }])
      assert.deepEqual((await carriedOut(cancel, live)).asked, ["cancel downgrade"]);
    await assert.rejects(carriedOut(cancel, { says: saysOf("downgradeInProgress") }));
  });
});
