// Whether a cluster is whole: Kubernetes, etcd and the status say the same, and every member serves. One look, which
// tells what it saw when the answer is no.
import { withDefaults } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import type { EtcdCluster } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import type { EtcdMember, Member, Membership } from "../../../src/etcd/member.ts";
import { isUndialable } from "../../../src/cluster/objects/names.ts";
import type { Pod } from "../../../src/kube/objects/kinds.ts";
import { etcdMembers } from "./ground.ts";

export interface WholeMember {
  readonly name: string;
  readonly id: string;
  readonly uid: string;
  readonly address: string;
  readonly node: string;
  readonly restarts: number;
  /** The pod, to the second. */
  readonly madeAt: number;
  readonly etcd: EtcdMember;
}

export interface Whole {
  readonly clusterId: string;
  readonly leader: WholeMember;
  /** By name. */
  readonly members: readonly WholeMember[];
}

/** By name. They can go without an election. */
export const followers = ({ members, leader }: Whole): WholeMember[] => members.filter(({ id }) => id !== leader.id);

export type Look = { readonly t: "whole"; readonly whole: Whole } | { readonly t: "not"; readonly because: string };

const not = (because: string): Look => ({ t: "not", because });

export const memberAt = (address: string): EtcdMember => etcdMembers.at({ url: `http://${address}:2379` });

/** Whether it is whole, and its conditions say so. */
export async function lookAtCluster(cluster: EtcdCluster, pods: readonly Pod[]): Promise<Look> {
  const { status, metadata } = withDefaults(cluster);
  const look = await lookAtMembers(cluster, pods);
  if (look.t === "not") return look;
  const ready = status.conditions.find(({ type }) => type === "Ready");
  if (ready?.status !== "True" || ready.observedGeneration !== metadata.generation) return not(summaryOf(cluster));
  if (status.observedGeneration !== metadata.generation)
    return not(`the status is of an older generation; ${summaryOf(cluster)}`);
  return look;
}

function summaryOf(cluster: EtcdCluster): string {
  const { status } = withDefaults(cluster);
  const ready = status.conditions.find(({ type }) => type === "Ready");
  return `status ${status.phase} ${status.ready ?? "-"}, Ready ${ready?.status} ${ready?.reason}: ${ready?.message}`;
}

/** Whether all members are there and serve, whatever the conditions say about the rest. */
export async function lookAtMembers(cluster: EtcdCluster, pods: readonly Pod[]): Promise<Look> {
  const { spec, status } = withDefaults(cluster);
  const told = summaryOf(cluster);
  if (pods.length !== spec.size) return not(`${pods.length} pods: ${pods.map(podText).join(", ")}; ${told}`);
  const addresses = pods.flatMap(({ status }) => (status?.podIP ? [status.podIP] : []));
  if (addresses.length !== pods.length) return not(`pods without an address; ${told}`);
  const lists = await Promise.all(addresses.map((address) => listThrough(address)));
  for (const [index, list] of lists.entries()) {
    if (typeof list === "string") return not(`${podText(pods[index] ?? {})} does not read: ${list}; ${told}`);
    const odd = oddities(list, pods, status.clusterId);
    if (odd !== undefined) return not(`${podText(pods[index] ?? {})}: ${odd}; ${told}`);
  }
  const [list] = lists;
  if (list === undefined || typeof list === "string") return not("no members");
  const members = pods.map((pod) => memberOf(pod, list.members)).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const leads = await Promise.all(members.map(async ({ etcd }) => (await etcd.status()).leader));
  const leader = members.find(({ id }) => leads.every((lead) => lead === id));
  if (leader === undefined) return not(`the members disagree about the leader: ${leads.join(", ")}`);
  if (status.leader !== leader.name) return not(`${leader.name} leads, and the status says ${status.leader}`);
  return { t: "whole", whole: { clusterId: list.clusterId, leader, members } };
}

async function listThrough(address: string): Promise<Membership | string> {
  try {
    return await memberAt(address).memberList({ linearizable: true }, { deadline: 3_000 });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function oddities(
  { clusterId, members }: Membership,
  pods: readonly Pod[],
  known: string | undefined,
): string | undefined {
  if (clusterId !== known) return `it is of the cluster ${clusterId}, and the status says ${known}`;
  const learners = members.filter(({ learner }) => learner);
  if (learners.length > 0) return `learners: ${learners.map(({ name, id }) => name || id).join(", ")}`;
  const hidden = members.filter(isUndialable);
  if (hidden.length > 0) return `nobody can dial ${hidden.map(({ name }) => name).join(", ")}`;
  const [listed, there] = [members.map(({ name }) => name), pods.map(({ metadata }) => metadata?.name ?? "")];
  return listed.toSorted().join() === there.toSorted().join() ? undefined : `etcd lists ${listed.join(", ")}`;
}

function memberOf(pod: Pod, members: readonly Member[]): WholeMember {
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
    etcd: memberAt(address),
  };
}

export function podText({ metadata, status }: Pod): string {
  const container = status?.containerStatuses?.[0]?.state;
  const state =
    metadata?.deletionTimestamp !== undefined ? "Terminating" : (container?.waiting?.reason ?? status?.phase);
  return `${metadata?.name} (${state})`;
}
