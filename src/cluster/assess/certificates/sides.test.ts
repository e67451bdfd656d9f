// What is concluded on each side, of peers and of clients: who is kept apart, of whom nothing is known, whom a written Secret
// would set apart, and what expires.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { addToBundle, anchorsIn, bundleFingerprint, signerOf } from "../../../tls/ca-bundle.ts";
import { makeAuthority, makeLeaf } from "../../../tls/make.ts";
import { writeBundle } from "../../../tls/pem.ts";
import { keyNamesOf } from "../../objects/secrets.ts";
import { plainText, type PodTls } from "../../objects/tls.ts";
import { leafFingerprint } from "../../observe/tls.ts";
import type { ClusterWorld, GivenSecret, KeptLeaf, MemberPod } from "../../observe/world.ts";
import { voter } from "../../testing/plan-table.ts";
import { sampleNow, samplePod, sampleWorld } from "../../testing/sample-world.ts";
import { type Certificates, certificatesOf, clientSecretOpens } from "./certificates.ts";

const day = 86_400_000;
const [before, now] = await Promise.all([makeAuthority("before", sampleNow), makeAuthority("now", sampleNow)]);
const names = ["*.demo.shop.svc", "*.demo.shop.svc.cluster.local"];
const leafOf = async (ca: typeof now, at = sampleNow): Promise<KeptLeaf> => {
  const pair = await makeLeaf(ca, { commonName: "c", names, use: "both" }, at);
  return { bundle: { ca: ca.cert, pair }, graceFrom: 0 };
};
const [ofNow, ofBefore, others, aged] = await Promise.all([
  leafOf(now),
  leafOf(before),
  leafOf(now),
  leafOf(now, sampleNow - 70 * day),
]);
const [old, current] = [anchorsIn(before.cert), anchorsIn(now.cert)];
const kept = { peer: ofNow, server: ofNow, operator: ofNow };
const expected = leafFingerprint(ofNow.bundle);

const forAll = {
  TLS: { static: { member: { peerSecret: "peers", serverSecret: "servers" }, operatorSecret: "operator" } },
};

interface Given {
  readonly tls?: Partial<PodTls>;
  readonly pod?: Partial<MemberPod>;
  readonly kept?: ClusterWorld["tls"]["kept"];
  readonly given?: ClusterWorld["tls"]["given"];
  readonly seen?: { readonly peer?: string; readonly client?: string };
  readonly spec?: object;
  readonly change?: Partial<ClusterWorld["tls"]>;
}

/** One member, whose ports present certificates with these fingerprints. */
function worldOf({ tls, pod, spec = forAll, seen = {}, change, ...secrets }: Given): ClusterWorld {
  const world = sampleWorld({
    spec,
    size: 1,
    members: [voter("a", { pod: { tls: { ...plainText, ...tls }, ...pod } })],
  });
  const presentedOn = (fingerprint: string) => ({
    cert: ofNow.bundle.pair.cert,
    fingerprint,
    notAfter: sampleNow + 90 * day,
  });
  const presented = {
    ...(seen.peer !== undefined && { peer: presentedOn(seen.peer) }),
    ...(seen.client !== undefined && { client: presentedOn(seen.client) }),
  };
  return {
    ...world,
    tls: { ...world.tls, kept, given: {}, presented: new Map([["uid-of-demo-a", presented]]), ...secrets, ...change },
  };
}

const seenIn = (given: Given): Certificates => certificatesOf(worldOf(given), sampleNow);

describe("a member is kept apart", () => {
  const apart = (given: Given): unknown =>
    seenIn(given).apart.map(({ files, tls }) => [files, Object.keys(tls.trusts)]);
  const peers = { tls: { peer: "tls", anchors: { peer: old } } } as const;
  const clients = { tls: { client: true, anchors: { client: old } } } as const;
  const both = { tls: { peer: "tls", client: true, anchors: { peer: old, client: old } } } as const;
  const files = { peer: expected, client: expected };
  const table: readonly (readonly [string, Given, unknown])[] = [
    ["from its peers", { ...peers, seen: files }, [["there", ["peer"]]]],
    [
      "from its peers, whom it reaches by TLS and who reach it without",
      { ...peers, tls: { ...peers.tls, peer: "ready" }, seen: files },
      [["there", ["peer"]]],
    ],
    ["from the operator", { ...clients, seen: files }, [["there", ["client"]]]],
    ["from both", { ...both, seen: files }, [["there", ["peer", "client"]]]],
    [
      "on one side, though it speaks on both",
      { tls: { ...both.tls, anchors: { peer: current, client: old } }, seen: files },
      [["there", ["peer", "client"]]],
    ],
    ["and waits for its files", { ...peers, seen: { peer: "other" } }, [["onTheirWay", ["peer"]]]],
    [
      "and waits for the files of the other side",
      { ...both, seen: { peer: expected, client: "other" } },
      [["onTheirWay", ["peer", "client"]]],
    ],
    [
      "and waits for no files of a side on which it is not apart",
      { tls: { ...both.tls, anchors: { peer: old, client: current } }, seen: { peer: expected, client: "other" } },
      [["there", ["peer", "client"]]],
    ],
    ["and has yet to be asked for its files, where nobody can look", peers, [["onTheirWay", ["peer"]]]],
    ["not, where it speaks plain text", { tls: { anchors: { peer: old, client: old } } }, []],
    ["not, where it trusts what is in use", { tls: { ...both.tls, anchors: { peer: current, client: current } } }, []],
    ["not, as far as is known, where nobody knows what it trusts", { tls: { peer: "tls", client: true } }, []],
    ["not, where there is no certificate of peers", { ...peers, kept: { server: ofNow, operator: ofNow } }, []],
    ["not, where servers have no certificate", { ...clients, kept: { operator: ofNow } }, []],
    ["not, where the operator has no certificate", { ...clients, kept: { server: ofNow } }, []],
    [
      "not by a certificate that nobody trusts",
      { ...peers, kept: { peer: { ...ofNow, bundle: { ...ofNow.bundle, ca: before.cert } } } },
      [],
    ],
    ["not, before it runs", { ...peers, pod: { state: { t: "starting" } } }, []],
    ["not, while it goes", { ...peers, pod: { terminating: true } }, []],
  ];
  for (const [what, given, wanted] of table) test(what, () => assert.deepEqual(apart(given), wanted));

  test("and reads what is there when it is started again", () => {
    const [one] = seenIn({ ...both, seen: files }).apart;
    const sides = <T>(value: T) => ({ peer: value, client: value });
    assert.deepEqual(one?.tls, {
      trusts: sides(bundleFingerprint(now.cert)),
      anchors: sides(current),
      presents: sides(signerOf(ofNow.bundle.pair.cert, now.cert)),
    });
  });

  test("and is asked once to bring its files", () => {
    const [stale] = seenIn(peers).stale;
    assert.ok(stale);
    assert.deepEqual(apart({ ...peers, pod: { renewed: stale.leaves } }), [["there", ["peer"]]]);
    assert.deepEqual(seenIn({ ...peers, pod: { renewed: stale.leaves } }).stale, []);
  });
});

describe("a pod of which it is not known what it trusts", () => {
  const noted = (given: Given): unknown => seenIn(given).unknown.map(({ tls }) => Object.keys(tls.trusts));
  const known = bundleFingerprint(now.cert);
  const table: readonly (readonly [string, Given, unknown])[] = [
    ["is noted on both sides", { tls: { peer: "tls", client: true } }, [["peer", "client"]]],
    ["is noted on the side of clients alone", { tls: { client: true } }, [["client"]]],
    [
      "is noted on the one side that is not known",
      { tls: { peer: "tls", client: true, trusts: { peer: "old" }, anchors: { peer: old } } },
      [["client"]],
    ],
    [
      "is noted where its CAs are, because they are those that are there",
      { tls: { peer: "tls", client: true, trusts: { peer: known, client: "old" }, anchors: {} } },
      [["peer"]],
    ],
    [
      "is not noted where its CAs may be others",
      { tls: { peer: "tls", client: true, trusts: { peer: "old", client: "old" }, anchors: {} } },
      [],
    ],
    ["is not noted without a certificate of peers", { tls: { peer: "tls" }, kept: { server: ofNow } }, []],
    ["is not noted without one of servers", { tls: { client: true }, spec: {}, kept: { operator: ofNow } }, []],
    [
      "is not noted, again and again, where a pod that is made now would trust nobody",
      { tls: { peer: "ready", client: true }, spec: {} },
      [],
    ],
    ["is not noted where it speaks plain text", { tls: {} }, []],
    [
      "is not noted while something is to be written",
      { tls: { peer: "tls" }, given: { peer: there("peer", others) } },
      [],
    ],
  ];
  for (const [what, given, wanted] of table) test(what, () => assert.deepEqual(noted(given), wanted));

  test("keeps what is known of what it presents", () => {
    const [one] = seenIn({ tls: { peer: "tls", presents: { peer: "another" } } }).unknown;
    assert.deepEqual(one?.tls.presents, { peer: "another" });
  });
});

function there(use: "peer" | "server" | "operator", { bundle }: KeptLeaf): GivenSecret {
  return { t: "there", name: use, data: writeBundle(keyNamesOf(use), bundle) };
}

describe("a Secret in the place of one that was lost", () => {
  const given = { peer: there("peer", ofNow), server: there("server", ofNow), operator: there("operator", ofNow) };
  const setting = (tls: Partial<PodTls>, more: Given = {}): unknown => [
    ...seenIn({ tls, given, kept: {}, ...more }).setsApart,
  ];
  const table: readonly (readonly [string, Partial<PodTls>, unknown, Given?])[] = [
    ["of peers sets those apart that trust another CA", { peer: "tls", anchors: { peer: old } }, ["peer"]],
    ["of servers sets those apart that trust another CA", { client: true, anchors: { client: old } }, ["server"]],
    [
      "sets nobody apart that trusts its CA",
      { peer: "tls", client: true, anchors: { peer: current, client: current } },
      [],
    ],
    [
      "sets nobody apart that trusts its CA, too",
      { peer: "tls", client: true, anchors: { peer: `${old}.${current}`, client: `${old}.${current}` } },
      [],
    ],
    ["sets nobody apart of whom nothing is known", { peer: "tls", client: true }, []],
    ["sets nobody apart who speaks plain text", { anchors: { peer: old, client: old } }, []],
    [
      "sets nobody apart who has ended",
      { peer: "tls", anchors: { peer: old } },
      [],
      { pod: { state: { t: "ended", problem: "Evicted" } } },
    ],
    [
      "does, whatever trusts it on the other side",
      { peer: "tls", client: true, anchors: { peer: old, client: current } },
      ["peer"],
    ],
  ];
  for (const [what, tls, wanted, more] of table) test(what, () => assert.deepEqual(setting(tls, more), wanted));

  test("of peers is judged by the CA of its certificate, whatever other CAs are in it", () => {
    const both = { ...ofNow, bundle: { ...ofNow.bundle, ca: addToBundle(now.cert, before.cert) } };
    const lost = { given: { peer: there("peer", both) } };
    assert.deepEqual(setting({ peer: "tls", anchors: { peer: old } }, lost), ["peer"]);
  });

  test("is written at once on both sides of clients: neither is of use without the other", () =>
    assert.deepEqual([...seenIn({ given, kept: {} }).writes.keys()], ["peer", "server", "operator"]));

  test("is another matter than one that is there: its CA is taken over step by step", () =>
    assert.deepEqual(
      setting(
        { peer: "tls", client: true, anchors: { peer: old, client: old } },
        { kept: { peer: ofBefore, server: ofBefore, operator: ofBefore } },
      ),
      [],
    ));
});

test("another CA waits for members that trust the one before, and not for one that has ended", () => {
  const both = { ...ofBefore, bundle: { ...ofBefore.bundle, ca: addToBundle(before.cert, now.cert) } };
  const changed = (pod: Partial<MemberPod>): readonly string[] => [
    ...seenIn({
      tls: { peer: "tls", trusts: { peer: bundleFingerprint(before.cert) } },
      pod,
      given: { peer: there("peer", ofNow) },
      kept: { peer: both },
    }).writes.keys(),
  ];
  assert.deepEqual(changed({}), []);
  assert.deepEqual(changed({ state: { t: "ended", problem: "Evicted" } }), ["peer"]);
});

describe("a kubelet is told to bring a certificate", () => {
  const told = (given: Given): boolean => seenIn(given).stale.length > 0;
  const tls = { peer: "tls", client: true, anchors: { peer: current, client: current } } as const;
  const table: readonly (readonly [string, Given, boolean])[] = [
    ["where peers see another one", { tls, seen: { peer: "other", client: expected } }, true],
    ["where clients see another one", { tls, seen: { peer: expected, client: "other" } }, true],
    ["not where both see what is there", { tls, seen: { peer: expected, client: expected } }, false],
    ["not where nobody can look", { tls }, false],
    ["not where there is none", { tls, seen: { client: "other" }, kept: { peer: ofNow } }, false],
  ];
  for (const [what, given, wanted] of table) test(what, () => assert.equal(told(given), wanted));

  test("once for the certificates of both sides", () => {
    const [first] = seenIn({ tls, seen: { peer: "other" } }).stale;
    const short = expected.replaceAll(":", "").slice(0, 12).toLowerCase();
    assert.equal(first?.leaves, `${short}.${short}`);
  });
});

describe("what expires", () => {
  const inUse = (given: Given): unknown =>
    seenIn(given).inUse.map(({ use, source, warning }) => [use, source, warning ?? "none"].join(" "));
  const all = { peer: aged, server: aged, operator: aged, client: aged };
  const authorities = { "peer-ca": { cert: now.cert, leaves: {} } };
  test("of given certificates is warned of from thirty days on; there is none for applications", () =>
    assert.deepEqual(inUse({ kept: all, change: { authorities } }), [
      "peer given 30d",
      "server given 30d",
      "operator given 30d",
    ]));
  test("of made ones is renewed by then, and CAs count, too", () =>
    assert.deepEqual(inUse({ kept: all, spec: { TLS: { auto: true } }, change: { authorities } }), [
      "peer made none",
      "server made none",
      "operator made none",
      "client made none",
      "peer-ca made none",
    ]));
  test("is what the member presents whose certificate expires first", () => {
    const world = worldOf({ tls: { peer: "tls" } });
    const pods = ["demo-a", "demo-b", "demo-c"].map((name) => samplePod(name, {}));
    const [a, b, c] = [5, 2, 9].map((days) => ({ cert: "", fingerprint: "", notAfter: sampleNow + days * day }));
    const presented = new Map([a, b, c].map((peer, n) => [pods[n]?.uid ?? "", { ...(peer && { peer }) }] as const));
    const [first] = certificatesOf({ ...world, pods, tls: { ...world.tls, presented } }, sampleNow).inUse;
    assert.deepEqual([first?.presentedBy, first?.notAfter], ["demo-b", sampleNow + 2 * day]);
  });
  test("and cannot be read counts for nothing", () =>
    assert.deepEqual(
      inUse({
        kept: { peer: { bundle: { ca: "", pair: { cert: "", key: "" } }, graceFrom: 0 } },
        tls: { peer: "tls" },
      }),
      [],
    ));
});

describe("certificates are looked at", () => {
  test("where members speak TLS and nobody asks for it any more", () => {
    assert.equal(seenIn({ spec: {}, tls: { client: true }, change: { readable: false } }).pods, undefined);
    assert.equal(seenIn({ spec: {}, tls: { peer: "ready" }, change: { readable: false } }).pods, undefined);
  });
  test("where it is asked for on one side", () => {
    const peers = { TLS: { static: { member: { peerSecret: "peers" } } } };
    const clients = { TLS: { static: { member: { serverSecret: "servers" }, operatorSecret: "operator" } } };
    for (const spec of [peers, clients])
      assert.match(seenIn({ spec, change: { readable: false } }).blocked ?? "", /cannot read Secrets/);
  });
  test("nowhere else", () => assert.deepEqual(seenIn({ spec: {}, change: { readable: false } }).pods, plainText));
});

describe("the Secret of applications opens the members", () => {
  const client = { peer: ofNow, server: ofNow, operator: ofNow, client: others };
  const opens = (given: Given): boolean => clientSecretOpens(worldOf({ kept: client, ...given }));
  const both = addToBundle(now.cert, before.cert);
  const table: readonly (readonly [string, Given, boolean])[] = [
    ["where all trust each other", { tls: { client: true, anchors: { client: current } } }, true],
    ["as far as is known", { tls: { client: true } }, true],
    ["not where one trusts another CA", { tls: { client: true, anchors: { client: old } } }, false],
    ["where the one that trusts another speaks plain text to clients", { tls: { anchors: { client: old } } }, true],
    [
      "where the one that trusts another has ended",
      { tls: { client: true, anchors: { client: old } }, pod: { state: { t: "ended", problem: "" } } },
      true,
    ],
    [
      "not where they do not trust the servers",
      { kept: { ...client, client: ofBefore }, tls: { client: true } },
      false,
    ],
    ["not without it", { kept: { server: ofNow } }, false],
    ["not without servers", { kept: { client: others } }, false],
    [
      "by a CA that only servers know of",
      {
        kept: {
          ...client,
          client: { ...ofBefore, bundle: { ...ofBefore.bundle, ca: both } },
          server: { ...ofNow, bundle: { ...ofNow.bundle, ca: both } },
        },
        tls: { client: true, anchors: { client: old } },
      },
      true,
    ],
  ];
  for (const [what, given, wanted] of table) test(what, () => assert.equal(opens(given), wanted));
});
