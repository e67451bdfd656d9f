import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type EtcdClusterSpec, withDefaults } from "../../api/etcd-cluster/etcd-cluster.ts";
import { type FirstStart, initialClusterAnnotation, initialStateAnnotation, startVariables } from "./first-start.ts";
import type { Pod } from "../../kube/objects/kinds.ts";
import type { RestoreJob } from "../../worker/job.ts";
import { firstMembersGate } from "./first-members.ts";
import { memberPod, settingsAnnotation } from "./member-pod.ts";
import { memberName } from "./names.ts";
import { plainText, type PodTls } from "./tls.ts";

const cluster = (spec: Partial<EtcdClusterSpec> = {}) =>
  withDefaults({ metadata: { name: "c", namespace: "ns", uid: "u" }, spec: { size: 3, version: "3.6.16", ...spec } });

const member = memberName("c-a");
const seed = { as: "seed" } satisfies FirstStart;
const podOf = (spec: Partial<EtcdClusterSpec> = {}, start: FirstStart = seed) =>
  memberPod(cluster(spec), member, start);

const lives = "http 2381 /livez?exclude=serializable_read";
const serves = "http 2379 /readyz?exclude=data_corruption";
const versions: [string, string[]][] = [
  ["3.2.13", ["tcp 2379", "http 2379 /version"]],
  ["3.3.27", ["tcp 2379", "http 2379 /version"]],
  ["3.4.23", ["tcp 2379", "http 2379 /version"]],
  ["3.5.35", [lives, serves]],
  ["3.6.16", [lives, serves]],
  ["3.7.3", [lives, serves]],
];
for (const [version, [liveness, readiness]] of versions) {
  test(`a pod of etcd ${version} has the image, ports and probes of this version`, () => {
    const container = podOf({ version }).spec?.containers[0];
    assert.equal(container?.image, `quay.io/coreos/etcd:v${version}`);
    const asked = (probe = container?.livenessProbe): string =>
      probe?.httpGet ? `http ${probe.httpGet.port} ${probe.httpGet.path}` : `tcp ${probe?.tcpSocket?.port}`;
    assert.deepEqual(
      [asked(), asked(container?.startupProbe), asked(container?.readinessProbe)],
      [liveness, liveness, readiness],
    );
    const hasMetricsPort = container?.ports?.some(({ name }) => name === "metrics");
    assert.equal(hasMetricsPort, version !== "3.2.13");
  });
}

test("a member reads its initial cluster from its annotations, and nowhere else", () => {
  const members = ["c-b", "c-a"].map((name) => ({ name, peerUrls: [`http://${name}.c.ns.svc:2380`] }));
  const start = { as: "joining", members } satisfies FirstStart;
  const { metadata, spec } = podOf({}, start);
  const { command = [], env = [] } = spec?.containers[0] ?? {};
  assert.equal(
    metadata?.annotations?.[initialClusterAnnotation],
    "c-b=http://c-b.c.ns.svc:2380,c-a=http://c-a.c.ns.svc:2380",
  );
  assert.equal(metadata?.annotations?.[initialStateAnnotation], "existing");
  assert.ok(command.every((argument) => !/^--initial-cluster(-state)?=/.test(argument)));
  assert.deepEqual(env.slice(0, 2), startVariables(start));
});

test("name, labels, annotation, owner and paths are those that people know", () => {
  const { metadata, spec } = podOf({ pod: { labels: { team: "x" }, annotations: { note: "y" } } });
  const { [settingsAnnotation]: _, ...annotations } = metadata?.annotations ?? {};
  assert.deepEqual(annotations, {
    note: "y",
    "etcd.version": "3.6.16",
    "etcd.database.coreos.com/image": "quay.io/coreos/etcd:v3.6.16",
    [initialClusterAnnotation]: "c-a=http://c-a.c.ns.svc:2380",
    [initialStateAnnotation]: "new",
  });
  assert.deepEqual(
    { ...metadata, annotations },
    {
      name: "c-a",
      namespace: "ns",
      labels: { team: "x", app: "etcd", etcd_cluster: "c", etcd_node: "c-a" },
      annotations,
      ownerReferences: [
        {
          apiVersion: "etcd.database.coreos.com/v1beta2",
          kind: "EtcdCluster",
          name: "c",
          uid: "u",
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
  );
  assert.deepEqual([spec?.hostname, spec?.subdomain, spec?.restartPolicy], ["c-a", "c", "Always"]);
  assert.deepEqual(spec?.containers[0]?.volumeMounts, [{ name: "etcd-data", mountPath: "/var/etcd" }]);
  assert.deepEqual(spec?.volumes, [{ name: "etcd-data", emptyDir: {} }]);
  assert.equal(spec?.automountServiceAccountToken, false);
});

test("a pod passes the restricted security profile, and what a person sets wins", () => {
  const { spec } = podOf();
  const { securityContext } = spec?.containers[0] ?? {};
  assert.equal(securityContext?.allowPrivilegeEscalation, false);
  assert.equal(securityContext?.readOnlyRootFilesystem, true);
  assert.deepEqual(securityContext?.capabilities, { drop: ["ALL"] });
  assert.equal(spec?.securityContext?.runAsNonRoot, true);
  assert.deepEqual(spec?.securityContext?.seccompProfile, { type: "RuntimeDefault" });
  const own = podOf({ pod: { securityContext: { runAsUser: 9000, fsGroup: 9000 } } }).spec?.securityContext;
  assert.deepEqual([own?.runAsUser, own?.fsGroup, own?.runAsNonRoot], [9000, 9000, true]);
  const root = podOf({ pod: { securityContext: { runAsUser: 0 } } }).spec?.securityContext;
  assert.deepEqual([root?.runAsUser, root?.runAsNonRoot], [0, false]);
});

test("no Service of the namespace can be read as a setting of etcd", () => {
  assert.equal(podOf().spec?.enableServiceLinks, false);
});

test("what nobody asked for is not in the pod, for an empty field would differ at every comparison", () => {
  for (const pod of [{}, { nodeSelector: {}, tolerations: [], imagePullSecrets: [], priorityClassName: "" }]) {
    const { spec = {} } = podOf({ pod });
    const optional = [
      "nodeSelector",
      "tolerations",
      "topologySpreadConstraints",
      "imagePullSecrets",
      "priorityClassName",
    ];
    assert.deepEqual(
      optional.filter((field) => field in spec),
      [],
    );
  }
});

test("everything in spec.pod reaches the pod", () => {
  const pod = {
    nodeSelector: { disk: "fast" },
    tolerations: [{ key: "k", operator: "Exists" }],
    affinity: { nodeAffinity: {} },
    topologySpreadConstraints: [{ maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule" }],
    resources: { requests: { cpu: "1" } },
    etcdEnv: [{ name: "GOGC", value: "50" }],
    priorityClassName: "high",
    serviceAccountName: "sa",
    imagePullSecrets: [{ name: "pull" }],
    terminationGracePeriodSeconds: 30,
    ClusterDomain: ".cluster.local",
  };
  const { spec } = podOf({ pod, image: "example.com/etcd:mine" });
  const { nodeSelector, tolerations, affinity, topologySpreadConstraints, priorityClassName } = pod;
  const { serviceAccountName, imagePullSecrets, terminationGracePeriodSeconds } = pod;
  const asked = { nodeSelector, tolerations, affinity, topologySpreadConstraints, priorityClassName };
  assert.partialDeepStrictEqual(spec, {
    ...asked,
    serviceAccountName,
    imagePullSecrets,
    terminationGracePeriodSeconds,
  });
  const container = spec?.containers[0];
  assert.partialDeepStrictEqual(container, {
    resources: pod.resources,
    image: "example.com/etcd:mine",
  });
  assert.deepEqual(container?.env?.[0], pod.etcdEnv[0]);
  assert.ok(container?.command?.includes("--initial-advertise-peer-urls=http://c-a.c.ns.svc.cluster.local:2380"));
});

test("members rather run apart, and must when antiAffinity says so", () => {
  assert.equal(podOf().spec?.affinity?.podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution?.length, 2);
  const must = podOf({ pod: { antiAffinity: true } }).spec?.affinity?.podAntiAffinity;
  assert.equal(must?.requiredDuringSchedulingIgnoredDuringExecution?.length, 1);
  assert.equal(must?.preferredDuringSchedulingIgnoredDuringExecution, undefined);
});

test("the end of etcd's log is kept for people to see, but not where a Secret could be in it", () => {
  const policyWith = (etcdEnv: { name: string; value?: string; valueFrom?: object }[]): string | undefined =>
    podOf({ pod: { etcdEnv } }).spec?.containers[0]?.terminationMessagePolicy;
  const plain = { name: "ETCD_HEARTBEAT_INTERVAL", value: "150" };
  const secret = { name: "ETCD_AUTH_TOKEN", valueFrom: { secretKeyRef: { name: "s", key: "k" } } };
  assert.equal(policyWith([]), "FallbackToLogsOnError");
  assert.equal(policyWith([plain]), "FallbackToLogsOnError");
  assert.equal(policyWith([plain, secret]), "File");
});

const restoreJob: RestoreJob = {
  do: "restore",
  store: { type: "S3", bucket: "b", secretFolder: "/etc/etcd-worker/store" },
  key: "k",
  sha256: "0",
  targetVersion: "3.6.16",
  member: { name: "c-a", peerUrl: "http://c-a.c.ns.svc:2380" },
  token: "t",
  dataDir: "/var/etcd/data",
  bumpRevision: 0,
  stalledAfterSeconds: 60,
};

test("the first member of a restored cluster makes its data in an init container, and only before its first start", () => {
  const mounts = [{ folder: "/etc/etcd-worker/store", secret: "aws" }];
  const start = {
    as: "restored",
    restore: { image: "operator:1", job: restoreJob, mounts, policy: {} },
  } satisfies FirstStart;
  const { metadata, spec } = podOf({}, start);
  const [init] = spec?.initContainers ?? [];
  assert.equal(init?.image, "operator:1");
  assert.ok(init.volumeMounts?.some(({ name, mountPath }) => name === "etcd-data" && mountPath === "/var/etcd"));
  assert.ok(spec?.volumes?.some(({ secret }) => secret?.secretName === "aws"));
  const may = init.env?.find(({ name }) => name === "ETCD_WORKER_MAY_RESTORE");
  assert.equal(may?.valueFrom?.fieldRef?.fieldPath, `metadata.annotations['${initialStateAnnotation}']`);
  assert.equal(metadata?.annotations?.[initialStateAnnotation], "new");
  assert.ok(!spec?.containers[0]?.volumeMounts?.some(({ name }) => name.startsWith("worker-")), "etcd sees no Secret");
});

test("a first member among several is held back, knows them all, and never starts without the data of the backup", () => {
  const initialCluster = ["c-a", "c-b"].map((name) => ({ name, peerUrl: `http://${name}.c.ns.svc:2380` }));
  const podWith = (job: RestoreJob): Pod =>
    podOf({}, { as: "restored", restore: { image: "operator:1", job, mounts: [], policy: {} } });
  const { metadata, spec } = podWith({ ...restoreJob, initialCluster });
  assert.deepEqual(spec?.schedulingGates, [{ name: firstMembersGate }]);
  assert.equal(
    metadata?.annotations?.[initialClusterAnnotation],
    "c-a=http://c-a.c.ns.svc:2380,c-b=http://c-b.c.ns.svc:2380",
  );
  const state = spec.containers[0]?.env?.find(({ name }) => name === "ETCD_INITIAL_CLUSTER_STATE");
  assert.deepEqual(state, { name: "ETCD_INITIAL_CLUSTER_STATE", value: "existing" });
  assert.equal(podWith(restoreJob).spec?.schedulingGates, undefined, "one of an older operator is not held back");
});

test("the scratch volume of a restored member has a limit, and its data has none", () => {
  const job = { ...restoreJob, expectedBytes: 2 ** 30 };
  const sizes = (policy: { scratchSize?: string }) =>
    podOf({}, { as: "restored", restore: { image: "operator:1", job, mounts: [], policy } })
      .spec?.volumes?.filter(({ emptyDir }) => emptyDir)
      .map(({ name, emptyDir }) => [name, emptyDir?.sizeLimit]);
  assert.deepEqual(sizes({}), [
    ["etcd-data", undefined],
    ["scratch", "3072Mi"],
  ]);
  assert.deepEqual(sizes({ scratchSize: "9Gi" })?.[1], ["scratch", "9216Mi"]);
});

test("a worker that makes the data of a member runs under the restricted profile", () => {
  const start = {
    as: "restored",
    restore: { image: "operator:1", job: restoreJob, mounts: [], policy: {} },
  } satisfies FirstStart;
  const [init] = podOf({}, start).spec?.initContainers ?? [];
  assert.deepEqual(init?.securityContext, podOf().spec?.containers[0]?.securityContext);
});

test("where the store knows workers by a ServiceAccount, the pod of a restored member has it", () => {
  const policy = { serviceAccountName: "backup", imagePullSecrets: [{ name: "mirror" }] };
  const restore = { image: "operator:1", job: restoreJob, mounts: [], policy };
  const pod = { serviceAccountName: "etcd", imagePullSecrets: [{ name: "own" }] };
  const { spec } = podOf({ pod }, { as: "restored", restore });
  assert.equal(spec?.serviceAccountName, "backup");
  assert.deepEqual(spec.imagePullSecrets, [{ name: "own" }, { name: "mirror" }]);
  assert.equal(spec.automountServiceAccountToken, false);
  assert.equal(podOf({ pod }).spec?.serviceAccountName, "etcd");
});

describe("a joining member whose peers look it up in DNS waits for that before etcd starts", () => {
  const members = [{ name: "c-a", peerUrls: ["https://c-a.c.ns.svc:2380"] }];
  const joining = { as: "joining", members, worker: "operator:1" } satisfies FirstStart;
  const given: PodTls = { ...plainText, peer: "tls" };
  const made: PodTls = { ...given, made: true };
  const waitingIn = (version: string, tls: PodTls, start: FirstStart, spec: Partial<EtcdClusterSpec> = {}) =>
    memberPod(cluster({ version, ...spec }), member, start, tls).spec?.initContainers;
  const rows: [string, string, PodTls, FirstStart, boolean][] = [
    ["etcd 3.2 with given certificates", "3.2.13", given, joining, true],
    ["etcd 3.2 with made certificates", "3.2.13", made, joining, true],
    ["etcd 3.3 with given certificates", "3.3.27", given, joining, true],
    ["etcd 3.3 with made certificates, known by their signature", "3.3.27", made, joining, false],
    ["etcd 3.4 with given certificates, known by their names", "3.4.23", given, joining, false],
    ["etcd 3.7 with given certificates, known by their names", "3.7.3", given, joining, false],
    ["plain text", "3.2.13", plainText, joining, false],
    ["the first member, which nobody has to know", "3.2.13", given, seed, false],
    ["a member with data, which tries until it is let in", "3.2.13", given, { as: "returning" }, false],
    ["an operator that does not know its own image", "3.2.13", given, { ...joining, worker: undefined }, false],
  ];
  for (const [what, version, tls, start, waits] of rows)
    test(`${what}: ${waits ? "waits" : "does not wait"}`, () =>
      assert.equal(waitingIn(version, tls, start)?.[0]?.name, waits ? "await-name" : undefined));

  test("within the restricted profile, and within what a quota asks for", () => {
    const resources = { limits: { memory: "256Mi" } };
    const [container] = waitingIn("3.2.13", given, joining, { pod: { resources, DNSTimeoutInSecond: 7 } }) ?? [];
    assert.deepEqual(
      [container?.image, container?.resources, container?.volumeMounts, container?.securityContext],
      [
        "operator:1",
        resources,
        undefined,
        { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
      ],
    );
    const job = container?.env?.find(({ name }) => name === "ETCD_WORKER_JOB")?.value;
    assert.deepEqual(JSON.parse(job ?? ""), { do: "awaitName", host: "c-a.c.ns.svc", withinSeconds: 7 });
    const address = container?.env?.find(({ name }) => name === "ETCD_WORKER_ADDRESS");
    assert.equal(address?.valueFrom?.fieldRef?.fieldPath, "status.podIP");
  });

  test("and is not outdated for having waited, nor for not having done so", () => {
    const settingsIn = (start: FirstStart) =>
      memberPod(cluster({ version: "3.2.13" }), member, start, given).metadata?.annotations?.[settingsAnnotation];
    assert.equal(settingsIn(joining), settingsIn({ ...joining, worker: undefined }));
  });
});
