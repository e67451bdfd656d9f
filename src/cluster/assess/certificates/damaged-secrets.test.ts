// What follows from a Secret that cannot be used: one of the operator's is written again, one that was given is reported.
import assert from "node:assert/strict";
import { test } from "node:test";
import { bundleFingerprint } from "../../../tls/ca-bundle.ts";
import { makeAuthority, makeLeaf } from "../../../tls/make.ts";
import { writeBundle } from "../../../tls/pem.ts";
import { plainText } from "../../objects/tls.ts";
import type { ClusterWorld } from "../../observe/world.ts";
import { certificatesValid } from "../../report/certificates.ts";
import { voter } from "../../testing/plan-table.ts";
import { sampleNow, sampleWorld } from "../../testing/sample-world.ts";
import { assess } from "../assess.ts";

const [ca, earlier] = await Promise.all([makeAuthority("ca", sampleNow), makeAuthority("earlier", sampleNow)]);
const names = ["*.demo.shop.svc", "*.demo.shop.svc.cluster.local"];
const pair = await makeLeaf(ca, { commonName: "p", names, use: "both" }, sampleNow);
const why = "its key does not belong to its certificate";

function assessed(tls: Partial<ClusterWorld["tls"]>) {
  const spec = { TLS: { static: { member: { peerSecret: "peers" } } } };
  const pod = { tls: { ...plainText, peer: "tls" } as const };
  const world = sampleWorld({ spec, members: [voter("a", { pod })] });
  return assess({ ...world, tls: { ...world.tls, ...tls } }, sampleNow);
}

const given = { peer: { t: "there", name: "peers", data: writeBundle("peer", { ca: ca.cert, pair }) } } as const;

test("a damaged Secret of the operator gets what belongs in it", () => {
  const { certificates } = assessed({ given, damaged: { peer: { why, ca: ca.cert } } });
  assert.deepEqual(certificates.writes.get("peer"), {
    bundle: { ca: ca.cert, pair },
    graceFrom: undefined,
    because: `it was damaged: ${why}`,
  });
});

test("a CA that can still be read in a damaged Secret stays trusted: members may present certificates of it", () => {
  const { certificates } = assessed({ given, damaged: { peer: { why, ca: earlier.cert } } });
  const { bundle } = certificates.writes.get("peer") ?? {};
  assert.equal(bundleFingerprint(bundle?.ca ?? ""), bundleFingerprint(`${earlier.cert}${ca.cert}`));
  assert.deepEqual(bundle?.pair, pair);
});

test("one that there is nothing to repair with is reported", () => {
  const verdict = certificatesValid(assessed({ damaged: { peer: { why } } }));
  assert.equal(verdict?.reason, "Damaged");
  assert.equal(
    verdict?.message,
    `The Secret demo-peer-tls was damaged: ${why}. The operator writes it again as soon as it has what belongs in it.`,
  );
  const repaired = certificatesValid(assessed({ given, damaged: { peer: { why } } }));
  assert.notEqual(repaired?.reason, "Damaged");
});

test("a given one that the API server does not give out is reported, and what is there goes on", () => {
  const unread = { t: "unread", name: "peers", why: "unable to decrypt" } as const;
  const kept = { peer: { bundle: { ca: ca.cert, pair }, graceFrom: 0 } };
  const assessment = assessed({ given: { peer: unread }, kept });
  const verdict = certificatesValid(assessment);
  assert.equal(verdict?.reason, "Unread");
  assert.match(
    verdict?.message ?? "",
    /The Secret peers could not be read: unable to decrypt.*continues with its current certificates/,
  );
  assert.equal(assessment.certificates.pods?.peer, "tls");
});
