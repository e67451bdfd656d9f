// What pods that are made now speak towards clients, and what is gone by where the spec is wrong or nobody says how members
// are listed. The steps between plain text and TLS among peers are in certificates.test.ts.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { makeAuthority, makeLeaf } from "../../../tls/make.ts";
import { plainText, type PodTls } from "../../objects/tls.ts";
import type { KeptLeaf, ClusterWorld } from "../../observe/world.ts";
import { freshClaim, sampleClaim, sampleNow, samplePod, sampleWorld } from "../../testing/sample-world.ts";
import { podTlsOf } from "./pod-tls.ts";

const ca = await makeAuthority("ca", sampleNow);
const pair = await makeLeaf(ca, { commonName: "c", names: ["localhost"], use: "both" }, sampleNow);
const leaf: KeptLeaf = { bundle: { ca: ca.cert, pair }, graceFrom: 0 };

function worldOf(
  spec: object,
  pods: readonly Partial<PodTls>[],
  kept: ClusterWorld["tls"]["kept"],
  change: Partial<ClusterWorld> = {},
) {
  const world = sampleWorld({ spec });
  return {
    ...world,
    pods: pods.map((tls, i) => samplePod(`demo-${i}`, { tls: { ...plainText, ...tls } })),
    tls: { ...world.tls, kept },
    ...change,
  };
}

describe("towards clients", () => {
  const forClients = { TLS: { static: { member: { serverSecret: "servers" }, operatorSecret: "operator" } } };
  const [plain, secured] = [{ client: false }, { client: true }];
  const both = { server: leaf, operator: leaf };
  const table: [string, object, Partial<PodTls>[], ClusterWorld["tls"]["kept"], boolean | "none"][] = [
    ["TLS is asked for, and certificates are there", forClients, [], both, true],
    ["TLS is asked for, and members without it run", forClients, [plain, plain], both, true],
    ["there are no certificates, and nobody runs", forClients, [], {}, "none"],
    ["the operator has no certificate, and nobody runs", forClients, [], { server: leaf }, "none"],
    ["servers have no certificate, and nobody runs", forClients, [], { operator: leaf }, "none"],
    ["the operator has no certificate, and members run without", forClients, [plain, plain], { server: leaf }, false],
    ["servers have no certificate, and members run without", forClients, [plain, plain], { operator: leaf }, false],
    [
      "the operator has no certificate, and one member runs with TLS",
      forClients,
      [plain, secured],
      { server: leaf },
      "none",
    ],
    ["TLS is asked for no more", {}, [secured, secured], both, false],
  ];
  for (const [what, spec, pods, kept, wanted] of table)
    test(`${what}: ${wanted === "none" ? "no pod is made" : wanted ? "TLS" : "plain text"}`, () => {
      const made = podTlsOf(worldOf(spec, pods, kept));
      assert.equal(made.t === "tls" ? made.tls.client : made.t, wanted);
    });
});

test("while the spec is wrong, a new pod speaks TLS as soon as one of the others does", () => {
  const problems = ["Mend it."];
  const kept = { peer: leaf, server: leaf, operator: leaf };
  const mixed = podTlsOf(worldOf({}, [{ peer: "tls", client: true }, { peer: "ready" }], kept, { problems }));
  assert.deepEqual(mixed.t === "tls" && [mixed.tls.peer, mixed.tls.client], ["tls", true]);
  const plain = podTlsOf(worldOf({ TLS: { auto: true } }, [{}, {}], kept, { problems }));
  assert.deepEqual(plain.t === "tls" && [plain.tls.peer, plain.tls.client], ["plain", false]);
});

test("where nobody says how members are listed, claims of members that have started do", () => {
  const stepWith = (claims: ClusterWorld["claims"]) => {
    const { etcd } = sampleWorld({ etcd: "nobody" });
    const made = podTlsOf(worldOf({}, [], { peer: leaf }, { claims, etcd }));
    return made.t === "tls" ? made.tls.peer : made.why;
  };
  assert.equal(stepWith([sampleClaim("demo-a", { peers: "https" })]), "ready");
  assert.equal(stepWith([sampleClaim("demo-a")]), "plain");
  assert.equal(stepWith([freshClaim("demo-a", { peers: "https" })]), "plain");
  assert.equal(stepWith([sampleClaim("demo-a", { peers: "https", role: "retired" })]), "plain");
});
