// The pod of a member. Name, labels, ports and paths are those of etcd-operator 0.9, so that what people built around
// them goes on working; it passes the restricted Pod Security profile and restarts in place, because its data is its pod's.
import type {
  Affinity,
  Container,
  ContainerPort,
  EnvVar,
  PodSecurityContext,
  PodSpec,
  Volume,
} from "kubernetes-types/core/v1.js";
import { type CompleteEtcdCluster, EtcdCluster, imageOf } from "../../api/etcd-cluster/etcd-cluster.ts";
import { has } from "../../etcd/versions/features.ts";
import type { Pod } from "../../kube/objects/kinds.ts";
import { volumesOf } from "../../worker/mounts.ts";
import { containerSecurity, restoreContainer, scratchVolume, workerContainer } from "../../worker/pod.ts";
import { limited, scratchOf } from "../../worker/scratch.ts";
import { addressVariable, type AwaitNameJob } from "../../worker/job.ts";
import { imageAnnotation } from "./claims.ts";
import { chosenFlags, commandOf, environmentOf, versionOf } from "./etcd-command.ts";
import {
  type FirstStart,
  mayRestoreVariable,
  type SeedRestore,
  startAnnotations,
  startVariables,
} from "./first-start.ts";
import { firstMembersGate } from "./first-members.ts";
import { labelsOf, metadataOf, ports } from "./labels.ts";
import { hostOf, type MemberName } from "./names.ts";
import { containerProbes } from "./probes.ts";
import { settingsOf } from "./settings.ts";
import {
  peerCheckOf,
  plainText,
  type PodTls,
  schemeOf,
  servingGate,
  tlsMounts,
  tlsVolumes,
  trustAnnotations,
} from "./tls.ts";

export const versionAnnotation = "etcd.version";
/** What `settingsOf` gave when the pod was made. */
export const settingsAnnotation = `${EtcdCluster.group}/settings`;
/** What it was before its image was changed in place, as JSON; taken away once its member serves in the new version. */
export const changedFromAnnotation = `${EtcdCluster.group}/changed-from`;
/** On an EtcdCluster: every member is to be replaced by a new one. On a pod: what it said when the pod was made. */
export const restartedAtAnnotation = `${EtcdCluster.group}/restartedAt`;
export const etcdContainer = "etcd";
export const dataVolume = "etcd-data";

/** The user that distroless images call nonroot; the program needs none in particular. */
const nobody = 65_532;

/** `quota`: of its database, where the spec says none; part of no settings, so that another default changes no pod that runs. */
export function memberPod(
  cluster: CompleteEtcdCluster,
  member: MemberName,
  start: FirstStart,
  tls: PodTls = plainText,
  quota?: number,
): Pod {
  const { labels = {}, annotations = {} } = cluster.spec.pod;
  const metadata = metadataOf(cluster, member);
  return {
    metadata: {
      ...metadata,
      labels: { ...labels, ...metadata.labels, etcd_node: member },
      annotations: {
        ...annotations,
        ...startAnnotations(cluster, member, start, schemeOf(tls.peer === "tls")),
        ...trustAnnotations(tls),
        [versionAnnotation]: cluster.spec.version,
        [imageAnnotation]: imageOf(cluster.spec),
        [settingsAnnotation]: settingsOf(cluster.spec),
        ...restartedAt(cluster),
      },
    },
    spec: podSpec(cluster, member, start, tls, quota),
  };
}

export function restartedAtOf({ metadata }: CompleteEtcdCluster): string | undefined {
  return metadata.annotations?.[restartedAtAnnotation];
}

function restartedAt(cluster: CompleteEtcdCluster): Record<string, string> {
  const asked = restartedAtOf(cluster);
  return asked === undefined ? {} : { [restartedAtAnnotation]: asked };
}

function podSpec(
  cluster: CompleteEtcdCluster,
  member: MemberName,
  start: FirstStart,
  tls: PodTls,
  quota: number | undefined,
): PodSpec {
  const { pod } = cluster.spec;
  return {
    hostname: member,
    subdomain: cluster.metadata.name,
    // Before it joins, etcd looks up every peer's name, its own too, and tries again each second until DNS has it, which
    // takes some seconds for a new pod. Nobody else reads this, and the member listens on loopback as well.
    hostAliases: [{ ip: "127.0.0.1", hostnames: [hostOf(cluster, member)] }],
    restartPolicy: "Always",
    automountServiceAccountToken: false,
    // Variables for every Service of the namespace, some of which begin with ETCD_ and would be read as flags.
    enableServiceLinks: false,
    terminationGracePeriodSeconds: pod.terminationGracePeriodSeconds ?? 5,
    securityContext: podSecurity(pod.securityContext),
    affinity: pod.affinity ?? apart(cluster),
    ...given("initContainers", beforeEtcd(cluster, member, start, tls)),
    containers: [container(cluster, member, start, tls, quota)],
    volumes: [...tlsVolumes(cluster, tls), dataIn(cluster, member, start), ...workerVolumes(start)],
    ...(tls.client && { readinessGates: [{ conditionType: servingGate }] }),
    ...given("nodeSelector", pod.nodeSelector),
    ...given("tolerations", pod.tolerations),
    ...given("topologySpreadConstraints", pod.topologySpreadConstraints),
    ...placing(pod),
    ...(start.as === "restored" && placingRestored(pod, start.restore)),
    ...(start.as === "restored" && start.restore.job.initialCluster !== undefined && heldBack),
  };
}

const heldBack = { schedulingGates: [{ name: firstMembersGate }] };

/** A pod has one identity: that of the worker, where the store asks for one. etcd needs none, and is given no token. */
function placingRestored({ imagePullSecrets = [] }: CompleteEtcdCluster["spec"]["pod"], { policy }: SeedRestore) {
  const secrets = [...imagePullSecrets, ...(policy.imagePullSecrets ?? [])];
  return {
    ...given("serviceAccountName", policy.serviceAccountName),
    ...(secrets.length > 0 && { imagePullSecrets: secrets }),
  };
}

/** What decides whether a node takes the pod and can pull its image. */
export function placing({
  priorityClassName,
  serviceAccountName,
  imagePullSecrets,
}: CompleteEtcdCluster["spec"]["pod"]): Partial<PodSpec> {
  return {
    ...given("priorityClassName", priorityClassName),
    ...given("serviceAccountName", serviceAccountName),
    ...given("imagePullSecrets", imagePullSecrets),
  };
}

/**
 * Who returns has a volume, whatever is asked for by now. Without one the data has no limit of its own: a kubelet evicts a
 * member that reaches it, and with it goes a copy of the data. The quota is what bounds the database.
 */
function dataIn({ spec }: CompleteEtcdCluster, member: MemberName, { as }: FirstStart): Volume {
  const isInVolume = as === "returning" || spec.pod.persistentVolumeClaimSpec !== undefined;
  return isInVolume
    ? { name: dataVolume, persistentVolumeClaim: { claimName: member } }
    : { name: dataVolume, emptyDir: {} };
}

function beforeEtcd(cluster: CompleteEtcdCluster, member: MemberName, start: FirstStart, tls: PodTls): Container[] {
  if (start.as === "restored") return [restoring(cluster, start.restore)];
  if (start.as !== "joining" || start.worker === undefined || tls.peer === "plain") return [];
  const isLookedUp = peerCheckOf(versionOf(cluster), tls, chosenFlags(cluster)) === "dns";
  return isLookedUp ? [awaitingName(cluster, member, start.worker)] : [];
}

/** Its name is how the operator finds what keeps it. */
export const nameContainer = "await-name";
const usualDnsTimeout = 60;

/** Peers look it up in DNS, and refuse it until they find it. etcd would exit, and wait for the kubelet's back-off. */
function awaitingName(cluster: CompleteEtcdCluster, member: MemberName, image: string): Container {
  const { DNSTimeoutInSecond, resources } = cluster.spec.pod;
  const withinSeconds = DNSTimeoutInSecond > 0 ? DNSTimeoutInSecond : usualDnsTimeout;
  const job: AwaitNameJob = { do: "awaitName", host: hostOf(cluster, member), withinSeconds };
  const { volumeMounts: _, ...worker } = workerContainer({ name: nameContainer, image, job, mounts: [] });
  const address: EnvVar = { name: addressVariable, valueFrom: { fieldRef: { fieldPath: "status.podIP" } } };
  return { ...worker, ...given("resources", resources), env: [...(worker.env ?? []), address] };
}

/**
 * A namespace with a ResourceQuota takes no container without resources. Those of etcd cost nothing more: a pod counts as its
 * largest init container or as all of its containers, whichever is more.
 */
function restoring(cluster: CompleteEtcdCluster, { image, job, mounts, policy }: SeedRestore): Container {
  const { scratchSize } = policy;
  const worker = workerContainer({ name: restoreContainer, image, job, mounts, scratchSize });
  return {
    ...worker,
    ...given("resources", policy.resources ?? cluster.spec.pod.resources),
    env: [...(worker.env ?? []), mayRestoreVariable],
    volumeMounts: [...(worker.volumeMounts ?? []), { name: dataVolume, mountPath: "/var/etcd" }],
  };
}

function workerVolumes(start: FirstStart): Volume[] {
  if (start.as !== "restored") return [];
  const { mounts, job, policy } = start.restore;
  return [...volumesOf(mounts), { name: scratchVolume, emptyDir: limited(scratchOf(job, policy)) }];
}

function container(
  cluster: CompleteEtcdCluster,
  member: MemberName,
  start: FirstStart,
  tls: PodTls,
  quota: number | undefined,
): Container {
  const version = versionOf(cluster);
  const { resources, etcdEnv } = cluster.spec.pod;
  const metrics: ContainerPort = { name: "metrics", containerPort: ports.metrics, protocol: "TCP" };
  return {
    name: etcdContainer,
    image: imageOf(cluster.spec),
    command: commandOf(cluster, member, tls, quota),
    ports: [
      { name: "server", containerPort: ports.peer, protocol: "TCP" },
      { name: "client", containerPort: ports.client, protocol: "TCP" },
      ...(has(version, "metricsListener") ? [metrics] : []),
    ],
    volumeMounts: [...tlsMounts(tls), { name: dataVolume, mountPath: "/var/etcd" }],
    ...containerProbes(version, tls),
    // With the end of the log the status can say why an etcd exited. etcd repeats a value that it complains about, so not
    // where one comes from a Secret.
    terminationMessagePolicy: etcdEnv?.some(isSecret) ? "File" : "FallbackToLogsOnError",
    securityContext: containerSecurity,
    ...given("resources", resources),
    // The operator's last: of two variables of one name the last one counts.
    env: [...(etcdEnv ?? []), ...startVariables(start), ...environmentOf(cluster, member, tls)],
  };
}

const isSecret = ({ valueFrom }: EnvVar): boolean => valueFrom?.secretKeyRef !== undefined;

/** What a person sets wins, field by field. Who asks for root is not stopped by a default that forbids it. */
export function podSecurity(asked: PodSecurityContext = {}): PodSecurityContext {
  return {
    runAsNonRoot: asked.runAsUser !== 0,
    runAsUser: nobody,
    runAsGroup: nobody,
    fsGroup: nobody,
    seccompProfile: { type: "RuntimeDefault" },
    ...asked,
  };
}

/** Rather on different nodes and zones, and never at the price of not running. */
function apart(cluster: CompleteEtcdCluster): Affinity {
  const rather = (weight: number, topologyKey: string) => ({
    weight,
    podAffinityTerm: { labelSelector: { matchLabels: labelsOf(cluster) }, topologyKey },
  });
  const preferredDuringSchedulingIgnoredDuringExecution = [
    rather(100, "kubernetes.io/hostname"),
    rather(50, "topology.kubernetes.io/zone"),
  ];
  return { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution } };
}

/** A field only when it was asked for: an empty one would be a change at every comparison. */
function given<K extends string, V extends object | string>(name: K, value: V | undefined): Partial<Record<K, V>> {
  if (value === undefined || value === "" || (typeof value === "object" && Object.keys(value).length === 0)) return {};
  // The computed key loses its literal type.
  return { [name]: value } as Partial<Record<K, V>>;
}
