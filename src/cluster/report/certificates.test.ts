// What the condition CertificatesValid says, and what the status says of certificates: what is worst goes first.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Assessment, assess } from "../assess/assess.ts";
import type { CertificateInUse, Certificates } from "../assess/certificates/certificates.ts";
import { plainText } from "../objects/tls.ts";
import type { ClusterWorld } from "../observe/world.ts";
import { three } from "../testing/plan-table.ts";
import { sampleNow, samplePod, type SampleWorld, sampleWorld } from "../testing/sample-world.ts";
import { certificateStatus, certificatesValid, expiringSentences, keptApartBy } from "./certificates.ts";

const none: Certificates = {
  pods: plainText,
  blocked: undefined,
  unfinished: undefined,
  toMake: [],
  writes: new Map(),
  setsApart: new Set(),
  waits: undefined,
  apart: [],
  unknown: [],
  stale: [],
  problems: [],
  inUse: [],
  requeueAfter: Number.POSITIVE_INFINITY,
};
const auto = { TLS: { auto: true } };
const given = {
  TLS: { static: { member: { peerSecret: "peers", serverSecret: "servers" }, operatorSecret: "operators" } },
};

interface Case extends SampleWorld {
  readonly certificates?: Partial<Certificates>;
  readonly tls?: Partial<ClusterWorld["tls"]>;
}

function assessed({ certificates, tls, ...sample }: Case): Assessment {
  const world = sampleWorld({ spec: auto, members: three, ...sample });
  const of = assess(world, sampleNow);
  return { ...of, world: { ...world, tls: { ...world.tls, ...tls } }, certificates: { ...none, ...certificates } };
}

const inUse = (warning?: CertificateInUse["warning"], more: Partial<CertificateInUse> = {}): CertificateInUse => ({
  use: "peer",
  source: "made",
  notBefore: sampleNow - 1000,
  notAfter: sampleNow + 1000,
  warning,
  ...more,
});
const apart: Certificates["apart"] = [
  { pod: samplePod("demo-a", {}), tls: { trusts: {}, anchors: {}, presents: {} }, files: "there" },
];
const problem = { use: "peer", secret: "peers", t: "missing", sentence: "There is no Secret peers." } as const;
const damaged = { damaged: { peer: { why: "its key is another's" } } };
const lost = { setsApart: new Set(["peer"] as const) };
const soon = { inUse: [inUse("7d")] };

describe("the condition CertificatesValid", () => {
  const table: readonly (readonly [string, Case, RegExp | undefined])[] = [
    ["is not there without TLS", { spec: {} }, undefined],
    [
      "is there while certificates are in use that nobody asks for any more",
      { spec: {}, certificates: { inUse: [inUse()] } },
      /^True Valid: $/,
    ],
    [
      "is there where peers alone speak TLS",
      { spec: { TLS: { static: { member: { peerSecret: "p" } } } } },
      /^True Valid/,
    ],
    [
      "is there where clients alone speak TLS",
      { spec: { TLS: { static: { member: { serverSecret: "s" }, operatorSecret: "o" } } } },
      /^True Valid/,
    ],
    ["is true where all is well", { certificates: { inUse: [inUse()] } }, /^True Valid: $/],
    [
      "names a Secret that is missing, what goes on, and what expires",
      { certificates: { problems: [problem], ...soon } },
      /^False Missing: There is no Secret peers\. It is not used: the cluster continues with its current certificates\. The peer certificate expires in less than 7 days, at 2026-01-31T12:00:01Z\.$/,
    ],
    [
      "says that no member is created where none can be",
      { certificates: { problems: [problem], pods: undefined } },
      /peers\. No member is created until that is corrected\.$/,
    ],
    [
      "says nothing of a cluster that has yet to begin",
      { members: [], etcd: "nobody", certificates: { problems: [problem] } },
      /^False Missing: There is no Secret peers\.$/,
    ],
    [
      "names what was lost and is not written while the cluster is paused",
      { spec: { ...auto, paused: true }, certificates: { ...lost, apart } },
      /^False Missing: Secrets are missing: demo-peer-tls\..*set spec\.paused to false\.$/,
    ],
    [
      "names what was lost and is not written while the spec is wrong",
      { certificates: lost, change: { problems: ["wrong"], pods: [] } },
      /^False Missing: .*correct the spec\.$/,
    ],
    ["says nothing of what was lost and is written", { certificates: lost }, /^True Valid/],
    [
      "names members that are kept apart, before what is damaged",
      { certificates: { apart }, tls: damaged },
      /^False MembersApart: demo-a: .*one after another, and keep their data\.$/,
    ],
    [
      "says that nothing is done about it while the cluster is paused",
      { spec: { ...auto, paused: true }, certificates: { apart } },
      /^False MembersApart: .*set spec\.paused to false\.$/,
    ],
    [
      "names a Secret that there is nothing to repair with",
      { tls: damaged, certificates: soon },
      /^False Damaged: The Secret \S+ was damaged: its key is another's\..*expires in less than 7 days/,
    ],
    ["names a given one, too", { spec: given, tls: damaged }, /^False Damaged/],
    [
      "names none of applications where certificates are given",
      { spec: given, tls: { damaged: { client: damaged.damaged.peer } } },
      /^True Valid/,
    ],
    [
      "names none that is made again",
      {
        tls: { damaged: { "peer-ca": damaged.damaged.peer } },
        certificates: { toMake: [{ authority: "peer-ca", what: "authority", because: "" }] },
      },
      /^True TakingOver: .*Secrets are being written/,
    ],
    [
      "names none that is written again",
      {
        tls: damaged,
        certificates: {
          writes: new Map([
            ["peer", { bundle: { ca: "", pair: { cert: "", key: "" } }, graceFrom: undefined, because: "" }],
          ]),
        },
      },
      /^True TakingOver/,
    ],
    [
      "is false where one has expired",
      { certificates: { inUse: [inUse("1d"), inUse("expired", { use: "server" })] } },
      /^False Expired: .*in less than a day.* The server certificate expired at /,
    ],
    [
      "warns before",
      { certificates: { inUse: [inUse("30d")], waits: "a roll" } },
      /^True ExpiresSoon: The peer certificate expires in less than 30 days/,
    ],
    [
      "is false where there is none yet",
      { certificates: { blocked: "there are no certificates for peers yet", waits: "x" } },
      /^False NotYet: Not there yet: there are no certificates for peers yet\.$/,
    ],
    [
      "says what a change waits for",
      { certificates: { waits: "members read both CAs" } },
      /^True TakingOver: Certificates are being changed: members read both CAs\.$/,
    ],
  ];
  for (const [what, one, wanted] of table)
    test(what, () => {
      const verdict = certificatesValid(assessed(one));
      const said = verdict && `${verdict.status} ${verdict.reason}: ${verdict.message}`;
      if (wanted === undefined) assert.equal(said, undefined);
      else assert.match(said ?? "", wanted);
    });
});

test("where to renew a certificate is said of those that a person gave", () => {
  const said = (one: CertificateInUse, spec: object = given): string =>
    expiringSentences(assessed({ spec, certificates: { inUse: [one] } })).join();
  assert.match(said(inUse("7d")), /: renew it in the Secret peers\.$/);
  assert.match(said(inUse("7d", { use: "server" })), /: renew it in the Secret servers\.$/);
  assert.match(said(inUse("7d", { use: "operator" })), /: renew it in the Secret operators\.$/);
  assert.match(said(inUse("7d", { use: "peer-ca" })), /in less than 7 days, at \S+Z\.$/);
  assert.match(said(inUse("7d"), auto), /in less than 7 days, at \S+Z\.$/);
  assert.match(
    said(inUse("7d", { presentedBy: "demo-a" })),
    /that demo-a presents .*its pod does not have the one in demo-/,
  );
});

test("members are kept from each other by another CA, or by certificates that have expired", () => {
  const by = (certificates: Partial<Certificates>): string | undefined => keptApartBy(assessed({ certificates }));
  assert.equal(by({}), undefined);
  assert.equal(by(soon), undefined);
  assert.match(by({ inUse: [inUse("expired"), inUse("7d")] }) ?? "", /^The peer certificate expired at \S+Z\.$/);
  assert.match(by({ apart, inUse: [inUse("expired")] }) ?? "", /^demo-a: etcd started with another CA/);
});

test("the status has the dates of what is in use, and no Secret of applications before it opens a door", () => {
  const status = certificateStatus(assessed({ certificates: { inUse: [inUse()] } }));
  const dates = { notBefore: "2026-01-31T11:59:59Z", notAfter: "2026-01-31T12:00:01Z" };
  assert.deepEqual(status, { certificates: [{ use: "peer", ...dates }] });
  assert.deepEqual(certificateStatus(assessed({})), {});
});
