// A pod beside the members for one command: the same etcdctl, with a client's certificate mounted and the login as a
// variable. `kubectl exec` can hand over neither without showing it in arguments, and images of etcd have no shell.
import type { EnvVar } from "kubernetes-types/core/v1.js";
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { OwnedMetadata } from "../../cluster/objects/labels.ts";
import { etcdContainer } from "../../cluster/objects/member-pod.ts";
import { containerSecurity } from "../../worker/pod.ts";
import { imagePrograms } from "../../etcd/versions/features.ts";
import type { Pod, Secret } from "../../kube/objects/kinds.ts";
import { ownerReference } from "../../kube/objects/owners.ts";
import type { Identity } from "./login.ts";
import { needsApiVariable, type ExecPlace } from "./words.ts";
import { defined } from "../../defined.ts";

const folder = "/etc/etcdctl";
const container = "etcdctl";
/** The only key of the Secret. */
const loginKey = "user";
/** Nobody's command goes on for longer; a pod that was left behind ends. */
const longestSeconds = 12 * 3600;

export function clientPod(cluster: EtcdCluster, member: Pod, name: string, identity: Identity): Pod {
  const image = member.spec?.containers.find((one) => one.name === etcdContainer)?.image;
  const { certificate, login } = identity;
  const { nodeName, tolerations, imagePullSecrets, securityContext } = member.spec ?? {};
  return {
    metadata: metadataOf(cluster, name),
    spec: {
      restartPolicy: "Never",
      activeDeadlineSeconds: longestSeconds,
      terminationGracePeriodSeconds: 0,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      // Where the image is.
      ...defined({ nodeName, tolerations, imagePullSecrets, securityContext }),
      containers: [
        {
          name: container,
          ...(image !== undefined && { image }),
          imagePullPolicy: "IfNotPresent",
          command: idle,
          securityContext: containerSecurity,
          env: [
            ...(needsApiVariable(member) ? [{ name: "ETCDCTL_API", value: "3" }] : []),
            ...(login === undefined ? [] : [loginVariable(name)]),
          ],
          volumeMounts: certificate === undefined ? [] : [{ name: "tls", mountPath: folder, readOnly: true }],
        },
      ],
      volumes:
        certificate === undefined ? [] : [{ name: "tls", secret: { secretName: certificate, defaultMode: 0o440 } }],
    },
  };
}

/** All that images of etcd have which waits without doing anything: a proxy that nobody can reach. */
const idle = [imagePrograms.etcd, "gateway", "start", "--endpoints=127.0.0.1:1", "--listen-addr=127.0.0.1:23790"];

const loginVariable = (secret: string): EnvVar => ({
  name: "ETCDCTL_USER",
  valueFrom: { secretKeyRef: { name: secret, key: loginKey } },
});

/** The login as the operator reads it, without a line end, which etcdctl would send. It goes with the pod. */
export function loginSecret(cluster: EtcdCluster, name: string, login: string): Secret {
  return {
    metadata: metadataOf(cluster, name),
    type: "Opaque",
    immutable: true,
    data: { [loginKey]: Buffer.from(login).toString("base64") },
  };
}

/** Without the labels of members: no Service and no budget counts it. */
function metadataOf(cluster: EtcdCluster, name: string): OwnedMetadata {
  return {
    name,
    namespace: cluster.metadata?.namespace ?? "",
    labels: { app: "etcdctl" },
    ownerReferences: [ownerReference(EtcdCluster, cluster, "dependency")],
  };
}

export function inClientPod(pod: Pod, { certificate }: Identity): ExecPlace {
  const { name = "", namespace = "" } = pod.metadata ?? {};
  const flags =
    certificate === undefined
      ? []
      : [
          `--cacert=${folder}/etcd-client-ca.crt`,
          `--cert=${folder}/etcd-client.crt`,
          `--key=${folder}/etcd-client.key`,
        ];
  return { pod: { namespace, name }, container, before: [], flags };
}
