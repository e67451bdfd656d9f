// The values of the chart, with the defaults of the plain manifests.
import * as defaults from "../deployment.ts";
import {
  amount,
  type Fields,
  group,
  labels,
  number,
  object,
  objects,
  text,
  texts,
  truth,
  type Value,
} from "./value.ts";

interface DefaultImage {
  readonly repository: string;
  /** What is said of it. */
  readonly says: string;
  readonly digest: string;
}

const imageOf = ({ repository, says, digest }: DefaultImage): Value =>
  group("Image of the operator.", {
    repository: text(says, repository),
    tag: text("Tag of the image. If empty, the appVersion of the chart."),
    digest: text("Digest of the image, for example sha256:…. It takes precedence over the tag.", digest),
    pullPolicy: text("Pull policy of the image.", "IfNotPresent", ["Always", "IfNotPresent", "Never"]),
  });

/** The values of the chart of a release, which names an image that is published. */
export const releasedValues = (image: Omit<DefaultImage, "says">): Fields => ({
  ...values,
  image: imageOf({ ...image, says: "Repository of the image, without a tag." }),
});

export const values: Fields = {
  image: imageOf({
    repository: defaults.image.repository,
    says: "Repository of the image, without a tag. No image is published yet, and the default never resolves: load an image into the nodes, or set your own repository.",
    digest: "",
  }),
  imagePullSecrets: objects("Secrets for pulling the image, for example [{name: registry}]."),
  workerImage: text("Image of the pods that back up and restore. If empty, the operator's own image."),

  clusterWide: truth(
    true,
    "Manage the clusters in all namespaces that have no operator of their own. If false, manage those in the namespace of the release, or in watchNamespaces.",
  ),
  watchNamespaces: texts(
    "Namespaces whose clusters are managed; they must exist already. Requires clusterWide: false.",
  ),
  backup: truth(true, "Manage EtcdBackups."),
  restore: truth(true, "Manage EtcdRestores."),
  extraArgs: texts("Additional flags of the operator, for example [-chaos-level=1]."),
  extraEnv: objects("Additional environment variables of the operator, as in the env of a container."),

  crds: group("CustomResourceDefinitions (CRDs) of EtcdCluster, EtcdBackup and EtcdRestore.", {
    create: truth(
      true,
      "Install and update the CRDs. They remain when the release is uninstalled, and so do the clusters. Set it to false if the CRDs are installed in another way, and for a second release.",
    ),
  }),
  serviceAccount: group("ServiceAccount of the operator.", {
    create: truth(true, "Create the ServiceAccount. If false, it must exist already."),
    name: text("Name of the ServiceAccount. If empty, the full name of the release, or default if none is created."),
    annotations: labels(
      "Annotations of the ServiceAccount, for example for the workload identity of a cloud provider.",
    ),
    automount: truth(true, "Mount the token of the ServiceAccount. If false, mount one with extraVolumes."),
  }),
  rbac: group("RBAC permissions of the operator.", {
    create: truth(
      true,
      "Create roles and role bindings. If false, grant the permissions in another way, as example/rbac does.",
    ),
    secrets: truth(
      true,
      "Grant access to Secrets, which clusters with spec.TLS or spec.auth need. Set it to false if there are no such clusters.",
    ),
    aggregateClusterRoles: truth(
      true,
      "Let users with the role view, edit or admin in a namespace view or change the objects of this API there. Applies only with clusterWide.",
    ),
  }),

  replicaCount: number("Number of replicas of the operator. One is the leader, the others stand by.", 1, 0),
  strategy: object("Update strategy of the Deployment. If empty, the default of Kubernetes."),
  resources: object("CPU and memory requests and limits of the operator's container.", defaults.resources),
  podSecurityContext: object(
    "Security context of the pod. The default meets the restricted profile of the Pod Security Standards.",
    defaults.podSecurityContext,
  ),
  securityContext: object("Security context of the container.", defaults.securityContext),
  port: number("Port that serves /readyz, /healthz and /metrics.", defaults.port, 1),
  readinessProbe: object("Readiness probe of the container.", defaults.readinessProbe),
  livenessProbe: object("Liveness probe of the container.", defaults.livenessProbe),
  nodeSelector: labels("Labels that a node must have to run the operator."),
  affinity: object("Affinity of the operator's pods. If empty, several replicas prefer different nodes."),
  tolerations: objects("Tolerations of the operator's pods."),
  topologySpreadConstraints: objects(
    "Constraints that spread the replicas over zones, nodes or other topology domains.",
  ),
  priorityClassName: text("Name of the PriorityClass of the operator's pods."),
  extraVolumes: objects("Additional volumes of the pod."),
  extraVolumeMounts: objects("Additional volume mounts of the container."),
  podLabels: labels("Additional labels of the pod."),
  podAnnotations: labels("Annotations added to the pod."),
  deploymentAnnotations: labels("Annotations added to the Deployment."),
  podDisruptionBudget: group("PodDisruptionBudget of the operator, for several replicas.", {
    enabled: truth(false, "Create a PodDisruptionBudget."),
    maxUnavailable: amount("Number or percentage of pods that may be unavailable.", 1),
    minAvailable: amount(
      "Number or percentage of pods that must be available. It takes precedence over maxUnavailable.",
    ),
  }),
  networkPolicy: group("NetworkPolicy of the operator.", {
    enabled: truth(false, "Create a NetworkPolicy. Kubelets still reach the probes."),
    from: objects("Peers that may read /metrics, as in from of a NetworkPolicy. If empty, nobody may."),
    egress: objects(
      "Egress rules, as in egress of a NetworkPolicy. If empty, all egress is allowed. The operator needs DNS, the API server and port 2379 of the members.",
    ),
  }),

  podMonitor: group("Metrics scraping with the Prometheus operator.", {
    enabled: truth(false, "Create PodMonitors."),
    interval: text("Scrape interval, for example 30s. If empty, the default of Prometheus."),
    labels: labels("Labels by which your Prometheus selects PodMonitors."),
    relabelings: objects("Relabeling rules for targets."),
    metricRelabelings: objects("Relabeling rules for metrics."),
  }),
  prometheusRule: group("Alerts for the Prometheus operator.", {
    enabled: truth(false, "Create a PrometheusRule."),
    labels: labels("Labels by which your Prometheus selects rules."),
    runbookBaseURL: text(
      "URL below which your team reads this repository, for example https://git.example.com/etcd-operator/blob/main. It is put before docs/runbooks/… in runbook_url of the alerts.",
    ),
  }),
  grafanaDashboard: group("Dashboards for the Grafana sidecar.", {
    enabled: truth(false, "Create one ConfigMap per dashboard."),
    namespace: text("Namespace of the ConfigMaps. If empty, the namespace of the release."),
    labels: labels("Labels by which the sidecar selects ConfigMaps.", { grafana_dashboard: "1" }),
    annotations: labels("Annotations of the ConfigMaps, for example for a Grafana folder."),
  }),

  nameOverride: text("Name used instead of etcd-operator in names and labels."),
  fullnameOverride: text("Full name of the created objects."),
  namespaceOverride: text("Namespace of the created objects, instead of the namespace of the release."),
  commonLabels: labels("Labels added to all created objects."),
  extraObjects: objects("Additional objects to create; they may contain templates."),
};
