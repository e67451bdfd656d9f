// Every kind of ours. To add one, describe it in a folder of its own and list it here: its definition, its example
// manifest and its part of docs/api.md follow. example/rbac must name the new definition; a test says so.
import { etcdCluster } from "./etcd-cluster/kind.ts";
import type { KindDescription } from "./kind-description.ts";

export const kinds: readonly KindDescription[] = [etcdCluster];
