// Every kind of ours. To add one, describe it in a folder of its own and list it here: its CRD, its example
// manifest and its part of docs/api.md follow. example/rbac must name the new CRD; a test says so.
import { etcdBackup } from "./etcd-backup/kind.ts";
import { etcdCluster } from "./etcd-cluster/kind.ts";
import { etcdRestore } from "./etcd-restore/kind.ts";
import type { KindDescription } from "./kind-description.ts";

export const kinds: readonly KindDescription[] = [etcdCluster, etcdBackup, etcdRestore];
