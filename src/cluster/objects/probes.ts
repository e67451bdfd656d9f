// The kubelet's probes of a member: whether it lives, asked on the metrics listener, and whether it is ready, asked where
// clients connect. By HTTP, because newer images have no shell. Where clients need a certificate, which kubelets have not,
// the metrics listener is asked for both, and the operator says when clients are served (`servingGate`).
import type { Probe as KubeProbe } from "kubernetes-types/core/v1.js";
import { type Probe, probesOf } from "../../etcd/versions/features.ts";
import type { EtcdVersion } from "../../etcd/versions/version.ts";
import { ports } from "./labels.ts";
import { plainText, type PodTls } from "./tls.ts";

interface ContainerProbes {
  startupProbe: KubeProbe;
  readinessProbe: KubeProbe;
  livenessProbe: KubeProbe;
}

export function containerProbes(version: EtcdVersion, { client }: PodTls = plainText): ContainerProbes {
  const { liveness, readiness } = probesOf(version, client ? "needed" : "notNeeded");
  return {
    // A member that reads a large database at its start gets ten minutes for it.
    startupProbe: { ...handler(liveness), periodSeconds: 1, timeoutSeconds: 5, failureThreshold: 600 },
    // Clients reach a member at most a second after it began to serve. Until then its client port takes the connection
    // and says nothing; a probe that waits there is answered as soon as it serves.
    readinessProbe: { ...handler(readiness), periodSeconds: 1, timeoutSeconds: 5, failureThreshold: 3 },
    // Only a member that does not answer for a minute is restarted: slow disks recover.
    livenessProbe: { ...handler(liveness), periodSeconds: 10, timeoutSeconds: 10, failureThreshold: 6 },
  };
}

function handler(probe: Probe): Pick<KubeProbe, "httpGet" | "tcpSocket"> {
  if (probe.on === "clientPort") return { tcpSocket: { port: ports.client } };
  return { httpGet: { path: probe.path, port: ports[probe.on], scheme: "HTTP" } };
}
