// CoreDNS for the lab's pods, on the bridge address. Names outside the cluster get NXDOMAIN, not an error: an error would
// break resolvers that walk a search list.
import * as fs from "node:fs";
import * as path from "node:path";
import type { ClusterRole, ClusterRoleBinding } from "kubernetes-types/rbac/v1.js";
import type { KubeApi } from "../../src/kube/client/api.ts";
import type { Kind } from "../../src/kube/objects/objects.ts";
import { hostAddress, type LabConfig, loopbackAddress } from "../config.ts";
import { startDaemon } from "../machine/daemon.ts";
import { componentKubeconfig } from "./kubeconfig.ts";
import { isHealthy, waitForDaemon } from "./readiness.ts";

const emptyRootZone = `$ORIGIN .
@ 5 IN SOA ns.invalid. admin.invalid. 1 7200 3600 1209600 5
@ 5 IN NS ns.invalid.
`;

/** How DNS caches the cluster's own names. */
export type Caching =
  /** As kubeadm configures it since Kubernetes 1.33: the name of a new pod resolves at once. */
  | "none"
  /** As it did before, and others do: a query that comes too early gets "no such name" for half a minute. */
  | "all";

const cache: Readonly<Record<Caching, string>> = {
  none: `cache 30 {
        disable success cluster.local
        disable denial cluster.local
    }`,
  all: "cache 30",
};

// Without forwarding.
const corefile = (lab: LabConfig, zoneFile: string, caching: Caching): string => `.:53 {
    bind ${hostAddress(lab)}
    errors
    ready ${loopbackAddress(lab)}:8181
    kubernetes cluster.local in-addr.arpa {
        kubeconfig ${componentKubeconfig(lab, "coredns")} ${lab.name}
        pods insecure
        ttl 30
    }
    file ${zoneFile} .
    ${cache[caching]}
}
`;

/** What CoreDNS reads when it starts. */
export function configureDns(lab: LabConfig, caching: Caching): void {
  fs.writeFileSync(corefileOf(lab), corefile(lab, zoneFileOf(lab), caching));
}

const zoneFileOf = (lab: LabConfig): string => path.join(lab.state, "run", "root.zone");
const corefileOf = (lab: LabConfig): string => path.join(lab.state, "run", "Corefile");

const rbac = { group: "rbac.authorization.k8s.io", version: "v1", namespaced: false } as const;
const roles: Kind<ClusterRole> = { ...rbac, kind: "ClusterRole", plural: "clusterroles" };
const bindings: Kind<ClusterRoleBinding> = { ...rbac, kind: "ClusterRoleBinding", plural: "clusterrolebindings" };

const role: ClusterRole = {
  metadata: { name: "lab:coredns" },
  rules: [
    { apiGroups: [""], resources: ["services", "namespaces", "pods"], verbs: ["list", "watch"] },
    { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["list", "watch"] },
  ],
};

const binding: ClusterRoleBinding = {
  metadata: { name: "lab:coredns" },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "lab:coredns" },
  subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "coredns" }],
};

export async function startDns(lab: LabConfig, api: KubeApi, signal: AbortSignal): Promise<void> {
  await api.apply(roles, role, { fieldManager: "lab", signal });
  await api.apply(bindings, binding, { fieldManager: "lab", signal });
  fs.writeFileSync(zoneFileOf(lab), emptyRootZone);
  configureDns(lab, "none");
  const daemon = startDaemon(lab, "coredns", [path.join(lab.bin, "coredns"), "-conf", corefileOf(lab)]);
  await waitForDaemon(lab, daemon, () => isHealthy(`http://${loopbackAddress(lab)}:8181/ready`), signal);
}
