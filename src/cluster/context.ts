// What the reconciles of all clusters share: the caches, the connections to etcd, events, metrics and the log.
import type { EtcdBackup } from "../api/etcd-backup/etcd-backup.ts";
import type { EtcdCluster } from "../api/etcd-cluster/etcd-cluster.ts";
import type { EtcdMember } from "../etcd/member.ts";
import type { Endpoint } from "../etcd/members.ts";
import type { Node, PersistentVolumeClaim, Pod, PodDisruptionBudget, Secret, Service } from "../kube/objects/kinds.ts";
import type { StoreView } from "../kube/cache/store.ts";
import type { makeAuthority, makeLeaf } from "../tls/make.ts";
import type { RefusedUpkeep } from "./act/refused-upkeep.ts";
import type { TakenAway } from "./act/taken-away.ts";
import type { GivenSecrets } from "./given-secrets.ts";
import type { ClusterMetrics } from "./metrics.ts";
import type { Logins } from "./observe/login.ts";
import type { Progress } from "./observe/progress.ts";
import type { Wire } from "./observe/wire.ts";
import type { SharedContext } from "../controllers/context.ts";

export interface ClusterCaches {
  readonly clusters: StoreView<EtcdCluster>;
  readonly pods: StoreView<Pod>;
  /** By the index `cluster`, as namespace/name. */
  readonly claims: StoreView<PersistentVolumeClaim>;
  readonly services: StoreView<Service>;
  readonly budgets: StoreView<PodDisruptionBudget>;
  /** Undefined while the operator may not see nodes, or has not seen them yet: then no node counts as lost. */
  readonly nodes: StoreView<Node> | undefined;
  /** Those that the operator made. Undefined while it may not see Secrets, or has not seen them yet. */
  readonly secrets: StoreView<Secret> | undefined;
  /** By the index `cluster`. Undefined while the operator may not see them, or has not seen them yet. */
  readonly backups: StoreView<EtcdBackup> | undefined;
  /** Those that clusters name. */
  readonly given: Pick<GivenSecrets, "read">;
}

/** The connections to members, or the members of an in-memory cluster. */
export interface MemberPool {
  at(endpoint: Endpoint): EtcdMember;
}

export interface Signer {
  readonly makeAuthority: typeof makeAuthority;
  readonly makeLeaf: typeof makeLeaf;
}

export interface ClusterContext extends SharedContext<EtcdCluster, ClusterCaches> {
  readonly members: MemberPool;
  readonly logins: Logins;
  readonly progress: Progress;
  readonly wire: Wire;
  readonly signer: Signer;
  readonly refusedUpkeep: RefusedUpkeep;
  readonly takenAway: TakenAway;
  readonly metrics: ClusterMetrics;
}
