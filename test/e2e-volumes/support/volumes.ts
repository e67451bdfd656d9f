// Clusters whose members have volumes: how they are asked for, and the claims that there are.
import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { waitFor } from "../../../lab/progress.ts";
import type { EtcdClusterSpec } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { claimLabel } from "../../../src/cluster/objects/claims.ts";
import { PersistentVolumeClaim } from "../../../src/kube/objects/kinds.ts";
import type { TestCluster } from "../../e2e/support/cluster.ts";
import { kube, patience } from "../../e2e/support/environment.ts";

type PodPolicy = NonNullable<EtcdClusterSpec["pod"]>;

/** For `spec.pod`. The lab's disks are sparse: a gigabyte costs nothing. */
export function onVolumes(storage = "1Gi", more: object = {}): PodPolicy {
  return {
    persistentVolumeClaimSpec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } }, ...more },
  };
}

/** Sorted by name. */
export async function claimsOf({ name, namespace }: TestCluster): Promise<PersistentVolumeClaim[]> {
  const { items } = await kube.list(PersistentVolumeClaim, { namespace, labelSelector: `etcd_cluster=${name}` });
  return items.toSorted((a, b) => ((a.metadata?.name ?? "") < (b.metadata?.name ?? "") ? -1 : 1));
}

export const nameOf = ({ metadata }: PersistentVolumeClaim): string => metadata?.name ?? "";
export const uidOf = ({ metadata }: PersistentVolumeClaim): string => metadata?.uid ?? "";

/** Names, by the label that says whether the member belongs to the cluster. */
interface ClaimNames {
  readonly current: readonly string[];
  readonly retired: readonly string[];
}

export function claimNames(claims: readonly PersistentVolumeClaim[]): ClaimNames {
  const labelled = (role: string): string[] =>
    claims.filter(({ metadata }) => metadata?.labels?.[claimLabel] === role).map(nameOf);
  return { current: labelled("current"), retired: labelled("retired") };
}

/** Waits until the claims are exactly these. */
export async function untilClaims(cluster: TestCluster, wanted: ClaimNames): Promise<void> {
  const sorted = { current: wanted.current.toSorted(), retired: wanted.retired.toSorted() };
  await untilEachClaim(cluster, `claims ${JSON.stringify(sorted)}`, (claims) =>
    isDeepStrictEqual(claimNames(claims), sorted),
  );
}

export async function untilEachClaim(
  cluster: TestCluster,
  what: string,
  holds: (claims: readonly PersistentVolumeClaim[]) => boolean,
): Promise<readonly PersistentVolumeClaim[]> {
  let seen: readonly PersistentVolumeClaim[] = [];
  return waitFor(
    `${cluster.name}: ${what}`,
    async () => {
      seen = await claimsOf(cluster);
      return holds(seen) ? seen : undefined;
    },
    {
      // A kubelet takes more than a minute to notice that a volume has to grow.
      timeoutMs: 2 * patience,
      everyMs: 250,
      lastSeen: () => JSON.stringify(seen.map(({ metadata, spec, status }) => [metadata, spec?.resources, status])),
    },
  );
}

/** Every pod has the claim of its name. */
export async function eachOnItsClaim(cluster: TestCluster): Promise<void> {
  for (const { metadata, spec } of await cluster.pods()) {
    const claims = (spec?.volumes ?? []).flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []);
    assert.deepEqual(claims, [metadata?.name]);
  }
}
