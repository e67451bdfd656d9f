// Certificates cover the names under which members are dialled: those in etcd's list and in the pods, whatever the spec says.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { namesNotCovered } from "../../../tls/names.ts";
import { makeAuthority, makeLeaf } from "../../../tls/make.ts";
import { certificatesIn, writeBundle } from "../../../tls/pem.ts";
import { requestFor } from "../../act/on-secrets.ts";
import { plainText } from "../../objects/tls.ts";
import type { ClusterWorld } from "../../observe/world.ts";
import { type SampleMember, sampleNow, type SampleWorld, sampleWorld } from "../../testing/sample-world.ts";
import { assess } from "../assess.ts";
import { namesFor } from "./certificate-names.ts";
import { certificatesOf } from "./certificates.ts";

const ca = await makeAuthority("ca", sampleNow);
const spec = { TLS: { auto: true } };
const tls = { ...plainText, peer: "tls", client: true, made: true } as const;

/** Added while the spec asked for this domain. */
const member = (letter: string, domain: string, silent?: true): SampleMember => ({
  letter,
  domain,
  pod: {
    tls,
    advertises: {
      peer: [`https://demo-${letter}.demo.shop.svc${domain}:2380`],
      client: [`https://demo-${letter}.demo.shop.svc${domain}:2379`],
    },
  },
  ...(silent && { silent }),
});

const made = async (world: ClusterWorld) => {
  const pair = await makeLeaf(ca, requestFor(world.cluster, "peer", namesFor(world, "peer")), sampleNow);
  return { pair, leaf: certificatesIn(pair.cert)?.[0] };
};

async function notCovered(sample: SampleWorld, hosts: readonly string[]): Promise<string[]> {
  const { leaf } = await made(sampleWorld({ spec, ...sample }));
  assert.ok(leaf);
  return namesNotCovered(leaf, hosts);
}

describe("a certificate of peers covers", () => {
  const old = ["demo-a.demo.shop.svc.example.org", "demo-b.demo.shop.svc.example.org"];
  const members = [member("a", ".example.org"), member("b", ".example.org")];

  test("every host in etcd's list, after ClusterDomain was taken away", async () =>
    assert.deepEqual(await notCovered({ members }, [...old, "demo-c.demo.shop.svc"]), []));

  test("what pods were started with, while nobody answers", async () =>
    assert.deepEqual(await notCovered({ members, etcd: "silent" }, old), []));

  test("what a person has listed a member under", async () =>
    assert.deepEqual(
      await notCovered({ members: [{ ...member("a", ""), also: "https://10.1.2.3:2380" }] }, ["10.1.2.3"]),
      [],
    ));

  test("what the one in use covers, while nobody says which names are needed; not longer", async () => {
    const before = await made(sampleWorld({ spec, members }));
    const bare = [{ ...member("a", ""), pod: { tls } }];
    const kept = { peer: { bundle: { ca: ca.cert, pair: before.pair }, graceFrom: 0 } };
    const namesWith = (sample: SampleWorld): readonly string[] => {
      const world = sampleWorld({ spec, members: bare, ...sample });
      return namesFor({ ...world, tls: { ...world.tls, kept } }, "peer");
    };
    assert.ok(namesWith({ etcd: "silent" }).includes("*.demo.shop.svc.example.org"));
    assert.ok(namesWith({ etcd: "noQuorum" }).includes("*.demo.shop.svc.example.org"));
    assert.ok(!namesWith({}).includes("*.demo.shop.svc.example.org"));
  });
});

test("a certificate that does not cover a listed host is made again at once, and the one that is made does", async () => {
  const world = sampleWorld({ spec, members: [member("a", ".example.org"), member("b", "")] });
  const { pair } = await made(sampleWorld({ spec, members: [member("a", "")] }));
  const withLeaf = (leaf: typeof pair): ClusterWorld => ({
    ...world,
    tls: { ...world.tls, authorities: { "peer-ca": { cert: ca.cert, leaves: { peer: leaf } } } },
  });
  const dueOf = (one: ClusterWorld) =>
    certificatesOf(one, sampleNow).toMake.find(({ authority }) => authority === "peer-ca");
  assert.deepEqual(dueOf(withLeaf(pair))?.what, ["peer"]);
  assert.equal(dueOf(withLeaf((await made(world)).pair)), undefined);
});

test("a given certificate must cover the members that are listed, too", async () => {
  const names = ["*.demo.shop.svc", "*.demo.shop.svc.cluster.local"];
  const pair = await makeLeaf(ca, { commonName: "p", names, use: "both" }, sampleNow);
  const data = writeBundle("peer", { ca: ca.cert, pair });
  const given = { peer: { t: "there", name: "peers", data } } as const;
  const TLS = { static: { member: { peerSecret: "peers" } } };
  const problemsWith = (domain: string) => {
    const world = sampleWorld({ spec: { TLS }, members: [member("a", domain)] });
    return assess({ ...world, tls: { ...world.tls, given } }, sampleNow).certificates.problems;
  };
  assert.deepEqual(problemsWith(""), []);
  assert.match(problemsWith(".example.org")[0]?.sentence ?? "", /does not cover \*\.demo\.shop\.svc\.example\.org/);
});
