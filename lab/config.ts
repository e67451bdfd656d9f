// The names, paths and addresses of a lab. All kernel names start with the lab's name, and all addresses are in its /16,
// so that two labs share nothing.
import * as path from "node:path";

export interface LabConfig {
  /** At most 8 letters and digits: interface names have at most 15. */
  readonly name: string;
  /** The first two numbers of the lab's /16, as in `10.99`. */
  readonly prefix: string;
  readonly nodes: number;
  readonly kubernetes: string;
  /** The folder of all its files: kubeconfig, pki, logs, node roots, volumes. */
  readonly state: string;
  /** kubectl, etcdctl and friends, as links into the build cache. */
  readonly bin: string;
  /** The test run that it belongs to: once that process is gone, nobody needs the lab. */
  readonly owner?: { readonly pid: number; readonly startTime: string };
}

export const mostNodes = 9;
export const defaultKubernetes = "1.34.4";
/** `.lab` of this repository: the default lab is in it, others are in `.lab/labs/NAME`. */
const home: string = path.resolve(import.meta.dirname, "..", ".lab");

/** Shared by all labs of the machine: one record per lab, and the handles of the nodes' mount namespaces. */
export const machineFolder = "/run/etcd-operator-lab";
/** Every process of a lab has the lab's name in this variable, so that it can be found without any file. */
export const labMark = "ETCD_OPERATOR_LAB";

/** A mistake of the person; they read the message and no stack. */
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
    // A lab of another Kubernetes version must not change the links of a running one.
    bin: path.join(home, kubernetes === defaultKubernetes ? "bin" : `bin-${kubernetes}`),
  };
}

/** One node: a network namespace with its own containerd, kubelet and kube-proxy. */
export interface LabNode {
  readonly index: number;
  /** Its name in Kubernetes. */
  readonly name: string;
  readonly zone: string;
  readonly address: string;
  /** The name of its network namespace, of the host end of its veth, and of its top cgroup. */
  readonly netns: string;
  /** The handle of its mount namespace: dropping it unmounts everything on the node. */
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
/** The host's address on the bridge: control plane and DNS listen only here. */
export const hostAddress = (lab: LabConfig): string => `${lab.prefix}.0.1`;
/** A loopback address of this lab alone, for what pods must not reach: `10.99` gives 127.10.99.1. */
export const loopbackAddress = (lab: LabConfig): string => `127.${lab.prefix}.1`;
export const podRange = (lab: LabConfig): string => `${lab.prefix}.16.0/20`;
export const serviceRange = (lab: LabConfig): string => `${lab.prefix}.128.0/20`;
/** The API server's own service, first of the service range. */
export const kubernetesService = (lab: LabConfig): string => `${lab.prefix}.128.1`;
export const kubeconfigPath = (lab: LabConfig): string => path.join(lab.state, "kubeconfig");
export const logPath = (lab: LabConfig, component: string): string => path.join(lab.state, "logs", `${component}.log`);
export const pidPath = (lab: LabConfig, component: string): string => path.join(lab.state, "run", `${component}.pid`);
export const auditLogPath = (lab: LabConfig): string => path.join(lab.state, "logs", "audit.log");
