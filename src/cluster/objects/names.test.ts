import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { clientUrlOf, memberName, memberOfPeerUrl, newMemberName, peerUrlOf, seedName } from "./names.ts";
import { sampleCluster } from "../testing/sample-world.ts";

const cluster = sampleCluster({});
const withDomain = sampleCluster({ spec: { pod: { ClusterDomain: "cluster.local" } } });
const member = memberName("demo-x");

describe("names of members", () => {
  test("are the cluster's with ten letters of Kubernetes' alphabet", () => {
    fc.assert(
      fc.property(fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })), (numbers) => {
        const name = newMemberName(cluster, new Set(), () => numbers.next().value ?? 0);
        assert.match(name, /^demo-[bcdfghjklmnpqrstvwxz2456789]{10}$/);
      }),
    );
  });

  test("are never one that is taken", () => {
    const numbers = [...Array<number>(10).fill(0), ...Array<number>(10).fill(0.5)];
    const name = newMemberName(cluster, new Set([memberName("demo-bbbbbbbbbb")]), () => numbers.shift() ?? 0);
    assert.notEqual(name, "demo-bbbbbbbbbb");
  });

  test("give up on randomness that is none", () => {
    assert.throws(() => newMemberName(cluster, new Set([memberName("demo-bbbbbbbbbb")]), () => 0), RangeError);
  });

  test("of the seed is the same for the same cluster and another for its successor of the same name", () => {
    const successor = { ...cluster, metadata: { ...cluster.metadata, uid: "another" } };
    assert.match(seedName(cluster), /^demo-[bcdfghjklmnpqrstvwxz2456789]{10}$/);
    assert.equal(seedName(cluster), seedName(sampleCluster({ size: 5 })));
    assert.notEqual(seedName(cluster), seedName(successor));
  });
});

describe("URLs of members", () => {
  test("are made of the pod's name, the cluster, its namespace and the domain", () => {
    assert.equal(peerUrlOf(cluster, member), "http://demo-x.demo.shop.svc:2380");
    assert.equal(clientUrlOf(withDomain, member), "http://demo-x.demo.shop.svc.cluster.local:2379");
  });

  const read: readonly (readonly [url: string, member: string | undefined])[] = [
    ["http://demo-h5bxlr2vt8.demo.shop.svc:2380", "demo-h5bxlr2vt8"],
    ["https://demo-h5bxlr2vt8.demo.shop.svc:2380", "demo-h5bxlr2vt8"],
    ["http://demo-0000.demo.shop.svc:2380", "demo-0000"],
    ["http://demo-0000.demo.shop.svc.cluster.local:2380", "demo-0000"],
    ["http://demo-0000.demo.shop.svc.k8s.example.org:2380", "demo-0000"],
    ["http://demo-0000.demo.other.svc:2380", undefined],
    ["http://demo-0000.other.shop.svc:2380", undefined],
    ["http://other-0000.demo.shop.svc:2380", undefined],
    ["http://demo-0000.demo.shop:2380", undefined],
    ["http://demo.demo.shop.svc:2380", undefined],
    ["http://10.0.0.7:2380", undefined],
    ["demo-0000.demo.shop.svc:2380", undefined],
    ["", undefined],
  ];
  for (const [url, member] of read)
    test(`${url || "no URL"} ${member === undefined ? "is not ours" : `is ${member}`}`, () => {
      for (const one of [cluster, withDomain]) assert.equal(memberOfPeerUrl(one, url), member);
    });

  test("read back as the member that they were made of", () => {
    for (const one of [cluster, withDomain]) assert.equal(memberOfPeerUrl(one, peerUrlOf(one, member)), member);
  });
});
