// The pods whose memory is measured: under the restricted standard, with no more permissions than they use.
import { type Pod } from "../src/kube/objects/kinds.ts";
import { benchImageTag, type ProgramName } from "./program.ts";
import { podEnvironment } from "./programs/settings.ts";

const account = "bench";
export const port = 8080;

/** Who the pods are, and what they may do, all in one namespace. */
export function permissions(namespace: string): { path: string; object: object }[] {
  const api = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
  const metadata = { name: account };
  const rules = [
    { apiGroups: [""], resources: ["configmaps", "pods", "services"], verbs: ["list", "watch"] },
    { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get", "create", "update"] },
  ];
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: account };
  const subjects = [{ kind: "ServiceAccount", name: account, namespace }];
  return [
    { path: `/api/v1/namespaces/${namespace}/serviceaccounts`, object: { metadata } },
    { path: `${api}/roles`, object: { metadata, rules } },
    { path: `${api}/rolebindings`, object: { metadata, roleRef, subjects } },
  ];
}

export function podOf(program: ProgramName, key: { namespace: string; name: string }): Pod {
  const env = podEnvironment({ namespace: key.namespace, lease: key.name, listen: `:${port}` });
  return {
    metadata: { ...key },
    spec: {
      serviceAccountName: account,
      restartPolicy: "Never",
      terminationGracePeriodSeconds: 1,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
      containers: [
        {
          name: "program",
          image: benchImageTag,
          imagePullPolicy: "Never",
          command: [`/usr/local/bin/${program}`],
          env: Object.entries(env).map(([name, value]) => ({ name, value })),
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ["ALL"] },
          },
          // The bare program serves nothing; the other is asked as often as a Deployment would ask it.
          ...(program === "pod" ? { readinessProbe: { httpGet: { path: "/readyz", port }, periodSeconds: 10 } } : {}),
        },
      ],
    },
  };
}
