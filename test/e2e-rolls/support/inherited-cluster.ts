// A running cluster as etcd-operator 0.9.4 left it, made by hand: its pods, Services and EtcdCluster with status, and no
// operator.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { PersistentVolumeClaimSpec, Probe } from "kubernetes-types/core/v1.js";
import { waitFor } from "../../../lab/progress.ts";
import { EtcdCluster } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { memberName, newMemberName } from "../../../src/cluster/objects/names.ts";
import { withDefaults } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { PersistentVolumeClaim, Pod, Service } from "../../../src/kube/objects/kinds.ts";
import type { Key } from "../../../src/kube/objects/objects.ts";
import { TestCluster } from "../../e2e/support/cluster.ts";
import { kube, patience } from "../../e2e/support/environment.ts";
import { memberAt } from "../../e2e/support/healthy.ts";

export const inheritedVersion = "3.2.13";
const repository = "quay.io/coreos/etcd";
const tolerateUnready = { "service.alpha.kubernetes.io/tolerate-unready-endpoints": "true" };

/** Releases before 0.8.3 counted their members, later ones gave them random names. */
export type Naming = "counted" | "random";

/** The Secrets of its TLS, which is towards peers and clients; absent: plain text. */
interface InheritedSecrets {
  readonly peerSecret: string;
  readonly serverSecret: string;
  readonly operatorSecret: string;
}

/** Not managed by anybody until it is annotated. With `claim` each member has a volume. */
export async function createInherited(
  key: Key,
  size: number,
  naming: Naming,
  claim?: PersistentVolumeClaimSpec,
  secrets?: InheritedSecrets,
): Promise<TestCluster> {
  const cluster = new TestCluster(key);
  // It stored its defaults with the spec.
  const pod = { resources: {}, ClusterDomain: "", ...(claim && { persistentVolumeClaimSpec: claim }) };
  const { operatorSecret = "", ...member } = secrets ?? {};
  const TLS = secrets && { static: { member, operatorSecret } };
  const spec = { size, repository, version: inheritedVersion, pod, ...(TLS && { TLS }) };
  const owner = await kube.create(EtcdCluster, { metadata: key, spec });
  await createServices(owner);
  const token = randomUUID();
  const names: string[] = [];
  for (let i = 0; i < size; i += 1) {
    const name = naming === "counted" ? `${key.name}-${String(i).padStart(4, "0")}` : randomName(owner, names);
    await addMember(cluster, names, name, secrets === undefined ? "http" : "https");
    names.push(name);
    if (claim !== undefined) await kube.create(PersistentVolumeClaim, memberClaim(owner, name, claim));
    await kube.create(Pod, withTls(memberPod(owner, names, token), secrets));
    await untilServing(cluster, names);
  }
  await cluster.untilPodsReady();
  await publishOnlyReady(key);
  await writeStatus(key, names);
  return cluster;
}

function randomName(owner: EtcdCluster, taken: readonly string[]): string {
  return newMemberName(withDefaults(owner), new Set(taken.map(memberName)), Math.random);
}

const labelsOf = ({ metadata }: EtcdCluster): Record<string, string> => ({
  app: "etcd",
  etcd_cluster: metadata?.name ?? "",
});

/** Without blockOwnerDeletion. */
const ownedBy = ({ metadata }: EtcdCluster) => [
  {
    apiVersion: `${EtcdCluster.group}/${EtcdCluster.version}`,
    kind: EtcdCluster.kind,
    name: metadata?.name ?? "",
    uid: metadata?.uid ?? "",
    controller: true,
  },
];

async function createServices(owner: EtcdCluster): Promise<void> {
  const { namespace = "", name = "" } = owner.metadata ?? {};
  const metadata = {
    namespace,
    labels: labelsOf(owner),
    annotations: tolerateUnready,
    ownerReferences: ownedBy(owner),
  };
  const client = { name: "client", port: 2379, targetPort: 2379, protocol: "TCP" };
  const peer = { name: "peer", port: 2380, targetPort: 2380, protocol: "TCP" };
  const selector = labelsOf(owner);
  await kube.create(Service, {
    metadata: { ...metadata, name },
    // Kubernetes of that time published unready pods because of the annotation. Taken away again below.
    spec: { clusterIP: "None", selector, ports: [client, peer], publishNotReadyAddresses: true },
  });
  await kube.create(Service, {
    metadata: { ...metadata, name: `${name}-client` },
    spec: { selector, ports: [client] },
  });
}

async function publishOnlyReady(key: Key): Promise<void> {
  await kube.mergePatch(Service, key, { spec: { publishNotReadyAddresses: null } });
}

const hostOf = ({ namespace, name }: Key, member: string): string => `${member}.${name}.${namespace}.svc`;
const peerUrl = (key: Key, member: string): string => `http://${hostOf(key, member)}:2380`;

/** Under the name of its member, and without the label that says which one. */
function memberClaim(owner: EtcdCluster, name: string, spec: PersistentVolumeClaimSpec): PersistentVolumeClaim {
  const { namespace = "" } = owner.metadata ?? {};
  return { metadata: { namespace, name, labels: labelsOf(owner), ownerReferences: ownedBy(owner) }, spec };
}

/** The last of the names is the member's own. */
function memberPod(owner: EtcdCluster, names: readonly string[], token: string): Pod {
  const { namespace = "", name = "" } = owner.metadata ?? {};
  const key = { namespace, name };
  const member = names.at(-1) ?? "";
  const isSeed = names.length === 1;
  return {
    metadata: {
      namespace,
      name: member,
      labels: { ...labelsOf(owner), etcd_node: member },
      annotations: { "etcd.version": inheritedVersion },
      ownerReferences: ownedBy(owner),
    },
    spec: {
      hostname: member,
      subdomain: name,
      restartPolicy: "Never",
      automountServiceAccountToken: false,
      initContainers: [
        {
          name: "check-dns",
          image: "docker.io/library/busybox:1.35",
          // A newer busybox does not search the domains of the pod.
          command: ["/bin/sh", "-c", waitForDns(`${hostOf(key, member)}.cluster.local`)],
        },
      ],
      containers: [
        {
          name: "etcd",
          image: `${repository}:v${inheritedVersion}`,
          command: [
            "/usr/local/bin/etcd",
            "--data-dir=/var/etcd/data",
            `--name=${member}`,
            `--initial-advertise-peer-urls=${peerUrl(key, member)}`,
            "--listen-peer-urls=http://0.0.0.0:2380",
            "--listen-client-urls=http://0.0.0.0:2379",
            `--advertise-client-urls=http://${hostOf(key, member)}:2379`,
            `--initial-cluster=${names.map((one) => `${one}=${peerUrl(key, one)}`).join(",")}`,
            `--initial-cluster-state=${isSeed ? "new" : "existing"}`,
            ...(isSeed ? [`--initial-cluster-token=${token}`] : []),
          ],
          ports: [
            { name: "server", containerPort: 2380, protocol: "TCP" },
            { name: "client", containerPort: 2379, protocol: "TCP" },
          ],
          volumeMounts: [{ name: "etcd-data", mountPath: "/var/etcd" }],
          livenessProbe: probe({ initialDelaySeconds: 10, timeoutSeconds: 10, periodSeconds: 60 }),
          readinessProbe: probe({ initialDelaySeconds: 1, timeoutSeconds: 5, periodSeconds: 5 }),
        },
      ],
      volumes: [
        {
          name: "etcd-data",
          ...(owner.spec.pod?.persistentVolumeClaimSpec === undefined
            ? { emptyDir: {} }
            : { persistentVolumeClaim: { claimName: member } }),
        },
      ],
    },
  };
}

/** The same pod as it was made for a cluster with TLS: its own Secrets, and a shell that probes with the operator's. */
function withTls(pod: Pod, secrets: InheritedSecrets | undefined): Pod {
  const [container] = pod.spec?.containers ?? [];
  if (secrets === undefined || pod.spec === undefined || container === undefined) return pod;
  const mounts = [
    { name: "member-peer-tls", secretName: secrets.peerSecret, mountPath: "/etc/etcdtls/member/peer-tls" },
    { name: "member-server-tls", secretName: secrets.serverSecret, mountPath: "/etc/etcdtls/member/server-tls" },
    { name: "etcd-client-tls", secretName: secrets.operatorSecret, mountPath: "/etc/etcdtls/operator/etcd-tls" },
  ];
  const at = (kind: "peer" | "server"): string => `/etc/etcdtls/member/${kind}-tls/${kind}`;
  const [peer, server, client] = [at("peer"), at("server"), "/etc/etcdtls/operator/etcd-tls/etcd-client"];
  const script = `ETCDCTL_API=3 etcdctl --endpoints=https://localhost:2379 --cert=${client}.crt --key=${client}.key --cacert=${client}-ca.crt endpoint status`;
  const exec = { command: ["/bin/sh", "-ec", script] };
  return {
    ...pod,
    spec: {
      ...pod.spec,
      containers: [
        {
          ...container,
          command: [
            ...(container.command ?? []).map((one) => one.replaceAll("http://", "https://")),
            "--peer-client-cert-auth=true",
            `--peer-trusted-ca-file=${peer}-ca.crt`,
            `--peer-cert-file=${peer}.crt`,
            `--peer-key-file=${peer}.key`,
            "--client-cert-auth=true",
            `--trusted-ca-file=${server}-ca.crt`,
            `--cert-file=${server}.crt`,
            `--key-file=${server}.key`,
          ],
          volumeMounts: [
            ...mounts.map(({ name, mountPath }) => ({ name, mountPath })),
            ...(container.volumeMounts ?? []),
          ],
          livenessProbe: { ...container.livenessProbe, exec },
          readinessProbe: { ...container.readinessProbe, exec },
        },
      ],
      volumes: [
        ...mounts.map(({ name, secretName }) => ({ name, secret: { secretName } })),
        ...(pod.spec.volumes ?? []),
      ],
    },
  };
}

function probe(times: Pick<Probe, "initialDelaySeconds" | "timeoutSeconds" | "periodSeconds">): Probe {
  const command = ["/bin/sh", "-ec", "ETCDCTL_API=3 etcdctl endpoint status"];
  return { exec: { command }, failureThreshold: 3, ...times };
}

const waitForDns = (host: string): string => `
  TIMEOUT_READY=0
  while ( ! nslookup -type=a ${host} )
  do
    # If TIMEOUT_READY is 0 we should never time out and exit
    TIMEOUT_READY=$(( TIMEOUT_READY-1 ))
    if [ $TIMEOUT_READY -eq 0 ];
    then
      echo "Timed out waiting for DNS entry"
      exit 1
    fi
    sleep 1
  done`;

/** As a voter: it knew no learners. */
async function addMember(
  cluster: TestCluster,
  names: readonly string[],
  name: string,
  scheme: "http" | "https",
): Promise<void> {
  if (names.length === 0) return;
  const [first] = await untilServing(cluster, names);
  assert.ok(first);
  // etcd refuses while a member is new.
  await waitFor(
    `etcd to admit ${name}`,
    () => memberAt(first).memberAdd({ as: "voter", peerUrls: [peerUrl(cluster.key, name).replace(/^http/, scheme)] }),
    { timeoutMs: patience, everyMs: 500 },
  );
}

/** Their addresses. */
function untilServing(cluster: TestCluster, names: readonly string[]): Promise<string[]> {
  return waitFor(
    `${names.join(", ")} to serve`,
    async () => {
      const pods = (await cluster.pods()).filter(({ metadata }) => names.includes(metadata?.name ?? ""));
      const addresses = pods.flatMap(({ status }) => (status?.podIP === undefined ? [] : [status.podIP]));
      if (addresses.length < names.length) return undefined;
      for (const address of addresses) await memberAt(address).get("/", {}, { deadline: 1_000 });
      return addresses;
    },
    { timeoutMs: patience },
  );
}

/** It knew no cluster id. */
async function writeStatus(key: Key, names: readonly string[]): Promise<void> {
  const now = new Date().toISOString();
  const available = { type: "Available", status: "True", reason: "Cluster available" } as const;
  const status = {
    phase: "Running",
    size: names.length,
    serviceName: `${key.name}-client`,
    clientPort: 2379,
    members: { ready: [...names] },
    conditions: [{ ...available, lastUpdateTime: now, lastTransitionTime: now }],
    currentVersion: inheritedVersion,
    targetVersion: "",
  };
  await kube.mergePatch(EtcdCluster, key, { status }, { subresource: "status" });
}

/** A cluster-wide operator takes it over. */
export async function handOver({ key }: TestCluster): Promise<void> {
  const annotations = { [`${EtcdCluster.group}/scope`]: "clusterwide" };
  await kube.mergePatch(EtcdCluster, key, { metadata: { annotations } });
}
