// The members of a cluster as people read them: role, health, version, size, lag, place and age of each.
import type { EtcdClusterStatus } from "../../api/etcd-cluster/etcd-cluster.ts";
import { versionAnnotation } from "../../cluster/objects/member-pod.ts";
import type { Node, Pod } from "../../kube/objects/kinds.ts";
import type { Figures } from "../observe/figures.ts";
import { type Observed, valueOr } from "../observe/observe.ts";
import { timeOf } from "../screen/words.ts";
import { defined } from "../../defined.ts";

type Role = "leader" | "voter" | "learner" | "joining";

export interface MemberView {
  readonly name: string;
  readonly role: Role;
  /** It takes part: etcd says so, or its pod is ready. A kubelet notices either some seconds later. */
  readonly healthy: boolean;
  /** As in healthy, not ready, starting, CrashLoopBackOff, leaving, gone. */
  readonly health: string;
  readonly version?: string;
  readonly dbSize?: number;
  readonly dbInUse?: number;
  readonly quota?: number;
  /** How many entries of the raft log it is behind the furthest member. */
  readonly lag?: number;
  readonly node?: string;
  readonly zone?: string;
  readonly ageSeconds?: number;
  readonly restarts?: number;
}

export function membersOf(observed: Observed): MemberView[] {
  const { cluster, figures, now } = observed;
  const status = cluster.status ?? {};
  const pods = valueOr(observed.pods, []);
  const nodes = new Map(valueOr(observed.nodes, []).map((node) => [node.metadata?.name ?? "", node]));
  // Where nobody answers, the way to them may be closed, and their pods say more.
  const isHeard = [...figures.values()].some(({ t }) => t === "found");
  const figuresOf = (name: string): Figures => {
    const one = figures.get(name);
    return one?.t === "found" ? one.value : {};
  };
  const furthest = Math.max(...pods.map(({ metadata }) => figuresOf(metadata?.name ?? "").committed ?? 0), 0);
  const seen = pods.map((pod) => {
    const name = pod.metadata?.name ?? "";
    return memberOf(pod, figuresOf(name), {
      status,
      node: nodes.get(pod.spec?.nodeName ?? ""),
      furthest,
      now,
      silent: isHeard && figures.get(name)?.t === "silent",
    });
  });
  const names = new Set(seen.map(({ name }) => name));
  const lost = observed.pods.t === "missing" ? [] : (status.voters ?? []).filter((name) => !names.has(name));
  const unseen = observed.pods.t === "missing" ? withoutPods(status) : [];
  return [...seen, ...unseen, ...lost.map(goneMember)].toSorted(byAge);
}

interface Around {
  readonly status: EtcdClusterStatus;
  readonly node: Node | undefined;
  readonly furthest: number;
  readonly now: number;
  readonly silent: boolean;
}

function memberOf(pod: Pod, figures: Figures, { status, node, furthest, now, silent }: Around): MemberView {
  const { name = "", creationTimestamp, annotations = {} } = pod.metadata ?? {};
  const seen = healthOf(pod, figures);
  const { health, healthy } = silent && seen.healthy ? { health: "silent", healthy: false } : seen;
  const created = timeOf(creationTimestamp);
  const version = figures.version ?? annotations[versionAnnotation];
  const zone = node?.metadata?.labels?.["topology.kubernetes.io/zone"];
  const restarts = etcdOf(pod)?.restartCount;
  return {
    name,
    role: roleOf(name, figures, status, healthy),
    healthy,
    health,
    ...defined({ version, dbSize: figures.dbSize, dbInUse: figures.dbInUse }),
    ...(figures.quota !== undefined && figures.quota > 0 && { quota: figures.quota }),
    ...(figures.applied !== undefined && { lag: Math.max(0, furthest - figures.applied) }),
    ...(pod.spec?.nodeName !== undefined && { node: pod.spec.nodeName }),
    ...(zone !== undefined && { zone }),
    ...(created !== undefined && { ageSeconds: Math.max(0, Math.round((now - created) / 1000)) }),
    ...(restarts !== undefined && { restarts }),
  };
}

/** The status may be of before it died: who is not healthy does not lead. */
function roleOf(name: string, figures: Figures, { leader, voters = [] }: EtcdClusterStatus, healthy: boolean): Role {
  if (figures.isLeader ?? (healthy && leader === name)) return "leader";
  if (figures.isLearner === true) return "learner";
  return voters.includes(name) ? "voter" : "joining";
}

const etcdOf = ({ status }: Pod) => status?.containerStatuses?.find(({ name }) => name === "etcd");

function healthOf(pod: Pod, figures: Figures): { health: string; healthy: boolean } {
  const no = (health: string): { health: string; healthy: boolean } => ({ health, healthy: false });
  if (pod.metadata?.deletionTimestamp !== undefined) return no("leaving");
  const isReady = pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true;
  if (isReady) return figures.hasLeader === false ? no("no leader") : { health: "healthy", healthy: true };
  const { phase, conditions = [] } = pod.status ?? {};
  const unscheduled = conditions.find(({ type, status }) => type === "PodScheduled" && status === "False");
  if (unscheduled !== undefined) return no(unscheduled.reason ?? "unscheduled");
  const state = etcdOf(pod)?.state;
  if (state?.waiting?.reason !== undefined)
    return no(state.waiting.reason === "ContainerCreating" ? "starting" : state.waiting.reason);
  if (state?.terminated !== undefined) return no(state.terminated.reason ?? "ended");
  if (phase === "Failed" || phase === "Succeeded") return no("ended");
  if (state?.running === undefined) return no("starting");
  return { health: "not ready", healthy: figures.hasLeader === true && figures.isLearner !== true };
}

/** etcd lists it, and it has no pod. */
const goneMember = (name: string): MemberView => ({ name, role: "voter", healthy: false, health: "gone" });

/** Where pods may not be read, the status says what it knows. */
function withoutPods({ members, voters = [], leader }: EtcdClusterStatus): MemberView[] {
  const ready = new Set(members?.ready);
  const names = new Set([...voters, ...(members?.ready ?? []), ...(members?.unready ?? [])]);
  return [...names].map((name) => ({
    name,
    role: name === leader ? "leader" : voters.includes(name) ? "voter" : "joining",
    healthy: ready.has(name),
    health: ready.has(name) ? "healthy" : "not ready",
  }));
}

/** The oldest first: it does not move while others come and go. */
function byAge(a: MemberView, b: MemberView): number {
  return (b.ageSeconds ?? 0) - (a.ageSeconds ?? 0) || a.name.localeCompare(b.name);
}
