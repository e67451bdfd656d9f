// Members that certificates keep apart: who is started again, in which order, and what is waited for.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { anchorsIn, bundleFingerprint } from "../../tls/ca-bundle.ts";
import { type Authority, makeAuthority, makeLeaf } from "../../tls/make.ts";
import type { KeyPair } from "../../tls/pem.ts";
import { certificatesIn } from "../../tls/pem.ts";
import { assess } from "../assess/assess.ts";
import { plainText, type PodTls } from "../objects/tls.ts";
import type { MemberPod, ClusterWorld } from "../observe/world.ts";
import { conclusionsOf } from "../report/conditions.ts";
import { inWords } from "../testing/actions-in-words.ts";
import { gone, voter } from "../testing/plan-table.ts";
import { type SampleWorld, sampleNow, sampleWorld } from "../testing/sample-world.ts";
import { writeBundle } from "../../tls/pem.ts";
import { planCluster } from "./plan.ts";

let [old, current]: Authority[] = [];
let pair: KeyPair;
before(async () => {
  [old, current] = await Promise.all([makeAuthority("old", sampleNow), makeAuthority("current", sampleNow)]);
  const names = ["*.demo.shop.svc", "*.demo.shop.svc.cluster.local"];
  pair = await makeLeaf(current, { commonName: "p", names, use: "both" }, sampleNow);
});

type Reads = "old" | "current";

const speaking = (reads: Reads): PodTls => {
  const ca = (reads === "old" ? old : current)?.cert ?? "";
  return { ...plainText, peer: "tls", trusts: { peer: bundleFingerprint(ca) }, anchors: { peer: anchorsIn(ca) } };
};

const pod = (reads: Reads, more: Partial<MemberPod> = {}): Partial<MemberPod> => ({ tls: speaking(reads), ...more });

/** `brought`: letters of those whose kubelets have brought the certificate that is there. */
function worldOf(pods: Record<string, Partial<MemberPod>>, brought: string, sample: SampleWorld = {}): ClusterWorld {
  const bundle = { ca: current?.cert ?? "", pair };
  const members = Object.entries(pods).map(([letter, pod]) => voter(letter, { pod }));
  const world = sampleWorld({ spec: { TLS: { static: { member: { peerSecret: "peers" } } } }, members, ...sample });
  const seen = (fingerprint: string) => ({ peer: { cert: pair.cert, fingerprint, notAfter: sampleNow + 1 } });
  const expected = certificatesIn(pair.cert)?.[0].fingerprint256 ?? "";
  return {
    ...world,
    tls: {
      ...world.tls,
      given: { peer: { t: "there", name: "peers", data: writeBundle("peer", bundle) } },
      kept: { peer: { bundle, graceFrom: 0 } },
      presented: new Map(
        Object.keys(pods).map((one) => [`uid-of-demo-${one}`, seen(brought.includes(one) ? expected : "other")]),
      ),
    },
  };
}

const planned = (world: ClusterWorld): readonly string[] =>
  inWords(planCluster(assess(world, sampleNow)).decisions[0].actions);

for (const etcd of [undefined, "noQuorum", "silent"] as const)
  describe(`members that are kept apart (${etcd ?? "quorum"})`, () => {
    const sample = etcd === undefined ? {} : { etcd };
    const rows: [string, () => ClusterWorld, string[]][] = [
      [
        "are started again one after another, the leader last",
        () => worldOf({ a: pod("old"), b: pod("old"), c: pod("old") }, "abc", sample),
        [etcd === undefined ? "start b again" : "start a again"],
      ],
      [
        "wait for their certificates",
        () => worldOf({ a: pod("current"), b: pod("old"), c: pod("old") }, "a", sample),
        [],
      ],
      [
        "wait for one that has not begun again",
        () =>
          worldOf(
            {
              a: pod("current", { startedAgain: { restarts: 0, under: "anotherName" } }),
              b: pod("old"),
              c: pod("old"),
            },
            "abc",
            sample,
          ),
        [],
      ],
      [
        "wait for one that starts",
        () =>
          worldOf(
            {
              a: pod("current", {
                startedAgain: { restarts: 0, under: "anotherName" },
                state: { t: "starting" },
              }),
              b: pod("old"),
              c: pod("old"),
            },
            "abc",
            sample,
          ),
        [],
      ],
      [
        "do not wait for one that runs again, though it serves nobody yet",
        () =>
          worldOf(
            {
              a: pod("current", {
                startedAgain: { restarts: 0, under: "anotherName" },
                state: { t: "running", restarts: 1 },
              }),
              b: pod("old"),
              c: pod("old"),
            },
            "abc",
            sample,
          ),
        ["start b again"],
      ],
      [
        "get the image back under its name, if the node does not find it under the other",
        () =>
          worldOf(
            {
              a: pod("current", {
                startedAgain: { restarts: 0, under: "anotherName" },
                state: { t: "starting", problem: "ErrImagePull" },
              }),
              b: pod("old"),
              c: pod("old"),
            },
            "abc",
            sample,
          ),
        ["start a again"],
      ],
      [
        "on a node that nobody hears of hold up nobody",
        () => {
          const node = { t: "silent", name: "n", since: sampleNow - 1000 } as const;
          return worldOf({ a: pod("old", { node }), b: pod("current"), c: pod("old") }, "abc", sample);
        },
        ["start c again"],
      ],
    ];
    for (const [name, world, wanted] of rows) test(name, () => assert.deepEqual(planned(world()), wanted));
  });

test("of members that are kept apart one goes first that serves nobody", () => {
  const pods = { a: pod("old"), b: pod("old"), c: pod("old") };
  const members = [voter("a", { pod: pods.a }), voter("b", { pod: pods.b }), voter("c", { pod: pods.c, silent: true })];
  assert.deepEqual(planned(worldOf(pods, "abc", { members })), ["start c again"]);
});

test("one that is lost is taken out while the others wait for their certificates", () => {
  const pods = { a: pod("current"), b: pod("old"), c: pod("current") };
  const members = [voter("a", { pod: pods.a }), voter("b", { pod: pods.b }), gone("c")];
  assert.deepEqual(planned(worldOf(pods, "a", { members })), ["remove c"]);
});

test("members that trust what is in use are left alone", () =>
  assert.deepEqual(planned(worldOf({ a: pod("current"), b: pod("current"), c: pod("current") }, "abc")), []));

test("one whose port cannot be looked at is told to bring its files first", () => {
  const unseen = (renewed?: string): ClusterWorld => {
    const more = renewed === undefined ? {} : { renewed };
    const world = worldOf({ a: pod("old", more) }, "a", { size: 1 });
    return { ...world, tls: { ...world.tls, presented: new Map() } };
  };
  assert.deepEqual(planned(unseen()), []);
  const { upkeep } = planCluster(assess(unseen(), sampleNow));
  const told = upkeep.find((action) => action.do === "renewFiles");
  assert.ok(told?.do === "renewFiles");
  assert.deepEqual(planned(unseen(told.leaves)), ["start a again"]);
});

test("the status says that they are apart, and never that they come by themselves", () => {
  const said = (sample: SampleWorld): string[] => {
    const world = worldOf({ a: pod("old"), b: pod("old"), c: pod("old") }, "", sample);
    const outcome = { did: [], decision: { actions: [], because: "" }, obstacle: undefined, passed: [] };
    const all = conclusionsOf(assess(world, sampleNow), outcome);
    return ["Ready", "CertificatesValid", "Available"].map((type) => {
      const { status, reason, message } = all.find((one) => one.type === type) ?? {};
      return `${status} ${reason}: ${message}`;
    });
  };
  const [ready = "", valid = "", available = ""] = said({
    etcd: "silent",
    status: { voters: ["demo-a", "demo-b", "demo-c"] },
  });
  assert.match(ready, /^False MembersApart: 0 of 3 voters answer.*demo-a, demo-b, demo-c.*started again in their pods/);
  assert.match(valid, /^False MembersApart: demo-a/);
  assert.match(available, /^False QuorumLost: .*keep their data/);
  assert.doesNotMatch(ready + available, /by itself/);
  const spec = { TLS: { static: { member: { peerSecret: "peers" } } }, paused: true };
  assert.match(said({ spec })[1] ?? "", /paused, so nothing is done about it: set spec.paused to false/);
});
