// Whatever is in an object, a world is observed, judged and planned for: one damaged Secret, claim or pod never keeps the
// operator from looking after the rest of its cluster.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { type CompleteEtcdCluster, EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { EtcdBackup } from "../../api/etcd-backup/etcd-backup.ts";
import { presentedCertificate } from "../../etcd/presented-certificate.ts";
import { ApiError } from "../../kube/client/errors.ts";
import type { PersistentVolumeClaim, Pod, Secret } from "../../kube/objects/kinds.ts";
import { ownerReference } from "../../kube/objects/owners.ts";
import { makeAuthority, makeLeaf } from "../../tls/make.ts";
import { RefusedUpkeep } from "../act/refused-upkeep.ts";
import { TakenAway } from "../act/taken-away.ts";
import { assess } from "../assess/assess.ts";
import {
  cannotGrowAnnotation,
  claimLabel,
  clusterIdAnnotation,
  clusterUidAnnotation,
  peerSchemeAnnotation,
} from "../objects/claims.ts";
import { initialClusterAnnotation } from "../objects/first-start.ts";
import { foundVersionAnnotation, imageCheckLabel } from "../objects/image-check.ts";
import { changedFromAnnotation, etcdContainer, settingsAnnotation, versionAnnotation } from "../objects/member-pod.ts";
import { graceFromAnnotation, leafSecret } from "../objects/secrets.ts";
import { authorityUses, leafUses, rotateCaAnnotation, secretName } from "../objects/tls.ts";
import { planCluster } from "../plan/plan.ts";
import { certificatesValid } from "../report/certificates.ts";
import { sampleCluster, sampleClusterId, sampleId, sampleNow } from "../testing/sample-world.ts";
import { Logins } from "./login.ts";
import { observe } from "./observe.ts";
import { Progress } from "./progress.ts";
import { Wire } from "./wire.ts";
import type { ClusterWorld } from "./world.ts";

const key = { namespace: "shop", name: "demo" };
const ca = await makeAuthority("ca", sampleNow);
const other = await makeAuthority("other", sampleNow);
const request = { commonName: "x", names: ["*.demo.shop.svc"], use: "both" } as const;
const pair = await makeLeaf(ca, request, sampleNow);
const mismatched = { cert: pair.cert, key: (await makeLeaf(ca, request, sampleNow)).key };

interface Found {
  readonly cluster: CompleteEtcdCluster;
  readonly secrets: readonly Secret[];
  readonly pods: readonly Pod[];
  readonly claims: readonly PersistentVolumeClaim[];
  readonly backups: readonly EtcdBackup[];
  readonly peerUrls: readonly string[];
}

/** With real reads on the wire: there OpenSSL is given what is in the Secrets. Nobody listens at the addresses. */
async function observed(found: Partial<Found> & Pick<Found, "cluster">): Promise<ClusterWorld | undefined> {
  const { cluster, secrets = [], pods = [], claims = [], backups = [], peerUrls = [] } = found;
  const byName = <T extends { metadata?: { name?: string } }>(all: readonly T[]) => ({
    get: ({ name }: { name: string }) => all.find(({ metadata }) => metadata?.name === name),
    ownedBy: () => all,
    byIndex: () => all,
  });
  const caches = {
    clusters: { get: () => cluster, values: () => [cluster] },
    pods: byName(pods),
    claims: byName(claims),
    services: byName([]),
    budgets: byName([]),
    backups: byName(backups),
    nodes: undefined,
    secrets: byName(secrets),
    given: { read: ({ name }: { name: string }) => Promise.resolve(byName(secrets).get({ name })) },
  };
  const status = {
    memberId: sampleId("a"),
    clusterId: sampleClusterId,
    leader: sampleId("a"),
    learner: false,
    raftTerm: 2,
    raftIndex: 10,
    version: "3.6.16",
    alarms: [],
  };
  const members = peerUrls.map((url, n) => ({
    id: n === 0 ? sampleId("a") : sampleId(String(n)),
    name: "",
    peerUrls: [url],
    clientUrls: [url],
    learner: false,
  }));
  const member = {
    status: () => Promise.resolve(status),
    health: () => Promise.resolve({ t: "healthy" }),
    memberList: () => Promise.resolve({ clusterId: sampleClusterId, members }),
  };
  const context = {
    members: { at: () => member },
    caches: () => caches,
    logins: new Logins(() => 0),
    progress: new Progress(),
    refusedUpkeep: new RefusedUpkeep(),
    takenAway: new TakenAway(),
    wire: new Wire(presentedCertificate),
    metrics: { forget: () => undefined },
    now: () => sampleNow,
    isOurs: () => true,
  };
  const get = (): Promise<never> => Promise.reject(new ApiError(404, "NotFound", ""));
  const { signal } = new AbortController();
  const seen = await observe(key, { api: { get }, signal } as never, context as never);
  return seen.t === "world" ? seen.world : undefined;
}

/** Observed, judged, planned for, reported. */
async function livesWith(found: Partial<Found> & Pick<Found, "cluster">): Promise<void> {
  const world = await observed(found);
  assert.ok(world);
  const assessment = assess(world, sampleNow);
  planCluster(assessment, () => 0.5);
  certificatesValid(assessment);
}

const owned = (cluster: CompleteEtcdCluster) => ({
  namespace: key.namespace,
  ownerReferences: [ownerReference(EtcdCluster, cluster)],
});

// Arbitrary contents

const text = fc.oneof(
  fc.string(),
  fc.constantFrom(
    "",
    "null",
    "{}",
    "[]",
    "{",
    '{"version":3}',
    "-1",
    "1e999",
    "NaN",
    "99999999999999999999Gi",
    "not a date",
    "275760-09-13T00:00:00.001Z",
    "http://",
    "https://demo-a.demo.shop.svc:2380",
    "unix://demo-a.demo.shop.svc:2380",
    "demo-a=http://[::1",
    "3.6.16",
    "v999999.0.0",
    "18446744073709551616",
  ),
);
const pem = fc.oneof(
  fc.constantFrom(
    ca.cert,
    other.cert,
    ca.key,
    pair.cert,
    pair.key,
    mismatched.key,
    `${ca.cert}${other.cert}`,
    ca.cert.slice(0, 200),
    "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
    "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
  ),
  text,
);
/** As it stands in a Secret: base64 of something, or nothing of the kind. */
const value = fc.oneof(
  pem.map((content) => Buffer.from(content).toString("base64")),
  fc.string(),
);
const annotations = (names: readonly string[]) => fc.dictionary(fc.constantFrom(...names), text);

const dataKeys = [
  ...["peer", "server", "etcd-client", "operator", "client", "tls", "ca"].flatMap((use) => [
    `${use}.crt`,
    `${use}.key`,
  ]),
  ...["peer", "server", "etcd-client"].map((use) => `${use}-ca.crt`),
  "username",
  "password",
];

const values = Object.fromEntries(dataKeys.map((name) => [name, value]));

const secretOf = (cluster: CompleteEtcdCluster, name: string) =>
  fc
    .record({
      annotations: annotations([graceFromAnnotation, rotateCaAnnotation]),
      data: fc.oneof(fc.record(values), fc.dictionary(fc.constantFrom(...dataKeys), value)),
    })
    .map(({ annotations, data }): Secret => ({ metadata: { ...owned(cluster), name, annotations }, data }));

const made = sampleCluster({ spec: { TLS: { auto: true } } });
const given = sampleCluster({
  spec: {
    TLS: { static: { member: { peerSecret: "peers", serverSecret: "servers" }, operatorSecret: "operator" } },
    auth: { operatorSecret: "login" },
  },
});
const named = ["peers", "servers", "operator", "login"];
const kept = (cluster: CompleteEtcdCluster) => [...leafUses, ...authorityUses].map((use) => secretName(cluster, use));

const tlsPod = (cluster: CompleteEtcdCluster, name: string): Pod => ({
  metadata: { ...owned(cluster), name, uid: name, labels: { etcd_cluster: key.name } },
  spec: {
    nodeName: "n",
    containers: [
      {
        name: etcdContainer,
        command: ["/usr/local/bin/etcd", "--listen-peer-urls=https://x:2380", "--listen-client-urls=https://x:2379"],
      },
    ],
  },
  status: {
    phase: "Running",
    podIP: "127.77.0.1",
    containerStatuses: [
      { name: etcdContainer, image: "", imageID: "", ready: true, restartCount: 0, state: { running: {} } },
    ],
  },
});

describe("a world is observed whatever is in", () => {
  for (const [which, cluster, names] of [
    ["the operator's own Secrets", made, kept(made)],
    ["Secrets that the spec names, and copies of them", given, [...named, ...kept(given)]],
  ] as const)
    test(which, () =>
      fc.assert(
        fc.asyncProperty(fc.tuple(...names.map((name) => secretOf(cluster, name))), (secrets) =>
          livesWith({ cluster, secrets, pods: [tlsPod(cluster, "demo-a")] }),
        ),
        { numRuns: 100 },
      ),
    );

  test("pods, image checks and etcd's list of members", () => {
    const names = [
      settingsAnnotation,
      versionAnnotation,
      changedFromAnnotation,
      initialClusterAnnotation,
      foundVersionAnnotation,
    ];
    const ended = fc.record({ exitCode: fc.integer(), message: text, reason: text, finishedAt: text });
    const state = fc.oneof(
      fc.record({ terminated: ended }),
      fc.record({ waiting: fc.record({ reason: text, message: text }) }),
      fc.record({ running: fc.record({ startedAt: text }) }),
    );
    const condition = fc.record({
      type: fc.constantFrom("Ready", "PodScheduled", "ContainersReady", "Initialized"),
      status: text,
      reason: text,
      message: text,
      lastTransitionTime: text,
    });
    const pod = fc
      .record({
        annotations: annotations(names),
        isCheck: fc.boolean(),
        creationTimestamp: text,
        command: fc.array(
          fc.oneof(
            text,
            text.map((one) => `--max-learners=${one}`),
            text.map((one) => `--${one}`),
          ),
        ),
        env: fc.array(fc.record({ name: text, value: text })),
        nodeName: text,
        phase: fc.constantFrom("Running", "Pending", "Failed", "Unknown", ""),
        state,
        lastState: fc.option(fc.record({ terminated: ended }), { nil: undefined }),
        conditions: fc.array(condition, { maxLength: 4 }),
        resources: fc.record({ limits: fc.dictionary(fc.constantFrom("memory", "cpu"), text) }),
      })
      .map(
        (
          { annotations, isCheck, command, env, nodeName, phase, state, lastState, conditions, ...rest },
          n = 0,
        ): Pod => ({
          metadata: {
            ...owned(made),
            name: `demo-${n}`,
            uid: "u",
            annotations,
            creationTimestamp: rest.creationTimestamp,
            labels: isCheck ? { [imageCheckLabel]: "" } : {},
          },
          spec: { nodeName, containers: [{ name: etcdContainer, command, env, resources: rest.resources }] },
          status: {
            phase,
            podIP: "127.77.0.1",
            conditions,
            containerStatuses: [
              {
                name: etcdContainer,
                image: "",
                imageID: "",
                ready: true,
                restartCount: 0,
                state,
                ...(lastState && { lastState }),
              },
            ],
          },
        }),
      );
    return fc.assert(
      fc.asyncProperty(fc.array(pod, { maxLength: 3 }), fc.array(text, { maxLength: 3 }), (pods, peerUrls) =>
        livesWith({ cluster: sampleCluster({}), pods, peerUrls }),
      ),
      { numRuns: 150 },
    );
  });

  test("claims and backups", () => {
    const names = [
      clusterUidAnnotation,
      clusterIdAnnotation,
      cannotGrowAnnotation,
      peerSchemeAnnotation,
      settingsAnnotation,
      versionAnnotation,
      "volume.kubernetes.io/selected-node",
    ];
    const cluster = sampleCluster({
      spec: { pod: { persistentVolumeClaimSpec: { resources: { requests: { storage: "1Gi" } } } } },
    });
    const claim = fc
      .record({ annotations: annotations(names), label: text, storage: text, capacity: text, phase: text })
      .map(
        ({ annotations, label, storage, capacity, phase }): PersistentVolumeClaim => ({
          metadata: {
            ...owned(cluster),
            name: "demo-a",
            annotations,
            labels: { etcd_cluster: key.name, [claimLabel]: label },
          },
          spec: { resources: { requests: { storage } } },
          status: { capacity: { storage: capacity }, phase },
        }),
      );
    const backup = fc
      .record({ path: text, takenAt: text })
      .map((lastBackup) => ({ metadata: { name: "b" }, status: { lastBackup } }) as unknown as EtcdBackup);
    return fc.assert(
      fc.asyncProperty(fc.array(claim, { maxLength: 3 }), fc.array(backup, { maxLength: 3 }), (claims, backups) =>
        livesWith({ cluster, claims, backups }),
      ),
      { numRuns: 150 },
    );
  });

  test("the spec and the status of the EtcdCluster", () =>
    fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), (pod, TLS, status) =>
        livesWith({ cluster: { ...sampleCluster({}), spec: { size: 3, pod, TLS }, status } as never }),
      ),
      { numRuns: 150 },
    ));
});

describe("a Secret of the operator that somebody damaged", () => {
  const bundle = { ca: ca.cert, pair };
  const peer = leafSecret(made, "peer", bundle, undefined);
  const changed = (data: Readonly<Record<string, string>>): Secret => ({
    ...peer,
    data: {
      ...peer.data,
      ...Object.fromEntries(
        Object.entries(data).map(([name, content]) => [name, Buffer.from(content).toString("base64")]),
      ),
    },
  });

  for (const [how, data, why] of [
    ["a key of another certificate", { "peer.key": mismatched.key }, "its key does not belong to its certificate"],
    ["a certificate that cannot be read", { "peer.crt": "x" }, "it cannot be read"],
    ["a CA that cannot be read", { "peer-ca.crt": "x" }, "it cannot be read"],
    ["no key", { "peer.key": "" }, "a part of it is missing"],
  ] as const)
    test(`is known by what is wrong with it: ${how}`, async () => {
      const world = await observed({ cluster: made, secrets: [changed(data)], pods: [tlsPod(made, "demo-a")] });
      assert.equal(world?.tls.kept.peer, undefined);
      assert.equal(world?.tls.damaged.peer?.why, why);
      assert.equal(world?.tls.damaged.peer?.ca !== undefined, !("peer-ca.crt" in data));
    });
});
