// A small pod that proves an image on a node before a member is given it there: a kubelet stops the old container first
// and pulls the image then, so a member that gets an image which cannot be pulled or run is down. It prints the version
// and ends. It has no label that a Service or the budget of the cluster selects by.
import { createHash } from "node:crypto";
import { type CompleteEtcdCluster, EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { imagePrograms } from "../../etcd/versions/features.ts";
import type { Pod } from "../../kube/objects/kinds.ts";
import { containerSecurity } from "../../worker/pod.ts";
import { imageAnnotation } from "./claims.ts";
import { metadataOf } from "./labels.ts";
import { etcdContainer, placing, podSecurity } from "./member-pod.ts";

export const imageCheckLabel = "etcd_image_check";
/** The version that the program in the image said it is. */
export const foundVersionAnnotation = `${EtcdCluster.group}/found-version`;

export const isImageCheck = ({ metadata }: Pod): boolean => metadata?.labels?.[imageCheckLabel] !== undefined;

/** The same for the same image on the same node, so that it is proved there once. */
function imageCheckName({ metadata: { name } }: CompleteEtcdCluster, node: string, image: string): string {
  const digest = createHash("sha256").update(`${node} ${image}`).digest("hex").slice(0, 10);
  return `${name}-image-check-${digest}`;
}

export function imageCheck(cluster: CompleteEtcdCluster, node: string, image: string): Pod {
  const { pod } = cluster.spec;
  return {
    metadata: {
      ...metadataOf(cluster, imageCheckName(cluster, node, image)),
      labels: { app: "etcd", [imageCheckLabel]: cluster.metadata.name },
      annotations: { [imageAnnotation]: image },
    },
    spec: {
      // Not by the scheduler: the member is on this node, whether another pod would be put there or not.
      nodeName: node,
      tolerations: [{ operator: "Exists" }],
      restartPolicy: "Never",
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 0,
      securityContext: podSecurity(pod.securityContext),
      ...placing(pod),
      containers: [
        {
          name: etcdContainer,
          image,
          command: [imagePrograms.etcd, "--version"],
          // Said, because a quota may ask for it; nothing, so that it fits beside the member on a node that is full.
          resources: { requests: { cpu: "0", memory: "0" }, limits: { cpu: "1", memory: "128Mi" } },
          securityContext: containerSecurity,
        },
      ],
    },
  };
}

/** From what `etcd --version` prints, as in `etcd Version: 3.6.16`; undefined when it printed something else. */
export function printedVersion(log: string): string | undefined {
  return /^etcd Version: (?<version>\S+)/m.exec(log)?.groups?.["version"];
}
