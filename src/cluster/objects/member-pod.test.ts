import assert from "node:assert/strict";
import { test } from "node:test";
import { type EtcdClusterSpec, withDefaults } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { FirstStart } from "./etcd-command.ts";
import { memberPod, settingsAnnotation } from "./member-pod.ts";

const cluster = (spec: Partial<EtcdClusterSpec> = {}) =>
  withDefaults({ metadata: { name: "c", namespace: "ns", uid: "u" }, spec: { size: 3, version: "3.6.16", ...spec } });

const seed = { as: "seed" } satisfies FirstStart;
const podOf = (spec: Partial<EtcdClusterSpec> = {}, start: FirstStart = seed) => memberPod(cluster(spec), "c-a", start);
const commandOf = (spec: Partial<EtcdClusterSpec> = {}, start: FirstStart = seed) =>
  podOf(spec, start).spec?.containers[0]?.command;

const common = [
  "/usr/local/bin/etcd",
  "--data-dir=/var/etcd/data",
  "--name=c-a",
  "--initial-advertise-peer-urls=http://c-a.c.ns.svc:2380",
  "--listen-peer-urls=http://0.0.0.0:2380",
  "--listen-client-urls=http://0.0.0.0:2379",
  "--advertise-client-urls=http://c-a.c.ns.svc:2379",
];
const asSeed = [
  "--initial-cluster=c-a=http://c-a.c.ns.svc:2380",
  "--initial-cluster-state=new",
  "--initial-cluster-token=u",
];
const metrics = "--listen-metrics-urls=http://0.0.0.0:2381";

const versions: [string, string[], string[]][] = [
  ["3.2.13", [], ["tcp 2379", "http 2379 /health"]],
  ["3.3.27", [metrics], ["tcp 2379", "http 2381 /health"]],
  ["3.4.23", [metrics], ["http 2381 /health?serializable=true&exclude=NOSPACE", "http 2381 /health?exclude=NOSPACE"]],
  ["3.5.35", [metrics], ["http 2381 /livez", "http 2381 /readyz"]],
  ["3.6.16", [metrics, "--max-learners=8"], ["http 2381 /livez", "http 2381 /readyz"]],
  ["3.7.3", [metrics, "--max-learners=8"], ["http 2381 /livez", "http 2381 /readyz"]],
];
for (const [version, flags, [liveness, readiness]] of versions) {
  test(`a seed of etcd ${version} has the flags and probes that this version knows`, () => {
    const container = podOf({ version }).spec?.containers[0];
    assert.deepEqual(container?.command, [...common, ...asSeed, ...flags]);
    assert.equal(container?.image, `quay.io/coreos/etcd:v${version}`);
    const asked = (probe = container?.livenessProbe): string =>
      probe?.httpGet ? `http ${probe.httpGet.port} ${probe.httpGet.path}` : `tcp ${probe?.tcpSocket?.port}`;
    assert.deepEqual(
      [asked(), asked(container?.startupProbe), asked(container?.readinessProbe)],
      [liveness, liveness, readiness],
    );
    const hasMetricsPort = container?.ports?.some(({ name }) => name === "metrics");
    assert.equal(hasMetricsPort, flags.includes(metrics));
  });
}

test("a member that joins is given the list as etcd has it, and no token", () => {
  const members = ["c-b", "c-a"].map((name) => ({ name, peerUrls: [`http://${name}.c.ns.svc:2380`] }));
  const command = commandOf({}, { as: "joining", members }) ?? [];
  assert.deepEqual(command.slice(7, 9), [
    "--initial-cluster=c-b=http://c-b.c.ns.svc:2380,c-a=http://c-a.c.ns.svc:2380",
    "--initial-cluster-state=existing",
  ]);
  assert.ok(!command.some((argument) => argument.startsWith("--initial-cluster-token")));
});

test("settings of etcd and more flags are spelled as the version has them", () => {
  const etcd = {
    quotaBackendBytes: 100,
    autoCompactionMode: "periodic" as const,
    autoCompactionRetention: "1h",
    extraArgs: [
      "--experimental-corrupt-check-time=1h",
      "--experimental-initial-corrupt-check=true",
      "--feature-gates=LeaseCheckpoint=true",
    ],
  };
  const added = (version: string) =>
    commandOf({ version, etcd })?.filter((argument) => !commandOf({ version })?.includes(argument));
  const settings = ["--quota-backend-bytes=100", "--auto-compaction-mode=periodic", "--auto-compaction-retention=1h"];
  const gates = "--feature-gates=InitialCorruptCheck=true,LeaseCheckpoint=true";
  assert.deepEqual(added("3.6.16"), [...settings, "--corrupt-check-time=1h", gates]);
  assert.deepEqual(added("3.5.35")?.slice(0, 5), [
    ...settings,
    "--experimental-corrupt-check-time=1h",
    "--experimental-initial-corrupt-check=true",
  ]);
});

test("name, labels, annotation, owner and paths are those that people know", () => {
  const { metadata, spec } = podOf({ pod: { labels: { team: "x" }, annotations: { note: "y" } } });
  const { [settingsAnnotation]: _, ...annotations } = metadata?.annotations ?? {};
  assert.deepEqual(annotations, { note: "y", "etcd.version": "3.6.16" });
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
  assert.deepEqual(securityContext?.capabilities, { drop: ["ALL"] });
  assert.equal(spec?.securityContext?.runAsNonRoot, true);
  assert.deepEqual(spec?.securityContext?.seccompProfile, { type: "RuntimeDefault" });
  const own = podOf({ pod: { securityContext: { runAsUser: 9000, fsGroup: 9000 } } }).spec?.securityContext;
  assert.deepEqual([own?.runAsUser, own?.fsGroup, own?.runAsNonRoot], [9000, 9000, true]);
  const root = podOf({ pod: { securityContext: { runAsUser: 0 } } }).spec?.securityContext;
  assert.deepEqual([root?.runAsUser, root?.runAsNonRoot], [0, false]);
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
    env: pod.etcdEnv,
    image: "example.com/etcd:mine",
  });
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
