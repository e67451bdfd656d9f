// What is written down: the status, the events that go with it, and the metrics. The API server here only says yes or no.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { EtcdClusterStatus } from "../../api/etcd-cluster/etcd-cluster.ts";
import { ApiError } from "../../kube/client/errors.ts";
import type { NewEvent } from "../../kube/objects/event-object.ts";
import { Registry } from "../../kube/process/metrics.ts";
import { makeAuthority, makeLeaf } from "../../tls/make.ts";
import { type Bundle, writeBundle } from "../../tls/pem.ts";
import { executionOf } from "../act/execution.ts";
import type { ClusterOutcome } from "../act/outcome.ts";
import { assess } from "../assess/assess.ts";
import { ClusterMetrics } from "../metrics.ts";
import { gone, three, voter } from "../testing/plan-table.ts";
import { type SampleWorld, sampleNow, sampleWorld } from "../testing/sample-world.ts";
import { report } from "./report.ts";
import type { Reported } from "../../controllers/report-status.ts";

const done: ClusterOutcome = { did: [], decision: { actions: [], because: "a test" }, obstacle: undefined, passed: [] };

interface Told {
  readonly reported: Reported;
  readonly events: readonly string[];
  readonly notes: readonly string[];
  readonly metrics: string;
  /** What was written of the status. */
  readonly status: EtcdClusterStatus;
}

async function told(sample: SampleWorld, refusal?: Error): Promise<Told> {
  const recorded: NewEvent[] = [];
  const registry = new Registry();
  const context = {
    caches: () => ({ clusters: { get: () => undefined } }),
    events: { record: (_kind: unknown, _object: unknown, event: NewEvent) => recorded.push(event) },
    metrics: new ClusterMetrics(registry),
    now: () => sampleNow,
  };
  let status: EtcdClusterStatus = {};
  const mergePatch = (_kind: unknown, _key: unknown, body: { status: EtcdClusterStatus }): Promise<object> => {
    ({ status } = body);
    return refusal === undefined ? Promise.resolve({}) : Promise.reject(refusal);
  };
  const api = { mergePatch };
  const assessment = assess(sampleWorld(sample), sampleNow);
  const reported = await report(executionOf(assessment, { api } as never, context as never), done);
  const [events, notes] = [recorded.map(({ reason }) => reason), recorded.map(({ note }) => note)];
  return { reported, events, notes, metrics: registry.text(), status };
}

/** As it was found last time. */
function was(type: string, status: "True" | "False", reason: string, message = "") {
  const lastTransitionTime = new Date(sampleNow - 42_000).toISOString();
  return {
    conditions: [{ type, status, reason, message, lastTransitionTime, observedGeneration: 1 }],
    observedGeneration: 1,
  };
}

describe("a status that the API server does not take", () => {
  const wrong: SampleWorld = { members: three, change: { problems: ["Mend it."] } };
  const outdated = [new ApiError(409, "Conflict", ""), new ApiError(404, "NotFound", "")];
  for (const error of outdated)
    test(`is left to the next reconcile when it answers ${error.reason}`, async () => {
      assert.equal((await told({ members: three }, error)).reported, "outdated");
    });
  test("is reported by an event when the object itself is at fault", async () => {
    const { reported, events } = await told(wrong, new ApiError(422, "Invalid", ""));
    assert.deepEqual([reported, events], ["refused", ["Invalid Spec"]]);
  });
  test("is a failure when the object is not known to be at fault, or when something else is", async () => {
    await assert.rejects(told({ members: three }, new ApiError(422, "Invalid", "")));
    await assert.rejects(told(wrong, new ApiError(500, "InternalError", "")));
  });
});

describe("an event", () => {
  const wrong = (problem: string, generation: number, status: object): SampleWorld => {
    const { cluster } = sampleWorld({ members: three, status });
    const edited = { ...cluster, metadata: { ...cluster.metadata, generation } };
    return { members: three, change: { cluster: edited, problems: [problem] } };
  };
  const invalid = was("Ready", "False", "InvalidSpec", "Mend it.");
  const table: [string, SampleWorld, string[]][] = [
    ["comes when something turns for the worse", wrong("Mend it.", 1, {}), ["Invalid Spec"]],
    ["does not come again while it is the same", wrong("Mend it.", 1, invalid), []],
    ["does not come again when an edit has changed nothing about it", wrong("Mend it.", 2, invalid), []],
    ["does not come again when only the words have changed", wrong("Mend that.", 1, invalid), []],
    ["comes again when an edit has made it wrong in another way", wrong("Mend that.", 2, invalid), ["Invalid Spec"]],
    ["tells of an even size", { size: 2, members: [voter("a"), voter("b")] }, ["Even Size"]],
    [
      "tells of an even size once",
      { size: 2, members: [voter("a"), voter("b")], status: { observedGeneration: 1 } },
      [],
    ],
    ["tells of no odd size", { members: three }, []],
    ["tells of a version with a known bug", { version: "3.5.2", members: three }, ["Version Unsafe"]],
    [
      "tells of such a version before there is a member",
      { version: "3.5.2", size: 3, members: [] },
      ["Version Unsafe"],
    ],
    ["tells of such a version once", { version: "3.5.2", members: three, status: { observedGeneration: 1 } }, []],
    [
      "tells of one that is refused as such",
      { version: "3.5.2", members: ["a", "b", "c"].map((name) => voter(name, { says: { version: "3.5.35" } })) },
      ["Version Refused"],
    ],
    ["tells of no size that is none", { size: 0, members: [] }, []],
  ];
  for (const [what, sample, wanted] of table)
    test(what, async () => assert.deepEqual((await told(sample)).events, wanted));

  test("says of an even size which one is as good", async () => {
    const { notes } = await told({ size: 4, members: [...three, voter("d")] });
    assert.deepEqual(notes, ["4 members survive the loss of no more than 3 do: choose an odd size."]);
  });
});

test("a status has no text that a terminal obeys, whatever a member calls itself", async () => {
  const { status } = await told({ members: [voter("a"), voter("b"), voter("c\u001B[2J\u009B")] });
  assert.match(JSON.stringify(status), /c�\[2J�/);
  assert.doesNotMatch(JSON.stringify(status), /\\u001b|\u009B/);
});

describe("metrics", () => {
  test("tell how large the databases are, may become, and how much room they have", async () => {
    const { metrics } = await told({ members: [voter("a", { claim: {} }), voter("b"), voter("c")] });
    const said = ["db_size", "db_quota", "volume_size"].map(
      (what) => new RegExp(`_cluster_${what}_bytes.* (\\d+)$`, "m").exec(metrics)?.[1],
    );
    assert.deepEqual(said, ["20480", String(2 * 2 ** 30), String(4 * 2 ** 30)]);
    assert.doesNotMatch((await told({ members: three })).metrics, /volume_size_bytes\{/);
  });

  const samplesOf = (metrics: string, what: string): string[] =>
    metrics
      .split("\n")
      .filter((line) => line.startsWith(`etcd_operator_cluster_${what}{`))
      .map((line) => line.replace('etcd_cluster="demo",namespace="shop"', "").replace("etcd_operator_cluster_", ""));

  test("tell how many members there are, are wanted and are healthy, and what the members say", async () => {
    const { metrics } = await told({ members: [voter("a"), voter("b", { alarm: "noSpace" }), gone("c")] });
    const said = ["members_wanted", "members_healthy", "voters", "members_updated", "rolling", "alarms"].flatMap(
      (what) => samplesOf(metrics, what),
    );
    assert.deepEqual(said, [
      "members_wanted{} 3",
      "members_healthy{} 2",
      "voters{} 3",
      "members_updated{} 2",
      "rolling{} 0",
      'alarms{,type="noSpace"} 1',
      'alarms{,type="corrupt"} 0',
    ]);
  });

  test("tell each condition with its reason, and only the present one", async () => {
    const registry = new Registry();
    const clusters = new ClusterMetrics(registry);
    const key = { namespace: "shop", name: "demo" };
    const counted = { wanted: 3, healthy: 3, voters: 3, updated: 3, rolling: false, alarms: {} };
    for (const [status, reason] of [
      ["False", "Scaling"],
      ["True", "AllMembersReady"],
    ] as const)
      clusters.membersOf(key, { ...counted, conditions: [{ type: "Ready", status, reason }] });
    assert.deepEqual(samplesOf(registry.text(), "condition"), ['condition{,reason="AllMembersReady",type="Ready"} 1']);
    clusters.forget(key);
    assert.deepEqual(samplesOf(registry.text(), "condition"), []);
  });

  test("tell that members are changed one after another, unless nobody does it", async () => {
    const old = [voter("a"), voter("b"), voter("c")].map((member) => ({ ...member, version: "3.5.35" }));
    const outdated = old.map((member) => ({ ...member, pod: { ...member.pod, version: "3.5.35", image: "old" } }));
    const rollingIn = async (spec: object) =>
      samplesOf((await told({ members: outdated, spec })).metrics, "rolling").join("");
    assert.equal(await rollingIn({}), "rolling{} 1");
    assert.equal(await rollingIn({ updateStrategy: "OnDelete" }), "rolling{} 0");
    assert.equal(await rollingIn({ paused: true }), "rolling{} 0");
  });

  test("keep what was last known of the members while nobody answers, and say that none is healthy", async () => {
    const registry = new Registry();
    const clusters = new ClusterMetrics(registry);
    const key = { namespace: "shop", name: "demo" };
    const known = { wanted: 3, healthy: 3, voters: 3, updated: 3, rolling: false, alarms: {}, conditions: [] };
    clusters.membersOf(key, known);
    clusters.membersOf(key, { ...known, healthy: 0, voters: undefined, updated: undefined });
    assert.deepEqual(
      ["members_healthy", "voters"].flatMap((what) => samplesOf(registry.text(), what)),
      ["members_healthy{} 0", "voters{} 3"],
    );
    clusters.forgetAll();
    assert.deepEqual(samplesOf(registry.text(), "voters"), []);
  });

  const lost: SampleWorld = { etcd: "noQuorum", members: [voter("a"), gone("b"), gone("c")] };
  const failedIn = async (sample: SampleWorld) => /_clusters_failed (\d+)/.exec((await told(sample)).metrics)?.[1];
  test("count a cluster that needs a person, once", async () => {
    assert.deepEqual([await failedIn(lost), await failedIn({ ...lost, status: { phase: "Failed" } })], ["1", "0"]);
    assert.equal(await failedIn({ members: three }), "0");
  });

  const recovered = async (sample: SampleWorld) =>
    /_recovery_seconds_sum (\d+)/.exec((await told(sample)).metrics)?.[1];
  test("tell how long a recovery took, when it is over", async () => {
    const recovering = was("Recovering", "True", "Members lost");
    assert.equal(await recovered({ members: three, status: recovering }), "42");
    assert.equal(await recovered({ members: [voter("a"), voter("b"), gone("c")], status: recovering }), undefined);
    assert.equal(
      await recovered({ members: three, status: was("Recovering", "False", "All members healthy") }),
      undefined,
    );
  });
});

describe("certificates", async () => {
  const day = 86_400_000;
  const ca = await makeAuthority("peers", sampleNow);
  const endingIn = async (days: number): Promise<Bundle> => {
    const request = {
      commonName: "p",
      names: ["*.demo.shop.svc", "*.demo.shop.svc.cluster.local"],
      use: "both",
    } as const;
    return { ca: ca.cert, pair: await makeLeaf(ca, request, sampleNow + (days - 90) * day) };
  };
  const withTls = (given: Bundle | undefined, kept: Bundle, status = {}): SampleWorld => {
    const spec = { TLS: { static: { member: { peerSecret: "peers" } } } };
    const { tls } = sampleWorld({ members: three });
    const peer =
      given === undefined
        ? ({ t: "absent", name: "peers" } as const)
        : ({ t: "there", name: "peers", data: writeBundle("peer", given) } as const);
    const change = { tls: { ...tls, given: { peer }, kept: { peer: { bundle: kept, graceFrom: 0 } } } };
    return { spec, members: three, status, change };
  };
  const problems = 'etcd_operator_cluster_certificate_problems{etcd_cluster="demo",namespace="shop"}';
  const good = await endingIn(90);

  for (const [what, given] of [
    ["is missing", undefined],
    ["expired, and is not used", await endingIn(-1)],
  ] as const)
    test(`a given Secret that ${what} is a problem, which an event and a metric say`, async () => {
      const { events, metrics } = await told(withTls(given, good));
      assert.deepEqual(events, ["Certificate Problem"]);
      assert.ok(metrics.includes(`${problems} 1`), metrics);
    });

  for (const [days, said] of [
    [20, "expires in less than 30 days"],
    [5, "expires in less than 7 days"],
    [0.5, "expires in less than a day"],
    [-1, "expired at"],
  ] as const)
    test(`a certificate in use that ${said} … is told of once`, async () => {
      const bundle = await endingIn(days);
      const given = days < 0 ? good : bundle;
      const first = await told(withTls(given, bundle));
      assert.deepEqual(first.events, ["Certificate Expires"]);
      assert.ok(first.notes[0]?.includes(said), first.notes[0]);
      assert.ok(first.metrics.includes(`${problems} 0`), first.metrics);
      const status = was(
        "CertificatesValid",
        days < 0 ? "False" : "True",
        days < 0 ? "Expired" : "ExpiresSoon",
        first.notes[0],
      );
      assert.deepEqual((await told(withTls(given, bundle, status))).events, []);
    });

  test("a certificate that expired in its Secret and in use is told of as one that expired", async () => {
    const bundle = await endingIn(-1);
    assert.deepEqual((await told(withTls(bundle, bundle))).events, ["Certificate Expires"]);
  });

  test("one certificate that expired is told of, though others are good", async () => {
    const [bundle, sample] = [await endingIn(-1), withTls(good, good)];
    const tls = sample.change?.tls;
    assert.ok(tls);
    const kept = { ...tls.kept, server: { bundle, graceFrom: 0 } };
    const { events, notes, status } = await told({ ...sample, change: { tls: { ...tls, kept } } });
    assert.deepEqual(events, ["Certificate Expires"]);
    const said = status.conditions?.find(({ type }) => type === "CertificatesValid");
    assert.deepEqual([said?.status, said?.reason], ["False", "Expired"]);
    assert.deepEqual(
      status.certificates?.map(({ use }) => use),
      ["peer", "server"],
    );
    assert.match(notes[0] ?? "", /^The server certificate expired at /);
  });

  test("nothing is told of certificates that are good", async () => {
    const { events, metrics } = await told(withTls(good, good));
    assert.deepEqual(events, []);
    assert.ok(metrics.includes(`${problems} 0`), metrics);
  });

  test("nothing at all is told of them for a cluster without TLS", async () => {
    const { status, metrics } = await told({ members: three });
    assert.equal(status.certificates, undefined);
    assert.ok(!status.conditions?.some(({ type }) => type === "CertificatesValid"));
    assert.ok(!metrics.includes(problems), metrics);
  });
});
