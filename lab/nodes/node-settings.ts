// The configuration files of a node's containerd, network plugins, kubelet and kube-proxy, as text.
import * as path from "node:path";
import { hostAddress, type LabConfig, type LabNode, podRange } from "../config.ts";
import { componentKubeconfig } from "../control-plane/kubeconfig.ts";
import { pkiPath } from "../control-plane/pki.ts";

const pauseImage = "registry.k8s.io/pause:3.10";

export const containerdRoot = (node: LabNode): string => path.join(node.root, "containerd");
export const registriesFolder = (node: LabNode): string => path.join(node.root, "registries");
const cniFolder = (node: LabNode): string => path.join(node.root, "cni");

const unusedSnapshotters = ["aufs", "btrfs", "zfs", "devmapper"];

export function containerdSettings(node: LabNode): string {
  const disabled = unusedSnapshotters.map((name) => `"io.containerd.snapshotter.v1.${name}"`).join(", ");
  const cri = 'plugins."io.containerd.grpc.v1.cri"';
  // Lowering oom_score_adj needs a capability that root in a small virtual machine may lack.
  return `version = 2
root = "${containerdRoot(node)}"
state = "${path.join(node.root, "containerd-state")}"
disabled_plugins = [${disabled}]
[grpc]
  address = "${node.containerdSocket}"
[${cri}]
  sandbox_image = "${pauseImage}"
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
[${cri}.registry]
  config_path = "${registriesFolder(node)}"
[${cri}.cni]
  bin_dir = "/usr/lib/cni"
  conf_dir = "${cniFolder(node)}"
[${cri}.containerd]
  snapshotter = "overlayfs"
  default_runtime_name = "runc"
[${cri}.containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
`;
}

export function networkSettings(lab: LabConfig, node: LabNode): unknown {
  return {
    cniVersion: "0.4.0",
    name: lab.name,
    plugins: [
      {
        type: "bridge",
        bridge: "cni0",
        isGateway: true,
        hairpinMode: true,
        ipMasq: false,
        ipam: {
          type: "host-local",
          dataDir: path.join(node.root, "addresses"),
          ranges: [[{ subnet: node.podCidr }]],
          routes: [{ dst: "0.0.0.0/0" }],
        },
      },
      { type: "portmap", capabilities: { portMappings: true } },
    ],
  };
}

export function kubeletSettings(lab: LabConfig, node: LabNode): unknown {
  const minor = Number(lab.kubernetes.split(".")[1]);
  return {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: pkiPath(lab, "ca.crt") },
    },
    authorization: { mode: "Webhook" },
    address: node.address,
    port: 10250,
    healthzBindAddress: "127.0.0.1",
    tlsCertFile: pkiPath(lab, `${node.name}.crt`),
    tlsPrivateKeyFile: pkiPath(lab, `${node.name}.key`),
    containerRuntimeEndpoint: `unix://${node.containerdSocket}`,
    cgroupDriver: "cgroupfs",
    cgroupRoot: `/${node.netns}`,
    enforceNodeAllocatable: ["pods"],
    // Kubernetes 1.35 and later refuse cgroup v1 without this.
    ...(minor >= 35 ? { failCgroupV1: false } : {}),
    clusterDNS: [hostAddress(lab)],
    clusterDomain: "cluster.local",
    resolvConf: "",
    failSwapOn: false,
    oomScoreAdj: 0,
    // The nodes share one disk and have no registry: never collect images, never evict a pod for a full disk.
    evictionHard: { "memory.available": "100Mi" },
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    serializeImagePulls: false,
    maxPods: 250,
    nodeStatusUpdateFrequency: "4s",
    podLogsDir: path.join(node.root, "pod-logs"),
  };
}

function proxySettings(lab: LabConfig, node: LabNode): unknown {
  return {
    apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
    kind: "KubeProxyConfiguration",
    clientConnection: { kubeconfig: componentKubeconfig(lab, "kube-proxy") },
    clusterCIDR: podRange(lab),
    mode: "iptables",
    hostnameOverride: node.name,
    // Zero leaves the machine-wide connection tracking limits alone.
    conntrack: { maxPerCore: 0, min: 0, tcpCloseWaitTimeout: "0s", tcpEstablishedTimeout: "0s" },
    iptables: { minSyncPeriod: "100ms" },
  };
}

interface SettingsFile {
  readonly file: string;
  readonly text: string;
}

export const settingsPath = (node: LabNode, component: "containerd" | "kubelet" | "kube-proxy"): string =>
  path.join(node.root, component === "containerd" ? "containerd.toml" : `${component}.json`);

/** The files that must be on the node's disk before its agents start. */
export function settingsFiles(lab: LabConfig, node: LabNode): SettingsFile[] {
  const json = (value: unknown): string => JSON.stringify(value, undefined, 2);
  return [
    { file: settingsPath(node, "containerd"), text: containerdSettings(node) },
    { file: path.join(cniFolder(node), "10-lab.conflist"), text: json(networkSettings(lab, node)) },
    { file: settingsPath(node, "kubelet"), text: json(kubeletSettings(lab, node)) },
    { file: settingsPath(node, "kube-proxy"), text: json(proxySettings(lab, node)) },
  ];
}
