// What is written on pods that are there: on this very one, and nothing of what others keep there.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { Pod } from "../../kube/objects/kinds.ts";
import type { Kind, KubeObject } from "../../kube/objects/objects.ts";
import { assess } from "../assess/assess.ts";
import { firstMembersGate } from "../objects/first-members.ts";
import { renewedAnnotation, servingGate, trustAnnotations } from "../objects/tls.ts";
import type { ClusterAction } from "../plan/actions.ts";
import { three } from "../testing/plan-table.ts";
import { sampleName, sampleNow, type SampleWorld, sampleWorld } from "../testing/sample-world.ts";
import { carryOut } from "./actions.ts";
import { executionOf } from "./execution.ts";
import { NotYet } from "../../controllers/obstacle.ts";

/** Name and body of each write, or that it was too early. */
async function writesOf(
  action: ClusterAction,
  sample: SampleWorld,
  pods: readonly Pod[] = [],
): Promise<readonly unknown[]> {
  const writes: unknown[] = [];
  const world = sampleWorld(sample);
  const api = {
    get: (kind: Kind<KubeObject>, { name }: { name: string }) =>
      Promise.resolve(
        kind.kind === EtcdCluster.kind ? world.cluster : pods.find(({ metadata }) => metadata?.name === name),
      ),
    list: () => Promise.resolve({ items: [] }),
    mergePatch: (_kind: unknown, { name }: { name: string }, body: { status?: object }) => {
      writes.push([name, body]);
      return Promise.resolve({ ...world.cluster, ...body });
    },
    apply: (_kind: unknown, { metadata, ...body }: KubeObject, { subresource }: { subresource?: string }) =>
      Promise.resolve(writes.push([metadata?.name, metadata, subresource, body])),
  };
  const context = { now: () => sampleNow };
  try {
    await carryOut(action, executionOf(assess(world, sampleNow), { api } as never, context as never));
  } catch (error) {
    if (!(error instanceof NotYet)) throw error;
    writes.push("not yet");
  }
  return writes;
}

const [member, uid] = [sampleName("a"), "uid-of-demo-a"];

describe("of certificates it is written on a pod", () => {
  test("what it trusts", async () => {
    const tls = { trusts: { peer: "p" }, anchors: { peer: "q", client: "r" }, presents: {} };
    assert.deepEqual(await writesOf({ do: "noteTrust", member, uid, tls }, { members: three }), [
      ["demo-a", { metadata: { uid, annotations: trustAnnotations(tls) } }],
    ]);
  });
  test("that its files were renewed", async () =>
    assert.deepEqual(await writesOf({ do: "renewFiles", member, uid, leaves: "x.y" }, { members: three }), [
      ["demo-a", { metadata: { uid, annotations: { [renewedAnnotation]: "x.y" } } }],
    ]));
  test("that it serves clients", async () => {
    const condition = {
      type: servingGate,
      status: "True",
      reason: "Serves",
      lastTransitionTime: "2026-01-31T12:00:00Z",
    };
    assert.deepEqual(await writesOf({ do: "markServing", member, uid }, { members: three }), [
      ["demo-a", { namespace: "shop", name: "demo-a", uid }, "status", { status: { conditions: [condition] } }],
    ]);
  });
});

describe("first members are let start", () => {
  const restoring = (uids: Readonly<Record<string, string>>): SampleWorld => {
    const members = ["demo-a", "demo-b"].map((name) => ({
      name,
      peerUrl: `http://${name}`,
      ...(uids[name] !== undefined && { pod: uids[name] }),
    }));
    const plan = JSON.stringify({
      job: { do: "restore", sha256: "" },
      mounts: [],
      policy: {},
      together: 2,
      beginning: { attempt: 0, members },
    });
    const restore = { name: "again", uid: "r2", phase: "Seeding", plan };
    return { unrecorded: true, status: { restore, clusterId: undefined, phase: "Creating" }, etcd: "silent" };
  };
  const podOf = (name: string, ...gates: string[]): Pod => ({
    metadata: { name, uid: `uid-of-${name}`, resourceVersion: "7" },
    spec: { containers: [], schedulingGates: gates.map((gate) => ({ name: gate })) },
  });
  const both = ["a", "b"].map((letter) => ({ name: sampleName(letter), uid: `uid-of-demo-${letter}` }));
  const written = { "demo-a": "uid-of-demo-a", "demo-b": "uid-of-demo-b" };
  const open = (name: string) => [name, { metadata: { uid: `uid-of-${name}` }, spec: { schedulingGates: null } }];

  test("when their uids are in the status, which is written once", async () => {
    const pods = [podOf("demo-a", firstMembersGate), podOf("demo-b", firstMembersGate)];
    const [status, ...opened] = await writesOf({ do: "startFirstMembers", pods: both }, restoring({}), pods);
    assert.match(JSON.stringify(status), /uid-of-demo-a.*uid-of-demo-b/);
    assert.deepEqual(opened, [open("demo-a"), open("demo-b")]);
    assert.deepEqual(await writesOf({ do: "startFirstMembers", pods: both }, restoring(written), pods), [
      open("demo-a"),
      open("demo-b"),
    ]);
  });

  test("and gates of others stay", async () => {
    const pods = [podOf("demo-a", "queue.example/admission", firstMembersGate), podOf("demo-b", firstMembersGate)];
    const [first] = await writesOf({ do: "startFirstMembers", pods: both }, restoring(written), pods);
    assert.deepEqual(first, [
      "demo-a",
      {
        metadata: { uid: "uid-of-demo-a", resourceVersion: "7" },
        spec: { schedulingGates: [{ name: "queue.example/admission" }] },
      },
    ]);
  });

  test("not before all of them are there, and not another pod of that name", async () => {
    assert.deepEqual(await writesOf({ do: "startFirstMembers", pods: both.slice(0, 1) }, restoring({})), ["not yet"]);
    const another = [{ ...podOf("demo-a"), metadata: { name: "demo-a", uid: "another" } }];
    assert.deepEqual(await writesOf({ do: "startFirstMembers", pods: both.slice(0, 1) }, restoring(written), another), [
      "not yet",
    ]);
  });
});
