// docs/observability.md works: with the real CRDs of the Prometheus operator, its commands are typed, and the API server
// takes the PodMonitors and rules of the manifests and of the chart.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { alerts } from "../../observability/alerts/alerts.ts";
import { ensureMonitoringCrds } from "../../lab/build/prometheus.ts";
import { run } from "../../lab/machine/command.ts";
import { waitFor } from "../../lab/progress.ts";
import { chart, helms } from "../install/helm.ts";
import { pageScript, typeScript } from "../support/docs.ts";
import { kubectl, kubectlJson } from "../support/kubectl.ts";

const document = "docs/observability.md";
/** That of the page. */
const namespace = "monitoring";
let crds: string;

before(async () => {
  crds = await ensureMonitoringCrds();
  // Created, not applied: their descriptions do not fit into an annotation.
  await kubectl("create", "--filename", crds);
  await kubectl("wait", "--for=condition=Established", "--timeout=180s", "--filename", crds);
  await kubectl("create", "namespace", namespace);
  // kubectl learns of new kinds by discovery, which may lag behind.
  const known = (): Promise<string> => kubectl("get", "podmonitors,prometheusrules", `--namespace=${namespace}`);
  await waitFor("kubectl to know the new kinds", known, { timeoutMs: 120_000 });
});

// Other tests have no Prometheus operator.
after(async () => {
  await kubectl("delete", "--filename", crds, "--ignore-not-found");
  await kubectl("delete", "namespace", namespace, "--ignore-not-found", "--wait=false");
});

interface Rules {
  readonly spec: { readonly groups: readonly { readonly rules: readonly { readonly annotations: Annotations }[] }[] };
}
type Annotations = Readonly<Record<string, string>>;

test(`every marked command of ${document} works when typed from top to bottom`, { timeout: 300_000 }, async () => {
  await typeScript(await pageScript(document));
  const { spec } = await kubectlJson<Rules>("get", "prometheusrule", "etcd-operator", `--namespace=${namespace}`);
  const pages = spec.groups.flatMap(({ rules }) => rules).map(({ annotations }) => annotations["runbook_url"] ?? "");
  assert.equal(pages.length, alerts.length);
  for (const page of pages) assert.match(page, /^https:\/\/git\.example\.com\/.*\/docs\/runbooks\/\w+\.md$/);
});

test("a field that the CRDs do not know is refused", async () => {
  const monitor = { apiVersion: "monitoring.coreos.com/v1", kind: "PodMonitor", metadata: { name: "misspelled" } };
  const input = JSON.stringify({ ...monitor, spec: { selector: {}, podMetricEndpoints: [] } });
  await assert.rejects(run("kubectl", ["create", "--dry-run=server", "--filename=-"], { input }), /podMetricEndpoints/);
});

/** With every value that PodMonitors and rules are made from. */
const values = {
  podMonitor: {
    enabled: true,
    interval: "30s",
    labels: { release: "stack" },
    relabelings: [{ sourceLabels: ["__meta_kubernetes_pod_node_name"], targetLabel: "node" }],
    metricRelabelings: [{ sourceLabels: ["__name__"], regex: "nodejs_.*", action: "drop" }],
  },
  prometheusRule: { enabled: true, labels: { release: "stack" } },
  grafanaDashboard: { enabled: true },
};

for (const helm of helms)
  test(`the chart gives PodMonitors and rules that are taken, by ${helm.title}`, async () => {
    const set = Object.entries(values).map(([name, value]) => `--set-json=${name}=${JSON.stringify(value)}`);
    const only = "--show-only=templates/monitoring.yaml";
    const input = await helm.run("template", "etcd-operator", chart, `--namespace=${namespace}`, only, ...set);
    const args = ["apply", "--dry-run=server", "--validate=strict", "--filename=-", "--output=name"];
    const taken = (await run("kubectl", args, { input })).trim().split("\n");
    const counted = Object.entries(Object.groupBy(taken, (name) => name.split("/", 1)[0] ?? ""));
    assert.deepEqual(Object.fromEntries(counted.map(([kind, names = []]) => [kind, names.length])), {
      "podmonitor.monitoring.coreos.com": 2,
      "prometheusrule.monitoring.coreos.com": 1,
      configmap: 2,
    });
  });
