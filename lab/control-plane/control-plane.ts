// etcd, API server, controller manager and scheduler, as processes of the host. etcd listens on a loopback address of
// this lab alone, the others on the bridge.
import * as fs from "node:fs";
import * as net from "node:net";
import * as path from "node:path";
import { isReady } from "./api.ts";
import { auditLogPath, hostAddress, type LabConfig, loopbackAddress, podRange, serviceRange } from "../config.ts";
import { type Daemon, startDaemon } from "../machine/daemon.ts";
import { componentKubeconfig } from "./kubeconfig.ts";
import { pkiPath } from "./pki.ts";
import { waitForDaemon } from "./readiness.ts";

const flags = (values: Readonly<Record<string, string | number | boolean>>): string[] =>
  Object.entries(values).map(([name, value]) => `--${name}=${value}`);

function etcdFlags(lab: LabConfig): string[] {
  const url = (port: number): string => `http://${loopbackAddress(lab)}:${port}`;
  return flags({
    "data-dir": path.join(lab.state, "etcd"),
    "listen-client-urls": url(2379),
    "advertise-client-urls": url(2379),
    "listen-peer-urls": url(2380),
    "initial-advertise-peer-urls": url(2380),
    "initial-cluster": `default=${url(2380)}`,
    // A lab is thrown away; fsync would only slow the tests down.
    "unsafe-no-fsync": true,
  });
}

function apiServerFlags(lab: LabConfig): string[] {
  return flags({
    "etcd-servers": `http://${loopbackAddress(lab)}:2379`,
    "bind-address": hostAddress(lab),
    "advertise-address": hostAddress(lab),
    "secure-port": 6443,
    "service-cluster-ip-range": serviceRange(lab),
    "tls-cert-file": pkiPath(lab, "apiserver.crt"),
    "tls-private-key-file": pkiPath(lab, "apiserver.key"),
    "client-ca-file": pkiPath(lab, "ca.crt"),
    "service-account-key-file": pkiPath(lab, "service-accounts.pub"),
    "service-account-signing-key-file": pkiPath(lab, "service-accounts.key"),
    "service-account-issuer": "https://kubernetes.default.svc",
    "kubelet-client-certificate": pkiPath(lab, "kubelet-client.crt"),
    "kubelet-client-key": pkiPath(lab, "kubelet-client.key"),
    "kubelet-certificate-authority": pkiPath(lab, "ca.crt"),
    "kubelet-preferred-address-types": "InternalIP",
    "authorization-mode": "Node,RBAC",
    "allow-privileged": true,
    "enable-admission-plugins": "NodeRestriction",
    "endpoint-reconciler-type": "lease",
    // Webhooks are called at pod addresses, so they do not depend on the first node's kube-proxy.
    "enable-aggregator-routing": true,
    "audit-policy-file": auditPolicyPath(lab),
    "audit-log-path": auditLogPath(lab),
    "audit-log-maxsize": 1024,
    "audit-log-maxbackup": 4,
    "max-requests-inflight": 1000,
    "max-mutating-requests-inflight": 500,
  });
}

const controllerFlags = (lab: LabConfig, identity: string): Record<string, string | number | boolean> => ({
  kubeconfig: componentKubeconfig(lab, identity),
  "bind-address": hostAddress(lab),
  "tls-cert-file": pkiPath(lab, `${identity}.crt`),
  "tls-private-key-file": pkiPath(lab, `${identity}.key`),
  "leader-elect": false,
  // With the usual 20 requests a second the controllers would take four seconds to start.
  "kube-api-qps": 300,
  "kube-api-burst": 600,
});

function controllerManagerFlags(lab: LabConfig): string[] {
  return flags({
    ...controllerFlags(lab, "controller-manager"),
    "use-service-account-credentials": true,
    "root-ca-file": pkiPath(lab, "ca.crt"),
    "service-account-private-key-file": pkiPath(lab, "service-accounts.key"),
    "cluster-signing-cert-file": pkiPath(lab, "ca.crt"),
    "cluster-signing-key-file": pkiPath(lab, "ca.key"),
    "cluster-cidr": podRange(lab),
    "allocate-node-cidrs": false,
    // A dead node is NotReady after 16 s instead of 50, which keeps tests of node failure short.
    "node-monitor-period": "2s",
    "node-monitor-grace-period": "16s",
  });
}

const schedulerFlags = (lab: LabConfig): string[] => flags(controllerFlags(lab, "scheduler"));

const auditPolicyPath = (lab: LabConfig): string => path.join(lab.state, "run", "audit-policy.json");

const auditPolicy = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived"],
  rules: [{ level: "Metadata" }],
};

function accepts(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect({ host, port });
    socket.on("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}

/** Starts etcd and the API server, and waits until the API server is ready. */
export async function startApiServer(lab: LabConfig, signal: AbortSignal): Promise<void> {
  fs.mkdirSync(path.join(lab.state, "run"), { recursive: true });
  fs.mkdirSync(path.dirname(auditLogPath(lab)), { recursive: true });
  fs.writeFileSync(auditPolicyPath(lab), JSON.stringify(auditPolicy));
  const etcd = startDaemon(lab, "etcd", [path.join(lab.bin, "etcd"), ...etcdFlags(lab)]);
  await waitForDaemon(lab, etcd, () => accepts(loopbackAddress(lab), 2379), signal);
  const server = startDaemon(lab, "apiserver", [path.join(lab.bin, "kube-apiserver"), ...apiServerFlags(lab)]);
  await waitForDaemon(lab, server, () => isReady(lab), signal);
}

export const startControllers = (lab: LabConfig): Daemon[] => [
  startDaemon(lab, "controller-manager", [
    path.join(lab.bin, "kube-controller-manager"),
    ...controllerManagerFlags(lab),
  ]),
  startDaemon(lab, "scheduler", [path.join(lab.bin, "kube-scheduler"), ...schedulerFlags(lab)]),
];
