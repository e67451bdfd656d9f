// How Prometheus finds the operator and the members: objects for the Prometheus operator, and a configuration for a plain
// Prometheus that does the same.
import { ports } from "../src/cluster/objects/labels.ts";
import { programs } from "../src/programs.ts";

/** The name of the port in the operator's pod. */
const operatorPort = "http";
/** Every pod of etcd 3.3 or later has it, with and without TLS: the listener for metrics never asks for a certificate. */
const memberPort = "metrics";

export function podMonitors(): object[] {
  return [
    {
      apiVersion: "monitoring.coreos.com/v1",
      kind: "PodMonitor",
      metadata: { name: "etcd-operator", labels: { name: "etcd-operator" } },
      spec: {
        namespaceSelector: { any: true },
        selector: {
          matchExpressions: [{ key: "name", operator: "In", values: [...programs] }],
        },
        // The operator says itself which namespace a metric is about: its own must not take that place.
        podMetricsEndpoints: [{ port: operatorPort, path: "/metrics", honorLabels: true }],
      },
    },
    {
      apiVersion: "monitoring.coreos.com/v1",
      kind: "PodMonitor",
      metadata: { name: "etcd-members", labels: { name: "etcd-operator" } },
      spec: {
        namespaceSelector: { any: true },
        selector: { matchLabels: { app: "etcd" }, matchExpressions: [{ key: "etcd_cluster", operator: "Exists" }] },
        podTargetLabels: ["etcd_cluster"],
        podMetricsEndpoints: [{ port: memberPort, path: "/metrics" }],
      },
    },
  ];
}

interface Relabeling {
  readonly source_labels: readonly string[];
  readonly regex?: string;
  readonly action?: "keep";
  readonly target_label?: string;
}

const keep = (label: string, regex: string): Relabeling => ({ source_labels: [label], regex, action: "keep" });
const call = (label: string, name: string): Relabeling => ({ source_labels: [label], target_label: name });

const namesOfPods: readonly Relabeling[] = [
  call("__meta_kubernetes_namespace", "namespace"),
  call("__meta_kubernetes_pod_name", "pod"),
];

/** By the API server that Prometheus runs on. Others must give the same labels. */
const inKubernetes = { kubernetes_sd_configs: [{ role: "pod" }] };

function scrapeConfigs(discovery: object = inKubernetes): object[] {
  return [
    {
      job_name: "etcd-operator",
      // The operator says itself which namespace a metric is about: its own must not take that place.
      honor_labels: true,
      ...discovery,
      relabel_configs: [
        keep("__meta_kubernetes_pod_label_name", programs.join("|")),
        keep("__meta_kubernetes_pod_container_port_name", operatorPort),
        ...namesOfPods,
      ],
    },
    {
      job_name: "etcd-members",
      ...discovery,
      relabel_configs: [
        keep("__meta_kubernetes_pod_label_app", "etcd"),
        keep("__meta_kubernetes_pod_label_etcd_cluster", ".+"),
        keep("__meta_kubernetes_pod_container_port_number", String(ports.metrics)),
        ...namesOfPods,
        call("__meta_kubernetes_pod_label_etcd_cluster", "etcd_cluster"),
      ],
    },
  ];
}

export function prometheusConfig(): object {
  return {
    global: { scrape_interval: "30s", evaluation_interval: "30s" },
    rule_files: ["rules.yaml"],
    scrape_configs: scrapeConfigs(),
  };
}
