// Reduces a pod to what the planner needs: its state with the kubelet's reason, what its etcd was started with, and
// whether its node is still there.
import type { Container, ContainerStatus, Probe } from "kubernetes-types/core/v1.js";
import { flagName, variableOf } from "../../api/etcd-cluster/etcd-flags.ts";
import type { Node, Pod } from "../../kube/objects/kinds.ts";
import type { StoreView } from "../../kube/cache/store.ts";
import {
  changedFromAnnotation,
  dataVolume,
  etcdContainer,
  nameContainer,
  restartedAtAnnotation,
  settingsAnnotation,
  versionAnnotation,
} from "../objects/member-pod.ts";
import { imageAnnotation } from "../objects/claims.ts";
import { backupsVolume } from "../../worker/mounts.ts";
import { restoreContainer } from "../../worker/pod.ts";
import { type MemberName, memberName } from "../objects/names.ts";
import { parseSettings } from "../objects/settings.ts";
import { type StartedAgain, startedAgainAnnotation, startedAgainIn } from "../objects/image-reference.ts";
import { firstMembersGate } from "../objects/first-members.ts";
import { hasItsLabels } from "../objects/labels.ts";
import { peerCheckBy, renewedAnnotation, servingGate, trustIn } from "../objects/tls.ts";
import {
  endProblem,
  foundNoData,
  nameProblem,
  neverRan,
  restoreProblem,
  schedulingProblem,
  problemSentence,
  waitingProblem,
  workerImageProblem,
} from "./pod-problems.ts";
import {
  initialClusterAnnotation,
  initialClusterVariable,
  initialStateAnnotation,
  isClosed,
} from "../objects/first-start.ts";
import type { ChangedFrom, MemberPod, PodNode, PodState, PodTrouble, StartGuard } from "./world.ts";
import { leanStatus } from "../../controllers/caches.ts";

export function observedPod(pod: Pod, nodes: StoreView<Node> | undefined): MemberPod {
  const { name = "", uid = "", creationTimestamp, deletionTimestamp, annotations } = pod.metadata ?? {};
  const member = memberName(name);
  const state = stateOf(pod);
  const { [settingsAnnotation]: madeFrom, [restartedAtAnnotation]: restartedAt } = annotations ?? {};
  const startedAgain = startedAgainIn(annotations?.[startedAgainAnnotation], containerOf(pod)?.image ?? "");
  const quota = numberOf(settingOf(pod, "quota-backend-bytes"));
  const changedFrom = changedFromIn(annotations?.[changedFromAnnotation]);
  return {
    name: member,
    uid,
    createdAt: time(creationTimestamp) ?? 0,
    terminating: deletionTimestamp !== undefined,
    state,
    ready: conditionOf(pod, "Ready")?.status === "True",
    ...(wasReadyOnce(pod) && { readyOnce: true }),
    labelled: hasItsLabels(pod),
    address: state.t === "ended" ? undefined : pod.status?.podIP || undefined,
    node: observedNode(pod.spec?.nodeName, nodes),
    version: annotations?.[versionAnnotation] ?? "",
    ...imageOf(pod, startedAgain),
    ...(startedAgain && { startedAgain: { restarts: startedAgain.restarts, under: nameOf(startedAgain) } }),
    resources: containerOf(pod)?.resources,
    ...startedWith(pod),
    maxLearners: numberOf(settingOf(pod, "max-learners")),
    ...(quota !== undefined && { quota }),
    guard: guardOf(pod, member),
    ...(isGated(pod) && { gated: true }),
    ...(madeFrom !== undefined && { madeFrom }),
    ...givenVariables(pod),
    ...(restartedAt !== undefined && { restartedAt }),
    ...(changedFrom !== undefined && { changedFrom }),
    ...joinsWith(pod),
    ...advertisedBy(pod),
    ...spokenBy(pod),
    ...(pod.spec?.volumes?.some(({ name }) => name === backupsVolume) && { holdsBackups: true }),
    hasVolume: pod.spec?.volumes?.some((v) => v.name === dataVolume && v.persistentVolumeClaim !== undefined) ?? false,
  };
}

const nameOf = ({ asked, reference }: StartedAgain): "itsName" | "anotherName" =>
  asked === reference ? "itsName" : "anotherName";

function stateOf(pod: Pod): PodState {
  const { phase, reason, message } = pod.status ?? {};
  if (phase === "Failed" || phase === "Succeeded")
    return { t: "ended", problem: problemSentence(reason ?? `phase ${phase}`, message) };
  if (!pod.spec?.nodeName) return pending(pod);
  const container = pod.status?.containerStatuses?.find((status) => status.name === etcdContainer);
  if (container?.state?.running !== undefined) return running(pod, container);
  if (container !== undefined && isCrashing(container)) return crashing(pod, container);
  return restoringState(pod) ?? { t: "starting", ...(waitsForName(pod) ?? startProblem(container)) };
}

const isRestored = (pod: Pod): boolean =>
  pod.spec?.initContainers?.some(({ name }) => name === restoreContainer) === true;

/** Its data is being made from a backup, which takes as long as it takes. */
function restoringState(pod: Pod): PodState | undefined {
  const status = pod.status?.initContainerStatuses?.find(({ name }) => name === restoreContainer);
  const { terminated, waiting } = status?.state ?? {};
  if (!isRestored(pod) || terminated?.exitCode === 0) return undefined;
  if (status === undefined) return { t: "starting", restoring: true };
  const ended = terminated ?? status.lastState?.terminated;
  const isWaiting = waiting !== undefined && waiting.reason !== backOff;
  return { t: "starting", restoring: true, ...(isWaiting ? waitingProblem(waiting) : restoreProblem(ended?.message)) };
}

/** What keeps the container that waits for DNS from running; undefined: nothing, or there is none. */
function waitsForName(pod: Pod): PodTrouble | undefined {
  const status = pod.status?.initContainerStatuses?.find(({ name }) => name === nameContainer);
  const { terminated, waiting } = status?.state ?? {};
  if (status === undefined || terminated?.exitCode === 0) return undefined;
  if (waiting !== undefined && waiting.reason !== backOff) return workerImageProblem(waiting);
  return nameProblem(terminated ?? status.lastState?.terminated);
}

/** `started` is the start-up probe's word. Without one, as in pods of etcd-operator 0.9, it is true at once. */
function running(pod: Pod, { restartCount: restarts, started, state }: ContainerStatus): PodState {
  const since = time(state?.running?.startedAt);
  return {
    t: "running",
    restarts,
    ...(since !== undefined && { since }),
    ...(started === false && !wasReadyOnce(pod) && { unheard: true }),
  };
}

/**
 * A kubelet sets all conditions one after the other when it first sees a pod, perhaps across the turn of a second. If
 * this one has moved since, it was true once, through whatever restarts.
 */
function wasReadyOnce(pod: Pod): boolean {
  const [ready, first] = [conditionOf(pod, "Ready"), conditionOf(pod, "Initialized")];
  if (ready?.status === "True") return true;
  const [moved, made] = [time(ready?.lastTransitionTime), time(first?.lastTransitionTime)];
  return moved !== undefined && made !== undefined && moved - made > 1000;
}

const isGated = ({ spec }: Pod): boolean => (spec?.schedulingGates ?? []).some(({ name }) => name === firstMembersGate);

function pending(pod: Pod): PodState {
  if (isGated(pod)) return { t: "pending" };
  const scheduled = conditionOf(pod, "PodScheduled");
  if (scheduled?.status !== "False") return { t: "pending" };
  return { t: "pending", ...schedulingProblem(scheduled.reason, scheduled.message) };
}

/**
 * Its process exited and is started again, now or after the kubelet's back-off. One that waits for anything else, as
 * for its image or a Secret, has not even been started: its data is as it was, however often it exited before.
 */
function isCrashing(container: ContainerStatus): boolean {
  const ended = endOf(container);
  if (ended === undefined || neverRan(ended)) return false;
  return container.state?.terminated !== undefined || container.state?.waiting?.reason === backOff;
}

const backOff = "CrashLoopBackOff";
const endOf = ({ state, lastState }: ContainerStatus) => state?.terminated ?? lastState?.terminated;

/** A kubelet calls a container that it could not start now an ended one, now a waiting one: the end says why. */
function startProblem(container: ContainerStatus | undefined): Partial<PodTrouble> | undefined {
  const waiting = container?.state?.waiting;
  const ended = container && endOf(container);
  const isRetried = waiting === undefined || waiting.reason === backOff || waiting.reason === "RunContainerError";
  return ended !== undefined && neverRan(ended) && isRetried ? endProblem(ended) : waitingProblem(waiting ?? {});
}

function crashing(pod: Pod, container: ContainerStatus): PodState {
  const ended = endOf(container);
  // Nothing says when a series of crashes began, but the container has not been ready since then.
  const unready = conditionOf(pod, "ContainersReady");
  const since = unready?.status === "False" ? time(unready.lastTransitionTime) : time(ended?.finishedAt);
  const began = since ?? time(pod.metadata?.creationTimestamp) ?? 0;
  return {
    t: "crashing",
    since: began,
    exitedAt: time(ended?.finishedAt) ?? began,
    restarts: container.restartCount,
    ...(foundNoData(ended?.message ?? "") && { withoutData: true }),
    ...((ended?.message ?? "") === "" && { wordless: true }),
    ...endProblem(ended),
  };
}

export function observedNode(name: string | undefined, nodes: StoreView<Node> | undefined): PodNode {
  if (!name) return { t: "none" };
  if (nodes === undefined) return { t: "ready", name };
  const node = nodes.get({ namespace: "", name });
  if (node === undefined) return { t: "gone", name };
  const ready = node.status?.conditions?.find((condition) => condition.type === "Ready");
  // False still comes from the kubelet; Unknown is what others write when it has gone silent.
  if (ready?.status !== "Unknown")
    return { t: "ready", name, ...(node.spec?.unschedulable === true && { cordoned: true }) };
  return { t: "silent", name, since: time(ready.lastTransitionTime) ?? 0 };
}

const containerOf = (pod: Pod) => pod.spec?.containers.find(({ name }) => name === etcdContainer);

/** As it was asked for: what came out is what admission made of it, and asking again would give the same. */
function imageOf(pod: Pod, startedAgain: StartedAgain | undefined): Pick<MemberPod, "image" | "rewritten"> {
  const has = containerOf(pod)?.image ?? "";
  const asked = pod.metadata?.annotations?.[imageAnnotation] ?? startedAgain?.asked;
  return asked === undefined || asked === has ? { image: has } : { image: asked, rewritten: has };
}

function startedWith(pod: Pod): Pick<MemberPod, "flags" | "variables" | "featureGates" | "probes"> {
  const { command = [], env = [], livenessProbe, readinessProbe } = containerOf(pod) ?? {};
  const gates = settingOf(pod, featureGates) ?? "";
  return {
    flags: command.filter((one) => one.startsWith("--")).map(flagName),
    variables: env.map(({ name }) => name),
    featureGates: gates
      .split(",")
      .flatMap((gate) => gate.split("=", 1))
      .filter((name) => name !== ""),
    probes: [livenessProbe, readinessProbe].flatMap((probe) => probe?.httpGet?.path ?? probe?.exec?.command?.[0] ?? []),
  };
}

/** By its flags: the spec may have changed since. */
function spokenBy(pod: Pod): Pick<MemberPod, "tls" | "servingGate" | "renewed"> {
  const isTls = (flag: string): boolean => settingOf(pod, flag)?.startsWith("https:") === true;
  const prepared = settingOf(pod, "peer-trusted-ca-file") === undefined ? "plain" : "ready";
  const renewed = pod.metadata?.annotations?.[renewedAnnotation];
  const { variables } = startedWith(pod);
  const isGated = pod.spec?.readinessGates?.some(({ conditionType }) => conditionType === servingGate) === true;
  return {
    tls: {
      peer: isTls("listen-peer-urls") ? "tls" : prepared,
      client: isTls("listen-client-urls"),
      ...trustIn(pod.metadata?.annotations ?? {}),
      made: peerCheckBy(variables) === "signature",
    },
    ...(renewed !== undefined && { renewed }),
    ...(isGated && { servingGate: conditionOf(pod, servingGate)?.status === "True" ? "open" : "closed" }),
  };
}

/** Whatever a person made of it: then it is not known to have been changed. */
function changedFromIn(text: string | undefined): ChangedFrom | undefined {
  try {
    const { version, image, restarts, ran }: Partial<ChangedFrom> = JSON.parse(text ?? "{}");
    const isWhole = typeof version === "string" && typeof image === "string" && typeof restarts === "number";
    if (!isWhole) return undefined;
    return { version, image, restarts, ...(typeof ran === "string" && { ran }) };
  } catch {
    return undefined;
  }
}

/** The value of a flag, as a variable or as an argument: pods of older releases have all of them as arguments. */
function settingOf(pod: Pod, flag: string): string | undefined {
  const { command = [], env = [] } = containerOf(pod) ?? {};
  const argument = command.find((one) => one.startsWith(`--${flag}=`));
  return argument?.slice(flag.length + 3) ?? env.find(({ name }) => name === variableOf(flag))?.value;
}

const numberOf = (text: string | undefined): number | undefined => {
  const number = Number(text ?? Number.NaN);
  return Number.isNaN(number) ? undefined : number;
};

/** Their values are in no annotation: should the spec be wrong one day, other members are made with these. */
function givenVariables(pod: Pod): Pick<MemberPod, "etcdEnv"> {
  const names = givenNames(pod);
  if (names.size === 0) return {};
  return { etcdEnv: (containerOf(pod)?.env ?? []).filter(({ name }) => names.has(name)) };
}

function givenNames({ metadata }: Pod): ReadonlySet<string> {
  const text = metadata?.annotations?.[settingsAnnotation];
  // Most pods have none, and pods are many.
  if (text?.includes('"etcdEnv"') !== true) return new Set();
  return new Set(parseSettings(text)?.pod?.etcdEnv?.map(({ name }) => name));
}

function guardOf(pod: Pod, member: MemberName): StartGuard {
  const { annotations = {} } = pod.metadata ?? {};
  if (!containerOf(pod)?.env?.some((variable) => variable.name === initialClusterVariable)) return "none";
  const { [initialClusterAnnotation]: list = "", [initialStateAnnotation]: state = "" } = annotations;
  return isClosed(member, { list, state }) ? "closed" : "open";
}

function joinsWith(pod: Pod): { joinsWith?: string[] } {
  const list = pod.metadata?.annotations?.[initialClusterAnnotation] ?? settingOf(pod, "initial-cluster");
  if (list === undefined) return {};
  return { joinsWith: list.split(",").map((entry) => entry.slice(entry.indexOf("=") + 1)) };
}

/** Where it said that it is found when it started. */
function advertisedBy(pod: Pod): Pick<MemberPod, "advertises"> {
  const urls = (flag: string): string[] => settingOf(pod, flag)?.split(",") ?? [];
  const advertises = { peer: urls(advertisePeers), client: urls(advertiseClients) };
  return advertises.peer.length + advertises.client.length > 0 ? { advertises } : {};
}

function conditionOf(pod: Pod, type: string) {
  return pod.status?.conditions?.find((condition) => condition.type === type);
}

function time(text: string | undefined): number | undefined {
  const ms = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}

const featureGates = "feature-gates";
const advertisePeers = "initial-advertise-peer-urls";
const advertiseClients = "advertise-client-urls";

/** The flags whose values are read back from pods. */
const valuesRead = [
  "initial-cluster",
  "max-learners",
  "quota-backend-bytes",
  featureGates,
  "listen-peer-urls",
  "listen-client-urls",
  advertisePeers,
  advertiseClients,
  "peer-trusted-ca-file",
];

/** What the cache keeps of a pod: the rest of it is several times as large, and nobody reads it. */
export function leanPod(pod: Pod): Pod {
  const { nodeName, volumes = [], readinessGates, schedulingGates = [] } = pod.spec ?? {};
  return {
    ...pod,
    spec: {
      containers: leanContainers(pod),
      ...(isRestored(pod) && { initContainers: [{ name: restoreContainer }] }),
      volumes: volumes.filter(({ name }) => name === dataVolume || name === backupsVolume),
      ...(nodeName !== undefined && { nodeName }),
      ...(readinessGates !== undefined && { readinessGates }),
      ...(schedulingGates.length > 0 && { schedulingGates }),
    },
    status: leanStatus(pod),
  };
}

function leanContainers(pod: Pod): Container[] {
  const container = containerOf(pod);
  if (container === undefined) return [];
  const { name, image, resources, command = [], env = [], livenessProbe, readinessProbe } = container;
  const flags = command.filter((one) => one.startsWith("--"));
  const given = givenNames(pod);
  const isRead = (variable: string): boolean =>
    given.has(variable) || valuesRead.some((flag) => variable === variableOf(flag));
  return [
    {
      name,
      ...(image !== undefined && { image }),
      ...(resources !== undefined && { resources }),
      ...(flags.length > 0 && { command: flags.map(leanFlag) }),
      ...(env.length > 0 && { env: env.map((one) => (isRead(one.name) ? one : { name: one.name })) }),
      ...(livenessProbe !== undefined && { livenessProbe: leanProbe(livenessProbe) }),
      ...(readinessProbe !== undefined && { readinessProbe: leanProbe(readinessProbe) }),
    },
  ];
}

const leanFlag = (flag: string): string => (valuesRead.includes(flagName(flag)) ? flag : `--${flagName(flag)}`);

function leanProbe({ httpGet, exec }: Probe): Probe {
  return {
    ...(httpGet?.path !== undefined && { httpGet: { path: httpGet.path, port: httpGet.port } }),
    ...(exec?.command?.[0] !== undefined && { exec: { command: exec.command.slice(0, 1) } }),
  };
}

/** What the cache keeps of a node: a large cluster has thousands, each with pages of images and conditions. */
export function leanNode(node: Node): Node {
  const { name = "", uid = "", resourceVersion = "" } = node.metadata ?? {};
  const conditions = (node.status?.conditions ?? [])
    .filter((condition) => condition.type === "Ready")
    .map(({ type, status, lastTransitionTime }) => ({
      type,
      status,
      ...(lastTransitionTime && { lastTransitionTime }),
    }));
  const spec = node.spec?.unschedulable === true ? { spec: { unschedulable: true } } : {};
  return { metadata: { name, uid, resourceVersion }, ...spec, status: { conditions } };
}
