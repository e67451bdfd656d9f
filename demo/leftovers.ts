// What already has the names that the demo uses: an earlier demo's is deleted, and anybody else's is left alone, because the
// demo destroys the data of its cluster.
import { EtcdBackup } from "../src/api/etcd-backup/etcd-backup.ts";
import { EtcdCluster } from "../src/api/etcd-cluster/etcd-cluster.ts";
import { EtcdRestore } from "../src/api/etcd-restore/etcd-restore.ts";
import { isNotFound } from "../src/kube/client/errors.ts";
import { PersistentVolumeClaim } from "../src/kube/objects/kinds.ts";
import type { Kind, KubeObject } from "../src/kube/objects/objects.ts";
import * as names from "./names.ts";
import type { Place } from "./place.ts";

interface Found {
  /** As in "EtcdCluster my-etcd". */
  readonly what: string;
  readonly object: KubeObject;
}

export type Leftovers =
  | { readonly t: "none" }
  | { readonly t: "ours"; readonly found: readonly string[] }
  | { readonly t: "foreign"; readonly found: readonly string[] };

const named: readonly (readonly [Kind<KubeObject>, string])[] = [
  [EtcdRestore, names.restore],
  [EtcdCluster, names.cluster],
  [EtcdBackup, names.backup],
  [PersistentVolumeClaim, names.claim],
];

export async function findLeftovers({ api, namespace }: Place, signal: AbortSignal): Promise<Leftovers> {
  const found = await Promise.all(
    named.map(async ([kind, name]): Promise<Found[]> => {
      try {
        return [{ what: `${kind.kind} ${name}`, object: await api.get(kind, { namespace, name }, { signal }) }];
      } catch (error) {
        if (isNotFound(error)) return []; // there is none, or no operator has been here
        throw error;
      }
    }),
  );
  return judge(found.flat());
}

export function judge(found: readonly Found[]): Leftovers {
  if (found.length === 0) return { t: "none" };
  const foreign = found.filter(({ object }) => !isOurs(object));
  const those = foreign.length > 0 ? foreign : found;
  return { t: foreign.length > 0 ? "foreign" : "ours", found: those.map(({ what }) => what) };
}

const isOurs = ({ metadata }: KubeObject): boolean =>
  (metadata?.managedFields ?? []).some(
    (entry) =>
      typeof entry === "object" && entry !== null && "manager" in entry && entry.manager === names.fieldManager,
  );

/** As in "the EtcdCluster my-etcd and the EtcdBackup nightly". */
export const listed = (found: readonly string[]): string =>
  new Intl.ListFormat("en").format(found.map((what) => `the ${what}`));

export function refusal(found: readonly string[], namespace: string): string {
  return (
    `The namespace ${namespace} already has ${listed(found)}, not made by a demo. The demo destroys the data of its ` +
    "cluster, so it touches nothing of yours. Give it another namespace: " +
    "kubectl create namespace demo; kubectl config set-context --current --namespace=demo"
  );
}
