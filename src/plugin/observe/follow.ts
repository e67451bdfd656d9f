// Refreshes whenever something changes in Kubernetes, and every few seconds besides, until the signal.
import { EtcdBackup } from "../../api/etcd-backup/etcd-backup.ts";
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { EtcdRestore } from "../../api/etcd-restore/etcd-restore.ts";
import { Informer } from "../../kube/cache/informer.ts";
import type { KubeApi, Selection } from "../../kube/client/api.ts";
import { type Clock, systemClock } from "../../kube/clock.ts";
import { Pod } from "../../kube/objects/kinds.ts";
import type { Key, Kind, KubeObject } from "../../kube/objects/objects.ts";
import { memberSelector } from "./observe.ts";

export type WatchedKind = readonly [Kind<KubeObject>, Selection];

export const sourcesOfFleet = (selection: Selection): readonly WatchedKind[] => [
  [EtcdCluster, selection],
  [EtcdBackup, selection],
];

export const sourcesOfCluster = ({ namespace, name }: Key): readonly WatchedKind[] => [
  [EtcdCluster, { namespace, fieldSelector: `metadata.name=${name}` }],
  [Pod, { namespace, labelSelector: memberSelector(name) }],
  [EtcdRestore, { namespace }],
  [EtcdBackup, { namespace }],
];

interface Followed {
  readonly api: KubeApi;
  /** Those that the user may not watch are read every few seconds all the same. */
  readonly sources: readonly WatchedKind[];
  /** Must not fail. */
  readonly refresh: () => Promise<void>;
  readonly signal: AbortSignal;
  readonly clock?: Clock;
}

/** Changes come in bursts. */
const gatherForMs = 250;
/** Ages, and the figures of members, have no event. */
const refreshEveryMs = 5_000;

export async function follow({ api, sources, refresh, signal, clock = systemClock }: Followed): Promise<void> {
  let hear = (): void => undefined;
  let leave = (): void => undefined;
  let changed = false;
  signal.addEventListener("abort", () => leave(), { once: true });
  for (const [kind, selection] of sources) {
    const informer = new Informer({ api, kind, selection, optional: "live changes", observe: () => undefined });
    informer.subscribe(() => {
      changed = true;
      hear();
    });
    informer.run(signal).catch(() => undefined); // ends only with the signal
  }
  while (!signal.aborted) {
    await new Promise<void>((resolve) => {
      let cancel = clock.after(refreshEveryMs, resolve);
      hear = (): void => {
        hear = () => undefined;
        cancel();
        cancel = clock.after(gatherForMs, resolve);
      };
      leave = (): void => {
        cancel();
        resolve();
      };
      if (changed) hear();
    });
    changed = false;
    if (!signal.aborted) await refresh();
  }
}
