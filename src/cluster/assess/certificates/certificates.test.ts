// What is concluded about certificates: what is wrong with those that were given, what is written next, what a pod speaks.
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { before, describe, test } from "node:test";
import { type Authority, makeAuthority, makeLeaf } from "../../../tls/make.ts";
import { anchorsIn, bundleFingerprint, signerOf } from "../../../tls/ca-bundle.ts";
import type { Bundle, KeyPair } from "../../../tls/pem.ts";
import { writeBundle } from "../../../tls/pem.ts";
import { namesToMake, plainText, type PodTls, rotateCaAnnotation } from "../../objects/tls.ts";
import type { GivenSecret, KeptLeaf, MemberPod, ClusterWorld } from "../../observe/world.ts";
import { three, voter } from "../../testing/plan-table.ts";
import { type SampleWorld, sampleNow, samplePod, sampleWorld } from "../../testing/sample-world.ts";
import { planCluster } from "../../plan/plan.ts";
import { inWords } from "../../testing/actions-in-words.ts";
import { assess } from "../assess.ts";
import { certificatesOf } from "./certificates.ts";
import { outdatedTls, podTlsFor, podTlsOf } from "./pod-tls.ts";

const day = 86_400_000;
const members = ["*.demo.shop.svc", "*.demo.shop.svc.cluster.local"];
let ca: Authority;
let other: Authority;
let peerPair: KeyPair;
let renewed: KeyPair;

before(async () => {
  [ca, other] = await Promise.all([makeAuthority("one", sampleNow), makeAuthority("two", sampleNow)]);
  const request = { commonName: "peer", names: members, use: "both" } as const;
  [peerPair, renewed] = await Promise.all([makeLeaf(ca, request, sampleNow), makeLeaf(ca, request, sampleNow)]);
});

const forPeers = { TLS: { static: { member: { peerSecret: "peers" } } } };
const there = (bundle: Bundle): GivenSecret => ({ t: "there", name: "peers", data: writeBundle("peer", bundle) });
const kept = (bundle: Bundle): KeptLeaf => ({ bundle, graceFrom: 0 });

function worldOf(sample: SampleWorld, tls: Partial<ClusterWorld["tls"]>): ClusterWorld {
  const world = sampleWorld(sample);
  return { ...world, tls: { ...world.tls, ...tls } };
}

const speaking = (peer: PodTls["peer"], trusts: PodTls["trusts"] = {}): { tls: PodTls } => ({
  tls: { ...plainText, peer, trusts },
});

describe("a given Secret that cannot be used", () => {
  const problemsOf = (given: GivenSecret, members = three) => {
    const world = worldOf({ spec: forPeers, members }, { given: { peer: given } });
    return certificatesOf(world, sampleNow);
  };
  const table: [string, () => GivenSecret, string][] = [
    ["is missing", () => ({ t: "absent", name: "peers" }), "missing"],
    ["may not be read", () => ({ t: "forbidden", name: "peers" }), "forbidden"],
    ["is half", () => ({ t: "there", name: "peers", data: { "peer.crt": peerPair.cert } }), "incomplete"],
    ["has another key", () => there({ ca: ca.cert, pair: { cert: peerPair.cert, key: renewed.key } }), "mismatched"],
    ["is of another CA", () => there({ ca: other.cert, pair: peerPair }), "untrusted"],
  ];
  for (const [what, given, wanted] of table)
    test(`${what}: it is reported, and nothing is written`, () => {
      const { problems, writes, pods, unfinished } = problemsOf(given());
      assert.deepEqual([problems.map(({ t }) => t), writes.size], [[wanted], 0]);
      assert.equal(pods?.peer, "plain", "what serves stays as it is");
      assert.match(unfinished ?? "", /no certificates/);
    });

  test("keeps a new cluster from being made, and says why", () => {
    const given: GivenSecret = { t: "absent", name: "peers" };
    const world = worldOf({ spec: forPeers, etcd: "nobody", unrecorded: true }, { given: { peer: given } });
    const { decisions } = planCluster(assess(world, sampleNow));
    assert.deepEqual(decisions[0].actions, []);
    assert.match(decisions[0].because, /The Secret peers does not exist/);
  });

  test("of peers without a name that DNS would give is wrong, too", async () => {
    const pair = await makeLeaf(ca, { commonName: "p", names: ["*.demo.shop.svc"], use: "both" }, sampleNow);
    assert.deepEqual(
      problemsOf(there({ ca: ca.cert, pair })).problems.map(({ t }) => t),
      ["wrongNames"],
    );
  });
});

describe("what the Secret of peers holds next", () => {
  const writesOf = (given: Bundle, effective: Bundle | undefined, pods: Partial<PodTls>[]) => {
    const sample = {
      spec: forPeers,
      members: pods.map((tls, i) => voter("abc"[i] ?? "z", { pod: { tls: { ...plainText, ...tls } } })),
    };
    const world = worldOf(sample, {
      given: { peer: there(given) },
      ...(effective && { kept: { peer: kept(effective) } }),
    });
    return certificatesOf(world, sampleNow);
  };

  test("what was given, where there is none yet", () => {
    const given = { ca: ca.cert, pair: peerPair };
    assert.deepEqual(writesOf(given, undefined, []).writes.get("peer")?.bundle, given);
  });

  test("a renewed leaf at once", () => {
    const trusts = { peer: bundleFingerprint(ca.cert) };
    const { writes } = writesOf({ ca: ca.cert, pair: renewed }, { ca: ca.cert, pair: peerPair }, [
      { peer: "tls", trusts },
    ]);
    assert.equal(writes.get("peer")?.bundle.pair.cert, renewed.cert);
  });

  test("with another CA first both, and the leaf of before", async () => {
    const pair = await makeLeaf(other, { commonName: "p", names: members, use: "both" }, sampleNow);
    const trusts = { peer: bundleFingerprint(ca.cert) };
    const { writes } = writesOf({ ca: other.cert, pair }, { ca: ca.cert, pair: peerPair }, [{ peer: "tls", trusts }]);
    const bundle = writes.get("peer")?.bundle;
    assert.equal(bundle?.pair.cert, peerPair.cert);
    assert.equal(bundle?.ca.match(/BEGIN CERTIFICATE/g)?.length, 2);
  });

  test("and nothing more until every member has read both", async () => {
    const pair = await makeLeaf(other, { commonName: "p", names: members, use: "both" }, sampleNow);
    const both = { ca: `${ca.cert}${other.cert}`, pair: peerPair };
    const old = { peer: "tls", trusts: { peer: bundleFingerprint(ca.cert) } } as const;
    const { writes, waits } = writesOf({ ca: other.cert, pair }, both, [old]);
    assert.equal(writes.size, 0);
    assert.match(waits ?? "", /read/);
  });
});

test("a leaf that members have yet to present is looked for every second; one that starts reads what is there", async () => {
  const pair = await makeLeaf(other, { commonName: "p", names: members, use: "both" }, sampleNow);
  const effective = { ca: `${ca.cert}${other.cert}`, pair };
  const trusts = { peer: bundleFingerprint(effective.ca) };
  const old = {
    ...plainText,
    peer: "tls",
    trusts,
    presents: { peer: signerOf(peerPair.cert, effective.ca) },
  } as PodTls;
  const conclusion = (pod: Partial<MemberPod>) => {
    const sample = { spec: forPeers, size: 1, members: [voter("a", { pod: { tls: old, ...pod } })] };
    const tls = { given: { peer: there({ ca: other.cert, pair }) }, kept: { peer: kept(effective) } };
    return certificatesOf(worldOf(sample, tls), sampleNow);
  };
  const runs = conclusion({});
  assert.deepEqual([runs.writes.size, runs.requeueAfter], [0, 1000], runs.waits);
  const starts = conclusion({ state: { t: "starting" } });
  assert.equal(starts.writes.get("peer")?.bundle.ca, other.cert);
});

describe("a pod that presents another certificate than the one in the Secret", () => {
  const staleWith = (pod: Partial<MemberPod>, fingerprint = "other") => {
    const bundle = { ca: ca.cert, pair: peerPair };
    const sample = { spec: forPeers, size: 1, members: [voter("a", { pod: { ...speaking("tls"), ...pod } })] };
    const seen = { cert: renewed.cert, fingerprint, notAfter: sampleNow + day };
    const presented = new Map([["uid-of-demo-a", { peer: seen }]]);
    const world = worldOf(sample, { given: { peer: there(bundle) }, kept: { peer: kept(bundle) }, presented });
    return certificatesOf(world, sampleNow).stale;
  };
  const inSecret = (): string => new X509Certificate(peerPair.cert).fingerprint256;

  test("is told, once", () => {
    const [first] = staleWith({});
    assert.ok(first);
    assert.ok(first.leaves.startsWith(inSecret().replaceAll(":", "").slice(0, 12).toLowerCase()), first.leaves);
    assert.deepEqual(staleWith({ renewed: first.leaves }), []);
  });
  test("is left alone while it goes", () => assert.deepEqual(staleWith({ terminating: true }), []));
  test("is none that presents what is there", () => assert.deepEqual(staleWith({}, inSecret()), []));
});

test("TLS is not finished until pods that are made now speak all that is asked for", () => {
  const bundle = { ca: ca.cert, pair: peerPair };
  const unfinishedWith = (spec: object) => {
    const sample = { spec, size: 1, members: [voter("a", { pod: speaking("tls") })] };
    return certificatesOf(worldOf(sample, { given: { peer: there(bundle) }, kept: { peer: kept(bundle) } }), sampleNow)
      .unfinished;
  };
  assert.equal(unfinishedWith(forPeers), undefined);
  const { peerSecret } = forPeers.TLS.static.member;
  const both = { TLS: { static: { member: { peerSecret, serverSecret: "servers" }, operatorSecret: "operator" } } };
  assert.match(unfinishedWith(both) ?? "", /no certificates for it yet/);
});

test("nothing is written down of a pod that goes, has ended, or is known", () => {
  const bundle = { ca: ca.cert, pair: peerPair };
  const unknownWith = (pod: Partial<MemberPod>) => {
    const sample = { spec: forPeers, size: 1, members: [voter("a", { pod: { ...speaking("tls"), ...pod } })] };
    return certificatesOf(worldOf(sample, { given: { peer: there(bundle) }, kept: { peer: kept(bundle) } }), sampleNow)
      .unknown;
  };
  assert.deepEqual(
    unknownWith({}).map(({ tls }) => tls),
    [
      {
        trusts: { peer: bundleFingerprint(ca.cert) },
        anchors: { peer: anchorsIn(ca.cert) },
        presents: { peer: signerOf(peerPair.cert, ca.cert) },
      },
    ],
  );
  assert.deepEqual(unknownWith({ terminating: true }), []);
  assert.deepEqual(unknownWith({ state: { t: "ended", problem: "Evicted" } }), []);
  assert.deepEqual(unknownWith(speaking("tls", { peer: "known" })), []);
  assert.deepEqual(unknownWith(speaking("plain")), []);
});

test("a pod of another operator is written down as one that has read what is there", () => {
  const bundle = { ca: ca.cert, pair: peerPair };
  const sample = { spec: forPeers, members: [voter("a", { pod: speaking("tls") })], size: 1 };
  const world = worldOf(sample, { given: { peer: there(bundle) }, kept: { peer: kept(bundle) } });
  const { upkeep } = planCluster(assess(world, sampleNow));
  assert.ok(inWords(upkeep).includes("note what a trusts"));
});

describe("certificates that are made", () => {
  const auto = { TLS: { auto: true } };
  const makes = (sample: SampleWorld, tls: Partial<ClusterWorld["tls"]>, annotations?: Record<string, string>) => {
    const world = worldOf({ spec: auto, ...sample }, tls);
    const cluster = { ...world.cluster, metadata: { ...world.cluster.metadata, ...(annotations && { annotations }) } };
    return certificatesOf({ ...world, cluster }, sampleNow).toMake.map(({ authority, what }) => [authority, what]);
  };

  test("begin with two CAs", () =>
    assert.deepEqual(makes({ etcd: "nobody" }, {}), [
      ["peer-ca", "authority"],
      ["client-ca", "authority"],
    ]));

  test("are renewed at two thirds of their life, and CAs when they are asked for", async () => {
    const at = sampleNow - 61 * day;
    const old = await makeAuthority("old", at);
    const names = (await import("../../objects/tls.ts")).namesToMake(sampleWorld({ spec: auto }).cluster, "peer");
    const due = await makeLeaf(old, { commonName: "p", names, use: "both" }, at);
    const fresh = await makeLeaf(old, { commonName: "p", names, use: "both" }, sampleNow);
    const authorities = (pair: KeyPair) => ({ authorities: { "peer-ca": { cert: old.cert, leaves: { peer: pair } } } });
    assert.deepEqual(makes({}, authorities(due))[0], ["peer-ca", ["peer"]]);
    assert.deepEqual(makes({}, authorities(fresh))[0], ["client-ca", "authority"]);
    assert.deepEqual(makes({}, authorities(fresh), { [rotateCaAnnotation]: "now" })[0], ["peer-ca", "authority"]);
    const asked = { authorities: { "peer-ca": { ...authorities(fresh).authorities["peer-ca"], rotated: "now" } } };
    assert.deepEqual(makes({}, asked, { [rotateCaAnnotation]: "now" })[0], ["client-ca", "authority"]);
    assert.deepEqual(makes({}, asked)[0], ["client-ca", "authority"], "who takes the wish back asks for nothing");
  });
});

describe("the CA before", () => {
  const auto = { TLS: { auto: true } };
  const worldWith = async (inUse: "previous" | "current", age = 0, trusted?: string) => {
    const at = sampleNow - age;
    const names = namesToMake(sampleWorld({ spec: auto }).cluster, "peer");
    const request = { commonName: "p", names, use: "both" } as const;
    const [previous, now] = [await makeLeaf(ca, request, at), await makeLeaf(other, request, sampleNow)];
    const authority = {
      cert: other.cert,
      leaves: { peer: now },
      previous: { cert: ca.cert, leaves: { peer: previous } },
    };
    const pair = inUse === "previous" ? previous : now;
    const bundle = { ca: trusted ?? `${ca.cert}${other.cert}`, pair };
    const tls = { authorities: { "peer-ca": authority }, kept: { peer: kept(bundle) } };
    const { toMake } = certificatesOf(worldOf({ spec: auto }, tls), sampleNow);
    return toMake.filter(({ authority }) => authority === "peer-ca").map(({ what, by }) => [what, by]);
  };
  test("renews what is in use, when that is due", async () => {
    assert.deepEqual(await worldWith("previous", 61 * day), [[["peer"], "previous"]]);
    assert.deepEqual(await worldWith("previous"), []);
  });
  test("renews nothing that is not in use any more", async () =>
    assert.deepEqual(await worldWith("current", 61 * day), []));
  test("is forgotten when nobody trusts it any more", async () => {
    assert.deepEqual(await worldWith("current", 0, other.cert), [["withoutPrevious", undefined]]);
    assert.deepEqual(await worldWith("previous", 0, ca.cert), []);
  });
});

describe("what a pod speaks between plain text and TLS", () => {
  const bundle = (): Bundle => ({ ca: ca.cert, pair: peerPair });
  const stepOf = (isAsked: boolean, ...steps: PodTls["peer"][]) => {
    const pods = steps.map((peer, i) => samplePod(`demo-${i}`, speaking(peer)));
    const world = worldOf({ ...(isAsked && { spec: forPeers }), change: { pods } }, { kept: { peer: kept(bundle()) } });
    const made = podTlsOf(world);
    return made.t === "tls" ? made.tls.peer : made.why;
  };
  const table: [boolean, PodTls["peer"][], PodTls["peer"]][] = [
    [true, [], "tls"],
    [true, ["plain", "plain", "plain"], "ready"],
    [true, ["ready", "plain", "plain"], "ready"],
    [true, ["ready", "ready", "ready"], "tls"],
    [true, ["tls", "ready", "ready"], "tls"],
    [false, ["tls", "tls", "tls"], "ready"],
    [false, ["ready", "tls", "tls"], "ready"],
    [false, ["ready", "ready", "ready"], "plain"],
    [false, ["plain", "ready", "ready"], "plain"],
    [false, [], "plain"],
  ];
  for (const [isAsked, steps, wanted] of table)
    test(`${steps.join(", ") || "nobody"}, ${isAsked ? "TLS" : "plain text"} wanted: ${wanted}`, () =>
      assert.equal(stepOf(isAsked, ...steps), wanted));

  test("a member that is listed comes back as it is listed", () => {
    const tls: PodTls = { ...plainText, peer: "tls" };
    assert.equal(podTlsFor(tls, "http://demo-a.demo.shop.svc:2380").peer, "ready");
    assert.equal(podTlsFor(tls, "https://demo-a.demo.shop.svc:2380").peer, "tls");
    assert.equal(podTlsFor(plainText, "https://demo-a.demo.shop.svc:2380").peer, "tls");
    assert.equal(podTlsFor(tls, "unix://demo-a.demo.shop.svc:2380").peer, "tls");
  });

  test("another peer URL takes another member, another CA another pod, and what is not known takes nothing", () => {
    const wanted: PodTls = { ...plainText, peer: "tls", trusts: { peer: "new" } };
    assert.equal(outdatedTls(speaking("ready"), wanted)?.by, "replace");
    assert.equal(outdatedTls(speaking("plain"), { ...wanted, peer: "ready" })?.by, "otherPod");
    assert.deepEqual(outdatedTls(speaking("tls", { peer: "old" }), wanted)?.because, "it has to read the new CA");
    assert.equal(outdatedTls(speaking("tls"), wanted), undefined);
    assert.equal(outdatedTls(speaking("tls", { peer: "new" }), wanted), undefined);
    assert.equal(outdatedTls({ tls: { ...plainText, client: true } }, plainText)?.by, "otherPod");
  });
});

test("expiry is that of what members present, if that is earlier than in the Secret", async () => {
  const soon = await makeLeaf(ca, { commonName: "p", names: members, use: "both" }, sampleNow - 85 * day);
  const bundle = { ca: ca.cert, pair: peerPair };
  const sample = { spec: forPeers, members: [voter("a", { pod: speaking("tls") })], size: 1 };
  const seen = { cert: soon.cert, fingerprint: "other", notAfter: sampleNow + 5 * day };
  const world = worldOf(sample, {
    given: { peer: there(bundle) },
    kept: { peer: kept(bundle) },
    presented: new Map([["uid-of-demo-a", { peer: seen }]]),
  });
  const [first] = certificatesOf(world, sampleNow).inUse;
  assert.deepEqual([first?.use, first?.warning, first?.presentedBy], ["peer", "7d", "demo-a"]);
  assert.ok(signerOf(soon.cert, ca.cert));
  const onClientPort = { ...world.tls, presented: new Map([["uid-of-demo-a", { client: seen }]]) };
  const secured = { ...world, tls: { ...onClientPort, kept: { peer: kept(bundle), server: kept(bundle) } } };
  assert.deepEqual(
    certificatesOf(secured, sampleNow).inUse.map(({ use, presentedBy }) => [use, presentedBy]),
    [
      ["peer", undefined],
      ["server", "demo-a"],
    ],
  );
});

test("a member is marked as serving when it does, once", () => {
  const gated = (servingGate: "open" | "closed") =>
    planCluster(assess(sampleWorld({ members: [voter("a", { pod: { servingGate } })], size: 1 }), sampleNow)).upkeep;
  assert.ok(inWords(gated("closed")).includes("a serves"));
  assert.ok(!inWords(gated("open")).includes("a serves"));
});
