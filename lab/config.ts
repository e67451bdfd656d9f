// What a lab is called and where everything of it lies. All names that the kernel sees begin with the lab's name
// and all addresses come out of its one /16, so that two labs never meet.
import * as path from "node:path";

export interface LabConfig {
  /** At most 8 letters and digits: interface names hold 15. */
  readonly name: string;
  /** The first two numbers of the lab's /16, as in `10.99`. */
  readonly prefix: string;
  readonly nodes: number;
  readonly kubernetes: string;
  /** Everything of this lab that is a file: kubeconfig, pki, logs, node roots, volumes. */
  readonly state: string;
  /** kubectl, etcdctl and friends, as links into the build cache. */
  readonly bin: string;
}

export const mostNodes = 9;
export const defaultKubernetes = "1.34.4";
/** The tree's `.lab`: the default lab lies in it, others in `.lab/labs/NAME`. */
export const home: string = path.resolve(import.meta.dirname, "..", ".lab");

/** What the whole machine must know of its labs: one record a lab, and the handles of the nodes' mount namespaces. */
export const machineFolder = "/run/etcd-operator-lab";
/** Every process that a lab starts carries the lab's name in this variable, so that it can be found without any file. */
export const labMark = "ETCD_OPERATOR_LAB";

/** Something the person asked for that cannot be; its message is the whole sentence they read. */
export class UsageError extends Error {}

export function labConfig(
  options: { name?: string; subnet?: string; nodes?: number; kubernetes?: string } = {},
): LabConfig {
  const name = options.name ?? "lab";
  if (!/^[a-z][a-z0-9]{0,7}$/.test(name))
    throw new UsageError(`The lab name "${name}" must be 1 to 8 lower-case letters and digits, a letter first.`);
  const subnet = options.subnet ?? "10.99.0.0/16";
  const prefix = /^(10\.\d{1,3}|172\.(?:1[6-9]|2\d|3[01])|192\.168)\.0\.0\/16$/.exec(subnet)?.[1];
  if (prefix === undefined) throw new UsageError(`The subnet "${subnet}" must be a private /16, as in 10.99.0.0/16.`);
  const nodes = options.nodes ?? 3;
  if (!Number.isInteger(nodes) || nodes < 1 || nodes > mostNodes)
    throw new UsageError(`A lab has 1 to ${mostNodes} nodes, not ${nodes}.`);
  const kubernetes = options.kubernetes ?? defaultKubernetes;
  return {
    name,
    prefix,
    nodes,
    kubernetes,
    state: name === "lab" ? home : path.join(home, "labs", name),
    // Links of one version must not move under the feet of a lab of another.
    bin: path.join(home, kubernetes === defaultKubernetes ? "bin" : `bin-${kubernetes}`),
  };
}

/** One machine of the lab: a network namespace with its own containerd, kubelet and kube-proxy. */
export interface LabNode {
  readonly index: number;
  /** Its name in Kubernetes. */
  readonly name: string;
  readonly zone: string;
  readonly address: string;
  /** Network namespace, host end of its cable, and top cgroup all carry this name. */
  readonly netns: string;
  /** The handle of its mount namespace: everything mounted on the node is mounted there, and goes when it goes. */
  readonly mountns: string;
  readonly podCidr: string;
  /** Its containerd, kubelet root, CNI configuration. */
  readonly root: string;
  readonly containerdSocket: string;
}

export function labNode(lab: LabConfig, index: number): LabNode {
  const root = path.join(lab.state, "nodes", `n${index}`);
  return {
    index,
    name: `n${index}`,
    zone: `zone-${index}`,
    address: `${lab.prefix}.0.${10 + index}`,
    netns: `${lab.name}-n${index}`,
    mountns: path.join(machineFolder, lab.name, `n${index}.mnt`),
    podCidr: `${lab.prefix}.${16 + index}.0/24`,
    root,
    containerdSocket: path.join(root, "containerd.sock"),
  };
}

export function labNodes(lab: LabConfig): LabNode[] {
  return Array.from({ length: lab.nodes }, (_, index) => labNode(lab, index));
}

export const bridgeName = (lab: LabConfig): string => `${lab.name}-br`;
/** The host's end of the bridge: control plane and DNS listen here, and only here. */
export const hostAddress = (lab: LabConfig): string => `${lab.prefix}.0.1`;
/** Loopback of this lab alone, for what no pod may reach: `10.99` gives 127.10.99.1. */
export const loopbackAddress = (lab: LabConfig): string => `127.${lab.prefix}.1`;
export const podRange = (lab: LabConfig): string => `${lab.prefix}.16.0/20`;
export const serviceRange = (lab: LabConfig): string => `${lab.prefix}.128.0/20`;
/** The API server's own service, first of the service range. */
export const kubernetesService = (lab: LabConfig): string => `${lab.prefix}.128.1`;
export const kubeconfigPath = (lab: LabConfig): string => path.join(lab.state, "kubeconfig");
export const logPath = (lab: LabConfig, component: string): string => path.join(lab.state, "logs", `${component}.log`);
export const pidPath = (lab: LabConfig, component: string): string => path.join(lab.state, "run", `${component}.pid`);
export const auditLogPath = (lab: LabConfig): string => path.join(lab.state, "logs", "audit.log");
