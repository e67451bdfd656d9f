// What is done about the objects around the members, and about pods that run, besides the members themselves.
import { clientService, disruptionBudget, peerService } from "../objects/services.ts";
import { settingsOf } from "../objects/settings.ts";
import type { ImageCheck, ImageCheckState, MemberPod } from "../observe/world.ts";
import { check, going, gone, three, voter } from "../testing/plan-table.ts";
import { sampleClaim, type SampleMember, type SampleWorld, sampleCluster, sampleNow } from "../testing/sample-world.ts";

const { spec: wanted, ...service } = clientService(sampleCluster({}));
const { spec: peer } = peerService(sampleCluster({}));
const ports = (peer?.ports ?? []).slice(0, 1);
const port = { name: "extra", port: 9999 };
const client = (spec: object | undefined): SampleWorld => ({
  members: three,
  change: { clientService: { ...service, ...(spec && { spec }) } },
});
const { spec: budget } = disruptionBudget(sampleCluster({}), 2);

check("a Service or a budget", [
  ["is right with all that is wanted and more", client({ ...wanted, ports: [port, ...(wanted?.ports ?? [])] }), []],
  ["is wrong without one of its ports", client({ ...wanted, ports: [port] }), ["client service"]],
  [
    "is wrong with one of its two ports",
    { members: three, change: { peerService: { spec: { ...peer, ports } } } },
    ["peer service"],
  ],
  ["is wrong without its ports", client({ ...wanted, ports: undefined }), ["client service"]],
  ["is wrong with another selector", client({ ...wanted, selector: { app: "another" } }), ["client service"]],
  ["is wrong without a selector", client({ ...wanted, selector: null }), ["client service"]],
  ["is wrong with nothing in it", client(undefined), ["client service"]],
  [
    "is wrong with another number",
    { members: three, change: { budget: { spec: { ...budget, minAvailable: 1 } } } },
    ["budget 2"],
  ],
]);

check("the peer Service, where it is missing,", [
  [
    "comes before a pod that is made",
    { members: [voter("a"), voter("b")], change: { peerService: undefined } },
    ["peer service", "add learner new1", "pod new1"],
  ],
  [
    "comes after what makes no pod",
    { members: [voter("a"), voter("b"), gone("c")], change: { peerService: undefined } },
    ["remove c", "peer service"],
  ],
]);

const ending: Partial<MemberPod> = { ...going, state: { t: "ended", problem: "Evicted" } };
const on = (pod: Partial<MemberPod>, spec: object = {}): SampleWorld => ({
  size: 4,
  spec,
  members: [...three, voter("d", { pod })],
});
check("labels that a pod is found by", [
  ["come back", on({ labelled: false }), ["label d"]],
  [
    "do not come back to one that goes",
    { ...on({}), members: three, size: 3, orphans: [{ labelled: false, ...going }] },
    [],
  ],
]);

const memory = (limit: string) => ({ limits: { memory: limit }, requests: { memory: limit } });
const more = { pod: { resources: { limits: { memory: "2Gi" } } } };
const small: Partial<MemberPod> = { resources: memory("1Gi") };
const orphan = (pod: Partial<MemberPod>, spec: object): SampleWorld => ({ spec, members: three, orphans: [pod] });
check("resources of the spec", [
  ["are given to a pod that runs", on(small, more), ["resize d"]],
  [
    "are not asked for again, whatever admission made of them",
    on({ ...small, madeFrom: settingsOf(sampleCluster({ spec: more }).spec) }, more),
    [],
  ],
  ["are not given to one that goes", orphan({ ...small, ...going }, more), []],
  ["are not given to one that has ended and goes", orphan({ ...small, ...ending }, more), []],
  [
    "are not given to one that has ended",
    orphan({ ...small, state: { t: "ended", problem: "Evicted" } }, more),
    ["delete orphan"],
  ],
]);

const secret = { pod: { etcdEnv: [{ name: "TOKEN", value: "hunter2" }] } };
/** As releases before wrote them. */
const plain = JSON.stringify(secret);
check("values of variables in the settings that a release before wrote", [
  ["are taken away from a pod that runs", on({ madeFrom: plain }, secret), ["relabel d"]],
  [
    "are taken away from the claim of a member that is gone",
    {
      members: three,
      change: { claims: [sampleClaim("demo-x", { role: "retired", madeFrom: plain })] },
    },
    ["settings on the claim of x"],
  ],
  ["are not there any more", on({ madeFrom: settingsOf(sampleCluster({ spec: secret }).spec) }, secret), []],
]);

const labels = { pod: { labels: { team: "db" } } };
const before: Partial<MemberPod> = { madeFrom: settingsOf(sampleCluster({}).spec) };
check("labels of the spec", [
  ["are given to a pod that runs", on(before, labels), ["relabel d"]],
  ["are not given to one that goes", orphan({ ...before, ...going }, labels), []],
  [
    "are not given to one that has ended",
    orphan({ ...before, state: { t: "ended", problem: "Evicted" } }, labels),
    ["delete orphan"],
  ],
]);

const changedFrom = { version: "3.6.15", image: "quay.io/coreos/etcd:v3.6.15", restarts: 0 };
const restarted: Partial<MemberPod> = { changedFrom, state: { t: "running", restarts: 1 } };
const changed = (pod: Partial<MemberPod>, differs: Partial<SampleMember> = {}): SampleWorld => ({
  members: [voter("a"), voter("b"), voter("c", { pod, ...differs })],
});
check("a change of an image", [
  ["is confirmed when the member serves in it", changed(restarted), ["confirm c"]],
  ["is not confirmed before it serves", changed(restarted, { silent: true }), []],
  ["is not confirmed before it was restarted", changed({ changedFrom }), []],
  ["is not confirmed while it serves in another version", changed(restarted, { version: "3.6.15" }), []],
  ["is not confirmed of one that goes", changed({ ...restarted, ...going }), ["remove c"]],
]);

const old: Partial<SampleMember> = {
  version: "3.6.15",
  pod: { version: "3.6.15", image: "quay.io/coreos/etcd:v3.6.15" },
};
const tried = (state: ImageCheckState, differs: Partial<ImageCheck> = {}): SampleWorld => ({
  members: [voter("a"), voter("b"), voter("c", old)],
  change: {
    imageChecks: [
      {
        name: "check-c",
        uid: "u",
        createdAt: sampleNow - 1000,
        terminating: false,
        node: "node-of-demo-c",
        image: "quay.io/coreos/etcd:v3.6.16",
        state,
        ...differs,
      },
    ],
  },
});
const again = "try quay.io/coreos/etcd:v3.6.16 on node-of-demo-c";
check("a pod that tries an image", [
  ["is left alone while it runs", tried({ t: "running" }), []],
  ["is left alone for two minutes", tried({ t: "running" }, { createdAt: sampleNow - 120_000 }), []],
  ["is deleted after two minutes", tried({ t: "running" }, { createdAt: sampleNow - 120_001 }), ["delete check-c"]],
  [
    "is kept however old it is once the version is known",
    tried({ t: "found", version: "3.6.16" }, { createdAt: sampleNow - 3_600_000 }),
    ["change c from 3.6.15 to 3.6.16"],
  ],
  ["is read when it has ended", tried({ t: "ended" }), ["read check-c"]],
  ["is not deleted twice", tried({ t: "ended" }, { terminating: true }), [again]],
  ["is deleted when it tries another image", tried({ t: "ended" }, { image: "another" }), [again, "delete check-c"]],
  ["is deleted when no member is on its node", tried({ t: "ended" }, { node: "another" }), [again, "delete check-c"]],
]);
