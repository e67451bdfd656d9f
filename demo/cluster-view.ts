// Watches one EtcdCluster with its pods, backup and restore, and waits for a state of them while it shows what happens.
import { EtcdBackup } from "../src/api/etcd-backup/etcd-backup.ts";
import { EtcdCluster } from "../src/api/etcd-cluster/etcd-cluster.ts";
import { EtcdRestore } from "../src/api/etcd-restore/etcd-restore.ts";
import { Informer } from "../src/kube/cache/informer.ts";
import { Pod } from "../src/kube/objects/kinds.ts";
import type { Kind, KubeObject } from "../src/kube/objects/objects.ts";
import { seconds, step } from "../lab/progress.ts";
import { LiveTable } from "./live-table.ts";
import * as names from "./names.ts";
import type { Place } from "./place.ts";
import { isReady, type MemberRow, memberRows } from "./table.ts";

interface Wait {
  /** As in "all members serve". */
  readonly until: string;
  readonly holds: () => boolean;
  /** Why it can no longer happen. */
  readonly fails?: () => string | undefined;
  readonly timeoutMs: number;
  /** What happens now, in a sentence. */
  readonly stage?: () => string;
  /** What changes all the time, as in "12 writes acknowledged". */
  readonly note?: () => string;
}

const drawEveryMs = 200;

export class ClusterView {
  readonly #place: Place;
  readonly #clusters: Informer<EtcdCluster>;
  readonly #pods: Informer<Pod>;
  readonly #backups: Informer<EtcdBackup>;
  readonly #restores: Informer<EtcdRestore>;

  private constructor(place: Place) {
    const { api, namespace } = place;
    const one = <T extends KubeObject>(kind: Kind<T>, name: string): Informer<T> =>
      new Informer({
        api,
        kind,
        selection: { namespace, fieldSelector: `metadata.name=${name}` },
        observe: () => undefined,
      });
    this.#place = place;
    this.#clusters = one(EtcdCluster, names.cluster);
    this.#backups = one(EtcdBackup, names.backup);
    this.#restores = one(EtcdRestore, names.restore);
    this.#pods = new Informer({
      api,
      kind: Pod,
      selection: { namespace, labelSelector: `etcd_cluster=${names.cluster}` },
      observe: () => undefined,
    });
  }

  /** Watches until the signal aborts. */
  static async open(place: Place, signal: AbortSignal): Promise<ClusterView> {
    const view = new ClusterView(place);
    const informers = view.#informers();
    for (const informer of informers) informer.run(signal).catch(() => undefined); // ends only with the signal
    const soon = AbortSignal.any([signal, AbortSignal.timeout(60_000)]);
    await Promise.all(informers.map((informer) => informer.whenSynced(soon)));
    return view;
  }

  get cluster(): EtcdCluster | undefined {
    return this.#clusters.store.get({ ...this.#place, name: names.cluster });
  }

  get backup(): EtcdBackup | undefined {
    return this.#backups.store.get({ ...this.#place, name: names.backup });
  }

  get restore(): EtcdRestore | undefined {
    return this.#restores.store.get({ ...this.#place, name: names.restore });
  }

  /** Whether any pod of a member is there, if only to end. */
  hasPods(): boolean {
    return this.#pods.store.size > 0;
  }

  /** Names of the pods that are ready. */
  serving(): string[] {
    return [...this.#pods.store.values()].filter(isReady).flatMap((pod) => pod.metadata?.name ?? []);
  }

  /** Shows the table of members meanwhile. Returns how long it took, in milliseconds. */
  async wait(wait: Wait, signal: AbortSignal): Promise<number> {
    const table = new LiveTable();
    let rows: readonly MemberRow[] = [];
    const stage = (): string => wait.stage?.() ?? "";
    const draw = (): void => {
      rows = memberRows(this.cluster, [...this.#pods.store.values()], rows);
      const { ready, phase } = this.cluster?.status ?? {};
      const title = `until ${wait.until}: ${ready ?? phase ?? "nothing yet"}`;
      table.show({ rows, title, stage: stage(), note: wait.note?.() ?? "" });
    };
    await this.#until(wait, draw, signal);
    table.end({ rows, title: wait.until, stage: stage() });
    return table.elapsed;
  }

  /** Shows one line meanwhile, without the members. Returns how long it took, in milliseconds. */
  async waitInLine(wait: Wait, signal: AbortSignal): Promise<number> {
    const began = Date.now();
    await step(wait.until, (progress) => this.#until(wait, () => progress.detail(wait.stage?.() ?? ""), signal));
    return Date.now() - began;
  }

  #informers(): (Informer<EtcdCluster> | Informer<Pod> | Informer<EtcdBackup> | Informer<EtcdRestore>)[] {
    return [this.#clusters, this.#pods, this.#backups, this.#restores];
  }

  async #until({ until, holds, fails, timeoutMs }: Wait, draw: () => void, signal: AbortSignal): Promise<void> {
    const stops: (() => void)[] = [];
    try {
      await new Promise<void>((resolve, reject) => {
        const refresh = (): void => {
          try {
            draw();
            const failure = fails?.();
            if (failure !== undefined) reject(new Error(failure));
            else if (holds()) resolve();
          } catch (error) {
            reject(error instanceof Error ? error : new Error(String(error)));
          }
        };
        const timer = setInterval(refresh, drawEveryMs);
        const late = setTimeout(() => reject(this.#tooLate(until, timeoutMs)), timeoutMs);
        const onAbort = (): void => reject(new Error("stopped"));
        signal.addEventListener("abort", onAbort, { once: true });
        stops.push(
          () => clearInterval(timer),
          () => clearTimeout(late),
          () => signal.removeEventListener("abort", onAbort),
          ...this.#informers().map((informer) => informer.subscribe(refresh)),
        );
        refresh();
      });
    } finally {
      for (const stop of stops) stop();
    }
  }

  #tooLate(until: string, timeoutMs: number): Error {
    const said = this.cluster?.status?.conditions?.find(({ type }) => type === "Ready")?.message;
    const rows = memberRows(this.cluster, [...this.#pods.store.values()]);
    const members = rows.map(({ name, state }) => `${name} ${state}`).join(", ") || "no members";
    return new Error(
      `Waited ${seconds(timeoutMs)} until ${until}. The status says: ${said ?? "nothing"}. Members: ${members}. ` +
        "Find out more with: kubectl describe etcd; kubectl logs deployment/etcd-operator",
    );
  }
}

/**
 * Whether the status still lists this member. `status.members` cannot tell: a pod leaves it as soon as it begins to stop,
 * while its etcd still answers and the cluster is still Ready.
 */
export function hasMember(cluster: EtcdCluster | undefined, member: string): boolean {
  return cluster?.status?.clientEndpoints?.some((url) => url.includes(`//${member}.`)) ?? false;
}
