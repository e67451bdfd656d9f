// The values of the chart, with the defaults of the plain manifests.
import * as defaults from "../deployment.ts";
import { amount, type Fields, group, labels, number, object, objects, text, texts, truth } from "./value.ts";

export const values: Fields = {
  image: group("The operator's image.", {
    repository: text(
      "Where it is pulled from, without a tag. No image is published yet, and the default never resolves: load one into the nodes, or name your own.",
      defaults.image.repository,
    ),
    tag: text("Its tag. Empty: the version of the chart's application."),
    digest: text("As in sha256:…; it counts before the tag."),
    pullPolicy: text("When nodes pull it.", "IfNotPresent", ["Always", "IfNotPresent", "Never"]),
  }),
  imagePullSecrets: objects("Secrets to pull it with, as in [{name: registry}]."),
  workerImage: text("The image of the pods that back up and restore. Empty: the operator's own."),

  clusterWide: truth(
    true,
    "Manage the clusters of all namespaces that have no operator of their own. False: those of the release's namespace, or of watchNamespaces.",
  ),
  watchNamespaces: texts("With clusterWide false: manage the clusters of these namespaces, which exist already."),
  backup: truth(true, "Look after EtcdBackups."),
  restore: truth(true, "Look after EtcdRestores."),
  extraArgs: texts("More flags, as in [-chaos-level=1]."),
  extraEnv: objects("More environment variables, as in a container's env."),

  crds: group("The definitions of EtcdCluster, EtcdBackup and EtcdRestore.", {
    create: truth(
      true,
      "Install them, and bring them up to date. They stay when the release is uninstalled, and the clusters with them. False: somebody else does that; needed for a second release.",
    ),
  }),
  serviceAccount: group("Who the operator is.", {
    create: truth(true, "Make it. False: it exists."),
    name: text("Its name. Empty: the full name, or default if none is made."),
    annotations: labels("Its annotations, as for an identity of a cloud."),
    automount: truth(true, "Mount its token. False: mount one with extraVolumes."),
  }),
  rbac: group("What the operator may do.", {
    create: truth(true, "Make roles and bindings. False: somebody else grants the rights, as example/rbac does."),
    secrets: truth(true, "Grant Secrets, for clusters with spec.TLS or spec.auth. False: there are none."),
    aggregateClusterRoles: truth(
      true,
      "With clusterWide: let people with the role view, edit or admin of a namespace see, or change, what is of this API there.",
    ),
  }),

  replicaCount: number("How many operators run. One leads, the others stand by.", 1, 0),
  strategy: object("How the Deployment replaces pods. Empty: as Kubernetes does by default."),
  resources: object("Requests and limits of the container.", defaults.resources),
  podSecurityContext: object(
    "Of the pod; it passes the restricted profile of Pod Security.",
    defaults.podSecurityContext,
  ),
  securityContext: object("Of the container.", defaults.securityContext),
  port: number("Where /readyz, /healthz and /metrics are served.", defaults.port, 1),
  readinessProbe: object("When the pod is ready.", defaults.readinessProbe),
  livenessProbe: object("When the container is restarted.", defaults.livenessProbe),
  nodeSelector: labels("Labels of the nodes that it may run on."),
  affinity: object("Where it would rather run."),
  tolerations: objects("Taints that it bears."),
  topologySpreadConstraints: objects("How replicas are spread."),
  priorityClassName: text("How important it is."),
  extraVolumes: objects("More volumes of the pod."),
  extraVolumeMounts: objects("More mounts of the container."),
  podLabels: labels("More labels of the pod."),
  podAnnotations: labels("Annotations of the pod."),
  deploymentAnnotations: labels("Annotations of the Deployment."),
  podDisruptionBudget: group("For several replicas.", {
    enabled: truth(false, "Make a PodDisruptionBudget."),
    maxUnavailable: amount("How many may be away.", 1),
    minAvailable: amount("How many must be there; it counts before maxUnavailable."),
  }),
  networkPolicy: group("What may reach the operator, and what it may reach.", {
    enabled: truth(false, "Make a NetworkPolicy. Kubelets reach the probes all the same."),
    from: objects("Who may read /metrics, as in from of a NetworkPolicy. Empty: nobody."),
    egress: objects(
      "What it may reach, as in egress of a NetworkPolicy. Empty: everything. It needs DNS, the API server and port 2379 of members.",
    ),
  }),

  podMonitor: group("Metrics, for the Prometheus operator.", {
    enabled: truth(false, "Make PodMonitors."),
    interval: text("How often, as in 30s. Empty: as Prometheus does by default."),
    labels: labels("Labels that your Prometheus selects PodMonitors by."),
    relabelings: objects("Relabelings of targets."),
    metricRelabelings: objects("Relabelings of metrics."),
  }),
  prometheusRule: group("Alerts, for the Prometheus operator.", {
    enabled: truth(false, "Make a PrometheusRule."),
    labels: labels("Labels that your Prometheus selects rules by."),
  }),
  grafanaDashboard: group("Dashboards, for the sidecar of Grafana.", {
    enabled: truth(false, "Make a ConfigMap a dashboard."),
    namespace: text("Where. Empty: the release's namespace."),
    labels: labels("Labels that the sidecar selects ConfigMaps by.", { grafana_dashboard: "1" }),
    annotations: labels("Annotations, as for a folder."),
  }),

  nameOverride: text("Instead of etcd-operator in names and labels."),
  fullnameOverride: text("The name of all that is made."),
  namespaceOverride: text("Where it is made, instead of the release's namespace."),
  commonLabels: labels("Labels of all that is made."),
  extraObjects: objects("More objects, which may have templates in them."),
};
