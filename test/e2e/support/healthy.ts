// Checks once whether a cluster is healthy: Kubernetes, etcd and the status agree, and every member serves. Says what it
// saw when the answer is no.
import { withDefaults } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import type { EtcdCluster } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import type { Login } from "../../../src/etcd/login.ts";
import type { EtcdMember, Member, Membership } from "../../../src/etcd/member.ts";
import { isPlaceholder } from "../../../src/cluster/objects/names.ts";
import type { Pod } from "../../../src/kube/objects/kinds.ts";
import { endpointAt } from "./endpoints.ts";
import { etcdMembers } from "./environment.ts";
import { steady } from "./steady.ts";

export interface HealthyMember {
  readonly name: string;
  readonly id: string;
  readonly uid: string;
  readonly address: string;
  readonly node: string;
  readonly restarts: number;
  /** When the pod was created, to the second. */
  readonly madeAt: number;
  /** Asks again where a busy machine gets in the way. */
  readonly etcd: EtcdMember;
}

export interface HealthyCluster {
  readonly clusterId: string;
  readonly leader: HealthyMember;
  /** Sorted by name. */
  readonly members: readonly HealthyMember[];
}

/** Sorted by name. Losing one needs no election. */
export const followers = ({ members, leader }: HealthyCluster): HealthyMember[] =>
  members.filter(({ id }) => id !== leader.id);

type Check =
  | { readonly t: "healthy"; readonly cluster: HealthyCluster }
  | { readonly t: "not"; readonly because: string };

const not = (because: string): Check => ({ t: "not", because });

export const memberAt = (address: string, login?: Login): EtcdMember =>
  etcdMembers.at({ ...endpointAt(address), ...(login && { login }) });

/** Healthy, and Ready is True for the current generation. */
export async function checkCluster(cluster: EtcdCluster, pods: readonly Pod[], login?: Login): Promise<Check> {
  const { status, metadata } = withDefaults(cluster);
  const check = await checkMembers(cluster, pods, login);
  if (check.t === "not") return check;
  const ready = status.conditions.find(({ type }) => type === "Ready");
  if (ready?.status !== "True" || ready.observedGeneration !== metadata.generation) return not(summaryOf(cluster));
  if (status.observedGeneration !== metadata.generation)
    return not(`observedGeneration is behind; ${summaryOf(cluster)}`);
  return check;
}

function summaryOf(cluster: EtcdCluster): string {
  const { status } = withDefaults(cluster);
  const ready = status.conditions.find(({ type }) => type === "Ready");
  return `status ${status.phase} ${status.ready ?? "-"}, Ready ${ready?.status} ${ready?.reason}: ${ready?.message}`;
}

/** All members exist and serve, whatever the conditions say. */
export async function checkMembers(cluster: EtcdCluster, pods: readonly Pod[], login?: Login): Promise<Check> {
  const { spec, status } = withDefaults(cluster);
  const summary = summaryOf(cluster);
  // One that is being deleted serves to its last moment.
  const isGoing = pods.some(({ metadata }) => metadata?.deletionTimestamp !== undefined);
  if (pods.length !== spec.size || isGoing)
    return not(`${pods.length} pods: ${pods.map(podText).join(", ")}; ${summary}`);
  const addresses = pods.flatMap(({ status }) => (status?.podIP ? [status.podIP] : []));
  if (addresses.length !== pods.length) return not(`pods without an address; ${summary}`);
  const lists = await Promise.all(addresses.map((address) => listThrough(memberAt(address, login))));
  for (const [index, list] of lists.entries()) {
    if (typeof list === "string")
      return not(`${podText(pods[index] ?? {})} cannot be read through: ${list}; ${summary}`);
    const odd = oddityIn(list, pods, status.clusterId);
    if (odd !== undefined) return not(`${podText(pods[index] ?? {})}: ${odd}; ${summary}`);
  }
  const [list] = lists;
  if (list === undefined || typeof list === "string") return not("no members");
  const members = pods.map((pod) => memberOf(pod, list.members, login)).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const leads = await Promise.all(members.map(async ({ address }) => (await memberAt(address, login).status()).leader));
  const leader = members.find(({ id }) => leads.every((lead) => lead === id));
  if (leader === undefined) return not(`the members disagree about the leader: ${leads.join(", ")}`);
  if (status.leader !== leader.name) return not(`${leader.name} leads, status.leader is ${status.leader}`);
  return { t: "healthy", cluster: { clusterId: list.clusterId, leader, members } };
}

async function listThrough(member: EtcdMember): Promise<Membership | string> {
  try {
    return await member.memberList({ linearizable: true }, { deadline: 3_000 });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function oddityIn(
  { clusterId, members }: Membership,
  pods: readonly Pod[],
  known: string | undefined,
): string | undefined {
  if (clusterId !== known) return `its cluster id is ${clusterId}, status.clusterId is ${known}`;
  const learners = members.filter(({ learner }) => learner);
  if (learners.length > 0) return `learners: ${learners.map(({ name, id }) => name || id).join(", ")}`;
  const hidden = members.filter(isPlaceholder);
  if (hidden.length > 0) return `listed under an placeholder address: ${hidden.map(({ name }) => name).join(", ")}`;
  const [listed, there] = [members.map(({ name }) => name), pods.map(({ metadata }) => metadata?.name ?? "")];
  return listed.toSorted().join() === there.toSorted().join() ? undefined : `etcd lists ${listed.join(", ")}`;
}

function memberOf(pod: Pod, members: readonly Member[], login: Login | undefined): HealthyMember {
  const { name = "", uid = "" } = pod.metadata ?? {};
  const member = members.find((candidate) => candidate.name === name);
  if (member === undefined) throw new Error(`${name} is not listed`);
  const address = pod.status?.podIP ?? "";
  return {
    name,
    uid,
    address,
    id: member.id,
    node: pod.spec?.nodeName ?? "",
    restarts: pod.status?.containerStatuses?.[0]?.restartCount ?? 0,
    madeAt: Date.parse(pod.metadata?.creationTimestamp ?? ""),
    etcd: steady(memberAt(address, login)),
  };
}

export function podText({ metadata, status }: Pod): string {
  const container = status?.containerStatuses?.[0]?.state;
  const state =
    metadata?.deletionTimestamp !== undefined ? "Terminating" : (container?.waiting?.reason ?? status?.phase);
  return `${metadata?.name} (${state})`;
}
