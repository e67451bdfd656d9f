// Which node the volume of a member that waits cannot do without: as the volume says, else as the scheduler does.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { NodeSelectorTerm } from "kubernetes-types/core/v1.js";
import { Store } from "../../kube/cache/store.ts";
import type { KubeApi } from "../../kube/client/api.ts";
import { ApiError } from "../../kube/client/errors.ts";
import type { Node, PersistentVolumeClaim } from "../../kube/objects/kinds.ts";
import { homeless } from "../testing/plan-table.ts";
import { samplePod } from "../testing/sample-world.ts";
import { saysThatVolumeFitsNowhere, volumeNode } from "./volume-nodes.ts";
import type { MemberPod, PodNode } from "./world.ts";

const silentSince = "2026-01-31T11:00:00Z";
const silent: PodNode = { t: "silent", name: "n2", since: Date.parse(silentSince) };
const nowhere = "Unschedulable: 0/2 nodes are available: 2 node(s) had volume node affinity conflict";

function nodes(): Store<Node> {
  const store = new Store<Node>();
  store.put({ metadata: { name: "n1" } });
  const conditions = [{ type: "Ready", status: "Unknown", lastTransitionTime: silentSince }];
  store.put({ metadata: { name: "n2" }, status: { conditions } });
  return store;
}

const onHost = (...values: string[]): NodeSelectorTerm => ({
  matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values }],
});
const inZone: NodeSelectorTerm = {
  matchExpressions: [{ key: "topology.kubernetes.io/zone", operator: "In", values: ["a"] }],
};

interface Case {
  /** As the scheduler wrote it; absent: nothing. */
  readonly madeFor?: string;
  /** The volume's; absent: it may not be read. */
  readonly terms?: readonly NodeSelectorTerm[];
  readonly pod?: Partial<MemberPod>;
  readonly message?: string;
  readonly mayNotSeeNodes?: true;
  /** The volume is not even asked for. */
  readonly unasked?: true;
}

async function read({ madeFor, terms, pod, message, mayNotSeeNodes, unasked }: Case): Promise<PodNode> {
  const claim: PersistentVolumeClaim = {
    metadata: { annotations: madeFor === undefined ? {} : { "volume.kubernetes.io/selected-node": madeFor } },
    spec: { volumeName: "pv-1" },
  };
  let asked = 0;
  const get = (): Promise<object> => {
    asked += 1;
    if (terms === undefined) return Promise.reject(new ApiError(403, "Forbidden", ""));
    return Promise.resolve({ spec: { nodeAffinity: { required: { nodeSelectorTerms: terms } } } });
  };
  const api = { get } as unknown as KubeApi;
  const waiting = samplePod("demo-a", {
    ...homeless,
    node: { t: "none" },
    ...(message !== undefined && { state: { t: "pending", problem: message } }),
    ...pod,
  });
  const { signal } = new AbortController();
  const seen = await volumeNode(claim, waiting, { api, signal, nodes: mayNotSeeNodes ? undefined : nodes() });
  if (unasked) assert.equal(asked, 0);
  return seen;
}

const anywhere: PodNode = { t: "none" };
const gone = (name: string): PodNode => ({ t: "gone", name });

describe("the volume of a member that waits for a node", () => {
  const rows: readonly (readonly [string, Case, PodNode])[] = [
    ["can be used anywhere where it says nothing, though the node is gone", { madeFor: "n9", terms: [] }, anywhere],
    ["can be used in its zone, though the node is gone", { madeFor: "n9", terms: [inZone] }, anywhere],
    [
      "can be used in its zone, though no node is there now",
      { madeFor: "n9", terms: [inZone], message: nowhere },
      anywhere,
    ],
    ["is gone with the node that it is local to", { madeFor: "n9", terms: [onHost("n9")] }, gone("n9")],
    ["is silent with the node that it is local to", { madeFor: "n2", terms: [onHost("n2")] }, silent],
    ["is silent, not gone, when one of its two nodes is", { madeFor: "n9", terms: [onHost("n9", "n2")] }, silent],
    ["can be used on another of its nodes", { madeFor: "n9", terms: [onHost("n9"), onHost("n1")] }, anywhere],
    [
      "can be used where only one of its terms asks for the node",
      { madeFor: "n9", terms: [onHost("n9"), inZone] },
      anywhere,
    ],
    [
      "is gone with the node that it names by a label of its driver",
      {
        madeFor: "n9",
        terms: [{ matchExpressions: [{ key: "topology.topolvm.io/node", operator: "In", values: ["n9"] }] }],
      },
      gone("n9"),
    ],
    [
      "is not given up for a host name that is no name of a node",
      { madeFor: "n9", terms: [onHost("ip-10-0-0-9")] },
      anywhere,
    ],
    [
      "is gone with such a host when the scheduler says so, too",
      { madeFor: "n9", terms: [onHost("ip-10-0-0-9")], message: nowhere },
      gone("n9"),
    ],
    ["is not given up where it may not be read", { madeFor: "n9" }, anywhere],
    ["is gone where it may not be read and the scheduler says so", { madeFor: "n9", message: nowhere }, gone("n9")],
    [
      "is gone where not even nodes can be seen and the scheduler says so",
      { madeFor: "n9", mayNotSeeNodes: true, message: nowhere, unasked: true },
      gone("n9"),
    ],
    ["is not asked for where nodes cannot be seen", { madeFor: "n9", mayNotSeeNodes: true, unasked: true }, anywhere],
    ["is not asked for while its node is there", { madeFor: "n1", terms: [onHost("n1")], unasked: true }, anywhere],
    ["is not asked for where nobody wrote its node down", { terms: [onHost("n9")], unasked: true }, anywhere],
    [
      "is gone where nobody wrote its node down and the scheduler says so",
      { terms: [onHost("n9")], message: nowhere },
      gone(""),
    ],
    [
      "is not asked for while its member has a node",
      { madeFor: "n9", terms: [onHost("n9")], pod: { state: { t: "starting" } }, unasked: true },
      anywhere,
    ],
    [
      "is not asked for while its pod goes",
      { madeFor: "n9", terms: [onHost("n9")], pod: { terminating: true }, unasked: true },
      anywhere,
    ],
  ];
  for (const [what, given, wanted] of rows) test(what, async () => assert.deepEqual(await read(given), wanted));
});

describe("the scheduler says that a volume fits nowhere", () => {
  const rows: readonly (readonly [string, boolean])[] = [
    ["0/3 nodes are available: 3 node(s) had volume node affinity conflict.", true],
    [
      "0/2 nodes are available: 2 node(s) didn't match PersistentVolume's node affinity. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
      true,
    ],
    [
      "0/2 nodes are available: 2 node(s) didn't satisfy plugin(s) [VolumeBinding]. no new claims to deallocate, preemption: 0/2 nodes are available",
      true,
    ],
    [
      "0/3 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 2 node(s) had volume node affinity conflict.",
      true,
    ],
    [
      "0/3 nodes are available: 1 node(s) had untolerated taint {node.kubernetes.io/unreachable: }, 2 node(s) had volume node affinity conflict.",
      false,
    ],
    ["0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had volume node affinity conflict.", false],
    ["0/3 nodes are available: 3 Insufficient memory.", false],
    ["0/1 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }.", false],
    ["", false],
  ];
  for (const [message, wanted] of rows)
    test(`${wanted ? "yes" : "no"}: ${message}`, () => {
      assert.equal(saysThatVolumeFitsNowhere(`Unschedulable: ${message}`), wanted);
      assert.equal(saysThatVolumeFitsNowhere(`Unschedulable: ${message.replace(/\.$/, "")}`), wanted);
    });
});
