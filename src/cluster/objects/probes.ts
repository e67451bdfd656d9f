// How a kubelet asks a member whether it lives and whether it serves. No shell and no client certificate: newer images
// have no shell, and the metrics listener asks for no certificate.
import type { Probe as KubeProbe } from "kubernetes-types/core/v1.js";
import { type Probe, probesOf } from "../../etcd/versions/features.ts";
import type { EtcdVersion } from "../../etcd/versions/version.ts";
import { ports } from "./labels.ts";

export interface ContainerProbes {
  startupProbe: KubeProbe;
  readinessProbe: KubeProbe;
  livenessProbe: KubeProbe;
}

export function containerProbes(version: EtcdVersion): ContainerProbes {
  const { liveness, readiness } = probesOf(version);
  return {
    // A member that reads a large database at its start gets ten minutes for it.
    startupProbe: { ...handler(liveness), periodSeconds: 1, timeoutSeconds: 5, failureThreshold: 600 },
    // Clients are sent to a member at most a second after it became of use.
    readinessProbe: { ...handler(readiness), periodSeconds: 1, timeoutSeconds: 5, failureThreshold: 3 },
    // Only one that says nothing for a minute is started again: slow disks come back.
    livenessProbe: { ...handler(liveness), periodSeconds: 10, timeoutSeconds: 10, failureThreshold: 6 },
  };
}

function handler(probe: Probe): Pick<KubeProbe, "httpGet" | "tcpSocket"> {
  if (probe.on === "clientPort") return { tcpSocket: { port: ports.client } };
  return { httpGet: { path: probe.path, port: ports[probe.on], scheme: "HTTP" } };
}
