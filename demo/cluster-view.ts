// Watches one EtcdCluster and its pods, and waits for a state of them while it shows what happens.
import { EtcdCluster } from "../src/api/etcd-cluster/etcd-cluster.ts";
import { connectKube } from "../src/kube/client/client.ts";
import { findCredentials } from "../src/kube/credentials/find-credentials.ts";
import { Informer } from "../src/kube/cache/informer.ts";
import { Pod } from "../src/kube/objects/kinds.ts";
import type { Key } from "../src/kube/objects/objects.ts";
import { seconds } from "../lab/progress.ts";
import { LiveTable } from "./live-table.ts";
import { isReady, type MemberRow, memberRows } from "./table.ts";

export interface Wait {
  /** As in "all members serve". */
  readonly until: string;
  readonly holds: (cluster: EtcdCluster) => boolean;
  readonly timeoutMs: number;
  /** Shown beside the state, as in "12 writes acknowledged". */
  readonly note?: () => string;
}

const drawEveryMs = 200;

export class ClusterView {
  readonly #key: Key;
  readonly #clusters: Informer<EtcdCluster>;
  readonly #pods: Informer<Pod>;

  private constructor(key: Key, clusters: Informer<EtcdCluster>, pods: Informer<Pod>) {
    this.#key = key;
    this.#clusters = clusters;
    this.#pods = pods;
  }

  /** Watches until the signal aborts. */
  static async open(key: Key, signal: AbortSignal): Promise<ClusterView> {
    const api = connectKube({ credentials: await findCredentials(), userAgent: "etcd-operator-demo" });
    signal.addEventListener("abort", () => api[Symbol.dispose](), { once: true });
    const { namespace, name } = key;
    const common = { api, observe: () => undefined };
    const clusters = new Informer({
      ...common,
      kind: EtcdCluster,
      selection: { namespace, fieldSelector: `metadata.name=${name}` },
    });
    const pods = new Informer({
      ...common,
      kind: Pod,
      selection: { namespace, labelSelector: `etcd_cluster=${name}` },
    });
    for (const informer of [clusters, pods]) informer.run(signal).catch(() => undefined); // ends only with the signal
    const soon = AbortSignal.any([signal, AbortSignal.timeout(20_000)]);
    await Promise.all([clusters.whenSynced(soon), pods.whenSynced(soon)]);
    return new ClusterView(key, clusters, pods);
  }

  get cluster(): EtcdCluster | undefined {
    return this.#clusters.store.get(this.#key);
  }

  /** Names of the pods that are ready. */
  serving(): string[] {
    return [...this.#pods.store.values()].filter(isReady).flatMap((pod) => pod.metadata?.name ?? []);
  }

  /** Returns how long it took, in milliseconds. */
  async wait({ until, holds, timeoutMs, note }: Wait, signal: AbortSignal): Promise<number> {
    const table = new LiveTable();
    let rows: readonly MemberRow[] = [];
    const draw = (): void => {
      rows = memberRows(this.cluster, [...this.#pods.store.values()], rows);
      const { ready, phase } = this.cluster?.status ?? {};
      table.show(
        rows,
        [`until ${until}: ${ready ?? phase ?? "nothing yet"}`, note?.() ?? ""].filter(Boolean).join(", "),
      );
    };
    const timer = setInterval(draw, drawEveryMs);
    const stops: (() => void)[] = [];
    try {
      await new Promise<void>((resolve, reject) => {
        const look = (): void => {
          draw();
          if (this.cluster !== undefined && holds(this.cluster)) resolve();
        };
        const late = setTimeout(() => reject(this.#tooLate(until, timeoutMs, rows)), timeoutMs);
        const onAbort = (): void => reject(new Error("stopped"));
        signal.addEventListener("abort", onAbort, { once: true });
        stops.push(
          () => clearTimeout(late),
          () => signal.removeEventListener("abort", onAbort),
          this.#clusters.subscribe(look),
          this.#pods.subscribe(look),
        );
        look();
      });
      return table.elapsed;
    } finally {
      clearInterval(timer);
      for (const stop of stops) stop();
    }
  }

  #tooLate(until: string, timeoutMs: number, rows: readonly MemberRow[]): Error {
    const said = this.cluster?.status?.conditions?.find(({ type }) => type === "Ready")?.message;
    const members = rows.map(({ name, state }) => `${name} ${state}`).join(", ") || "no members";
    return new Error(
      `Waited ${seconds(timeoutMs)} until ${until}. The status says: ${said ?? "nothing"}. Members: ${members}. ` +
        "Find out more with: kubectl describe etcd; kubectl logs deployment/etcd-operator",
    );
  }
}

/** Ready, and concluded from the current spec. */
export function isClusterReady({ metadata, status }: EtcdCluster): boolean {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  return ready?.status === "True" && (ready.observedGeneration ?? 0) >= (metadata?.generation ?? 0);
}

/**
 * Whether the status still lists this member. `status.members` cannot tell: a pod leaves it as soon as it begins to stop,
 * while its etcd still answers and the cluster is still Ready.
 */
export function hasMember({ status }: EtcdCluster, member: string): boolean {
  return status?.clientEndpoints?.some((url) => url.includes(`//${member}.`)) ?? false;
}
