// The operator's Deployment. The chart has a value for each of its settings, with these as defaults.
import { image } from "../src/image.ts";
import { ports } from "../src/programs.ts";
import type { Manifest } from "./manifest.ts";

export { image };

/** The manifests bring the CRDs, so the operator needs no permission to. */
export const argsOf = {
  clusterwide: ["-cluster-wide", "-create-crd=false"],
  namespace: ["-create-crd=false"],
} as const;

export const podSecurityContext = {
  runAsNonRoot: true,
  runAsUser: 65532,
  runAsGroup: 65532,
  seccompProfile: { type: "RuntimeDefault" },
} as const;

export const securityContext = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ["ALL"] },
} as const;

export const resources = { requests: { cpu: "20m", memory: "64Mi" }, limits: { memory: "256Mi" } } as const;

export const readinessProbe = {
  httpGet: { path: "/readyz", port: "http" },
  periodSeconds: 1,
  timeoutSeconds: 5,
} as const;

export const livenessProbe = {
  httpGet: { path: "/healthz", port: "http" },
  timeoutSeconds: 5,
  failureThreshold: 6,
} as const;

export const port = ports["etcd-operator"];

const ofItself = (name: string, fieldPath: string): object => ({ name, valueFrom: { fieldRef: { fieldPath } } });

export function deployment(
  scope: keyof typeof argsOf,
  metadata: Manifest["metadata"],
  selector: Readonly<Record<string, string>>,
  reference: string = `${image.repository}:${image.tag}`,
): Manifest {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata,
    spec: {
      replicas: 1,
      selector: { matchLabels: selector },
      template: {
        metadata: { labels: metadata.labels },
        spec: {
          serviceAccountName: metadata.name,
          securityContext: podSecurityContext,
          containers: [
            {
              name: "etcd-operator",
              image: reference,
              imagePullPolicy: "IfNotPresent",
              command: ["etcd-operator"],
              args: argsOf[scope],
              env: [ofItself("MY_POD_NAMESPACE", "metadata.namespace"), ofItself("MY_POD_NAME", "metadata.name")],
              ports: [{ name: "http", containerPort: port }],
              readinessProbe,
              livenessProbe,
              resources,
              securityContext,
            },
          ],
        },
      },
    },
  };
}
