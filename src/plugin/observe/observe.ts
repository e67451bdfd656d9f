// Reads everything about one cluster once. What cannot be read is left out with a sentence: the rest is shown all
// the same.
import { EtcdBackup } from "../../api/etcd-backup/etcd-backup.ts";
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { EtcdRestore } from "../../api/etcd-restore/etcd-restore.ts";
import { ports } from "../../cluster/objects/labels.ts";
import type { KubeApi, Selection } from "../../kube/client/api.ts";
import { ApiError } from "../../kube/client/errors.ts";
import { Event, Node, PersistentVolumeClaim, Pod } from "../../kube/objects/kinds.ts";
import { type Key, type Kind, type KubeObject, keyOf } from "../../kube/objects/objects.ts";
import { TransportError } from "../../transport/errors.ts";
import type { MetricsPort, Reach } from "../place/reach.ts";
import { lackingIn, lackingInWords, sentenceOf } from "../place/sentences.ts";
import { type Figures, figuresIn } from "./figures.ts";
import { operatorOf, type OperatorSeen } from "./operator.ts";

export type Found<T> =
  | { readonly t: "found"; readonly value: T }
  /** `why`: in words that can stand in a sentence. */
  | { readonly t: "missing"; readonly why: string };

/** `silent`: it may be asked, and does not answer. */
export type FoundFigures = Found<Figures> | { readonly t: "silent"; readonly why: string };

export interface Observed {
  readonly cluster: EtcdCluster;
  readonly pods: Found<readonly Pod[]>;
  readonly nodes: Found<readonly Node[]>;
  readonly claims: Found<readonly PersistentVolumeClaim[]>;
  /** On the EtcdCluster, the newest first. */
  readonly events: Found<readonly Event[]>;
  readonly backups: Found<readonly EtcdBackup[]>;
  readonly restores: Found<readonly EtcdRestore[]>;
  readonly operator: Found<OperatorSeen>;
  /** By the name of the pod. */
  readonly figures: ReadonlyMap<string, FoundFigures>;
  readonly now: number;
}

export const valueOr = <T>(found: Found<T>, otherwise: T): T => (found.t === "found" ? found.value : otherwise);

/** Fails only when there is no such cluster, or it may not be read. */
export async function observe(reach: Reach, key: Key, now: number): Promise<Observed> {
  const { api } = reach;
  const { namespace, name } = key;
  const ofMembers = { namespace, labelSelector: memberSelector(name) };
  const [cluster, pods, nodes, claims, events, backups, restores] = await Promise.all([
    api.get(EtcdCluster, key),
    found(() => all(api, Pod, ofMembers)),
    found(() => all(api, Node, {})),
    found(() => all(api, PersistentVolumeClaim, ofMembers)),
    found(() => all(api, Event, { namespace })),
    found(() => all(api, EtcdBackup, { namespace })),
    found(() => all(api, EtcdRestore, { namespace })),
  ]);
  return {
    cluster,
    pods,
    nodes,
    claims,
    events: events.t === "missing" ? events : { t: "found", value: eventsOn(cluster, events.value) },
    backups: backups.t === "missing" ? backups : { t: "found", value: backups.value.filter((one) => isOf(one, name)) },
    restores,
    operator: await found(() => operatorOf(api, cluster, now)),
    figures: await readFigures(reach, valueOr(pods, [])),
    now,
  };
}

export const memberSelector = (cluster: string): string => `app=etcd,etcd_cluster=${cluster}`;

/** Whether it backs up the cluster: by reference, or by the endpoints of its Service or members. */
export function isOf({ spec }: EtcdBackup, cluster: string): boolean {
  if (spec.clusterRef?.name === cluster) return true;
  const hosts = (spec.etcdEndpoints ?? []).flatMap((url) => (URL.canParse(url) ? [new URL(url).hostname] : []));
  return hosts.some((host) => host.split(".")[0] === `${cluster}-client` || host.split(".")[1] === cluster);
}

function eventsOn(cluster: EtcdCluster, events: readonly Event[]): Event[] {
  const { name, uid } = cluster.metadata ?? {};
  return events
    .filter(({ regarding }) => regarding?.kind === EtcdCluster.kind && regarding.name === name)
    .filter(({ regarding }) => regarding?.uid === undefined || uid === undefined || regarding.uid === uid)
    .toSorted((a, b) => lastSeen(b) - lastSeen(a));
}

export function lastSeen(event: Event): number {
  const { series, eventTime, deprecatedLastTimestamp, metadata } = event;
  const text = series?.lastObservedTime ?? eventTime ?? deprecatedLastTimestamp ?? metadata?.creationTimestamp;
  return text ? Date.parse(text) : 0;
}

export async function all<T extends KubeObject>(api: KubeApi, kind: Kind<T>, selection: Selection): Promise<T[]> {
  const items: T[] = [];
  let next: string | undefined;
  do {
    const page = await api.list(kind, { ...selection, limit: 200, ...(next !== undefined && { continue: next }) });
    items.push(...page.items);
    next = page.continue;
  } while (next !== undefined);
  return items;
}

export async function found<T>(read: () => Promise<T>): Promise<Found<T>> {
  try {
    return { t: "found", value: await read() };
  } catch (error) {
    return { t: "missing", why: whyNot(error) };
  }
}

function whyNot(error: unknown): string {
  const lacking = error instanceof ApiError ? lackingIn(error.message) : undefined;
  if (lacking !== undefined) return `you cannot ${lackingInWords(lacking)}`;
  const sentence = sentenceOf(error);
  return (sentence.charAt(0).toLowerCase() + sentence.slice(1)).replace(/\.$/, "");
}

async function readFigures(reach: Reach, pods: readonly Pod[]): Promise<ReadonlyMap<string, FoundFigures>> {
  const running = pods.filter(({ status, metadata }) => status?.podIP && metadata?.deletionTimestamp === undefined);
  const read = running.map(async (pod): Promise<readonly [string, FoundFigures]> => {
    const key = keyOf(pod);
    try {
      return [key.name, { t: "found", value: figuresIn(await reach.metrics(key, metricsPortOf(pod))) }];
    } catch (error) {
      return [key.name, whyNoFigures(error)];
    }
  });
  return new Map(await Promise.all(read));
}

/** The API server asks the member, and says by 5xx that it got no answer. */
function whyNoFigures(error: unknown): FoundFigures {
  if (error instanceof TransportError && error.failure === "deadline") return { t: "silent", why: "no answer" };
  if (error instanceof ApiError && error.code >= 500) return { t: "silent", why: "no answer" };
  return { t: "missing", why: whyNot(error) };
}

/** Before 3.3, and in pods of etcd-operator 0.9, on the client port. */
export function metricsPortOf({ spec }: Pod): MetricsPort {
  const etcd = spec?.containers.find(({ name }) => name === "etcd");
  const own = etcd?.ports?.find(({ name }) => name === "metrics")?.containerPort;
  if (own !== undefined) return { scheme: "http", port: own };
  const isTls = etcd?.command?.some((word) => word.startsWith("--listen-client-urls=https")) === true;
  return { scheme: isTls ? "https" : "http", port: ports.client };
}
