// Starts a lab, as much as possible concurrently. A start that fails or is interrupted leaves nothing but its logs.
import { setTimeout as sleep } from "node:timers/promises";
import { routesInto } from "./machine/addresses.ts";
import type { KubeApi } from "../src/kube/client/api.ts";
import { isNotFound } from "../src/kube/client/errors.ts";
import { Node, ServiceAccount } from "../src/kube/objects/kinds.ts";
import { isReady, labApi } from "./control-plane/api.ts";
import { type LabConfig, labNodes, logPath, UsageError } from "./config.ts";
import { startApiServer, startControllers } from "./control-plane/control-plane.ts";
import { type Daemon, isAlive, readDaemon } from "./machine/daemon.ts";
import { startDns } from "./control-plane/dns.ts";
import { tearDown } from "./down.ts";
import { cloneImages } from "./nodes/image-template.ts";
import { writeKubeconfigs } from "./control-plane/kubeconfig.ts";
import { prepareHandles } from "./nodes/mounts.ts";
import { makeNetwork } from "./nodes/network.ts";
import { carriesServices, prepareNode, startAgents, startContainerd } from "./nodes/node.ts";
import { makePki } from "./control-plane/pki.ts";
import { prepareMachine } from "./prepare.ts";
import { seconds, step, type Step } from "./progress.ts";
import { busyMs, mustLive, waitForDaemon } from "./control-plane/readiness.ts";
import { claim, lock, readRecord, refuseTakenRange, writeRecord } from "./machine/registry.ts";
import { removeState } from "./state.ts";
import { startStorage } from "./storage/start.ts";
import { together } from "./together.ts";
import { kernelTraces } from "./machine/traces.ts";

interface UpOptions {
  readonly signal?: AbortSignal;
}

type UpResult = { readonly t: "started"; readonly milliseconds: number } | { readonly t: "running" };

/** Every daemon of a lab. */
export const components = (lab: LabConfig): string[] => [
  "etcd",
  "apiserver",
  "controller-manager",
  "scheduler",
  "coredns",
  "storage",
  ...labNodes(lab).flatMap(({ name }) => [`containerd-${name}`, `kubelet-${name}`, `kube-proxy-${name}`]),
];

/** True when every daemon of this folder's lab runs and the API server is ready. */
export async function isUp(lab: LabConfig): Promise<boolean> {
  const record = readRecord(lab.name);
  if (record === undefined || record.state !== lab.state) return false;
  const alive = components(record).every((component) => {
    const daemon = readDaemon(record, component);
    return daemon !== undefined && isAlive(daemon);
  });
  return alive && (await isReady(record));
}

export async function up(lab: LabConfig, options: UpOptions = {}): Promise<UpResult> {
  const signal = options.signal ?? new AbortController().signal;
  claim(lab); // fails early, before the builds
  refuseTakenRange(lab);
  if (await runsAlready(lab)) return { t: "running" };
  const template = await prepareMachine(lab, signal);
  const release = await lock(lab.name, "being started");
  try {
    if (await runsAlready(lab)) return { t: "running" };
    await makeRoom(lab);
    signal.throwIfAborted();
    const began = Date.now();
    writeRecord(lab);
    try {
      await step(`start the lab "${lab.name}"`, (progress) => start(lab, template, signal, progress));
    } catch (error) {
      await step(`clean up after the failed start; logs stay in ${logPath(lab, "*")}`, () =>
        tearDown(lab, { logs: true }),
      );
      throw error;
    }
    return { t: "started", milliseconds: Date.now() - began };
  } finally {
    await release();
  }
}

/** A running lab is left as it is. Throws a UsageError when it runs with other settings than asked for. */
async function runsAlready(lab: LabConfig): Promise<boolean> {
  const found = claim(lab);
  if (found.t !== "ours" || !(await isUp(lab))) return false;
  const { prefix, nodes, kubernetes } = found.record;
  if (prefix === lab.prefix && nodes === lab.nodes && kubernetes === lab.kubernetes) return true;
  throw new UsageError(
    `The lab "${lab.name}" runs with ${nodes} nodes of Kubernetes ${kubernetes} in ${prefix}.0.0/16: take it down first ` +
      `with "node lab/main.ts down --name ${lab.name}" to start it with other settings.`,
  );
}

/** Cleans up after a dead lab of this name, then checks that nobody else uses the range. */
async function makeRoom(lab: LabConfig): Promise<void> {
  const found = claim(lab);
  const remains = found.t === "ours" ? found.record : found.t === "remains" ? found.of : undefined;
  if (remains !== undefined || (await kernelTraces(lab)).some((trace) => !trace.startsWith("route ")))
    await step(`clean up what an earlier lab "${lab.name}" left`, () => tearDown(remains ?? lab));
  removeState(lab, { logs: false }); // files survive a reboot of the machine; the rest does not
  refuseTakenRange(lab);
  const [route] = await routesInto(lab);
  if (route !== undefined)
    throw new UsageError(`This machine already has a network in the lab's range (${route}): choose another --subnet.`);
}

async function start(lab: LabConfig, template: string, signal: AbortSignal, progress: Step): Promise<void> {
  const nodes = labNodes(lab);
  progress.detail("certificates, network, disks");
  await together(signal, [
    () => makePki(lab).then(() => writeKubeconfigs(lab)),
    () => makeNetwork(lab),
    () => prepareHandles(lab).then(async () => void (await Promise.all(nodes.map((node) => prepareNode(lab, node))))),
    ...nodes.map((node) => () => cloneImages(template, node)),
  ]);
  progress.detail("API server");
  await together(signal, [
    (either) => startApiServer(lab, either),
    ...nodes.map((node) => (either: AbortSignal) => startContainerd(lab, node, either)),
  ]);
  const controllers = startControllers(lab);
  const agents = nodes.map((node) => ({ node, ...startAgents(lab, node) }));
  const mustLast = [...controllers, ...agents.map(({ kubelet }) => kubelet)];
  using api = labApi(lab);
  // Everything that needs only the API server starts here.
  await together(signal, [
    (either) => startDns(lab, api, either),
    (either) => startStorage(lab, api, either),
    ...agents.map(
      ({ node, proxy }) =>
        (either: AbortSignal) =>
          waitForDaemon(lab, proxy, () => carriesServices(node), either),
    ),
    (either) => waitForNodes(lab, api, mustLast, either, progress),
  ]);
}

/** One slow answer of a busy API server must not end the start. */
const answerWithinMs = 30_000;

/** Waits until all nodes are Ready and untainted, and pods can be created: their service account exists. */
async function waitForNodes(
  lab: LabConfig,
  api: KubeApi,
  mustLast: readonly Daemon[],
  signal: AbortSignal,
  progress: Step,
): Promise<void> {
  const deadline = Date.now() + busyMs;
  for (;;) {
    signal.throwIfAborted();
    for (const daemon of mustLast) mustLive(lab, daemon);
    const { items } = await api.list(Node, { deadline: answerWithinMs, signal });
    const ready = items.filter(
      ({ spec, status }) =>
        (spec?.taints ?? []).length === 0 &&
        status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True"),
    );
    const account = await hasAccount(api, signal);
    if (ready.length === lab.nodes && account) return;
    const seen = `${ready.length} of ${lab.nodes} nodes Ready${account ? "" : ", no service account yet"}`;
    progress.detail(seen);
    if (Date.now() > deadline)
      throw new Error(`${seen} after ${seconds(busyMs)}; see ${logPath(lab, "kubelet-n0")} and the other logs there`);
    await sleep(100);
  }
}

async function hasAccount(api: KubeApi, signal: AbortSignal): Promise<boolean> {
  try {
    await api.get(ServiceAccount, { namespace: "default", name: "default" }, { deadline: answerWithinMs, signal });
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}
