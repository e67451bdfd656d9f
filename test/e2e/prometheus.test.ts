// A real Prometheus finds the operator and its clusters and scrapes them: every query of the dashboards shows something, and
// alerts fire while members are stopped and clear when they go on, and what their runbooks say can be typed. `make matrix` shows
// every alert under its fault.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, before, describe, test } from "node:test";
import { bundlePlugin } from "../../lab/images/bundle.ts";
import { waitFor } from "../../lab/progress.ts";
import { cluster as clusterDashboard } from "../../observability/dashboards/cluster.ts";
import { fleet } from "../../observability/dashboards/fleet.ts";
import type { Query } from "../../observability/dashboards/panel.ts";
import { queriesOf } from "../../observability/testing/queries.ts";
import { EtcdBackup } from "../../src/api/etcd-backup/etcd-backup.ts";
import { apply } from "../support/kubectl.ts";
import { everyAlert } from "./alerts/every-alert.ts";
import { realFaults } from "./alerts/faults.ts";
import { Proof } from "./alerts/proof.ts";
import { RunbookTypist } from "./alerts/runbooks.ts";
import { atOnce, rulesWith, shipped } from "./alerts/shortened.ts";
import { createCluster, type TestCluster } from "./support/cluster.ts";
import { kube, patience, restrictedNamespace } from "./support/environment.ts";
import { followers, type HealthyMember } from "./support/healthy.ts";
import { installOperator, type Operator } from "./support/operator.ts";
import { whilePaused } from "./support/paused.ts";
import { Prometheus, type Sample } from "./support/prometheus.ts";
import { isMatrix } from "../support/matrix.ts";

/** How most people have their Prometheus find pods by annotations: docs/observability.md names those. */
const byAnnotations = {
  job_name: "annotated-pods",
  kubernetes_sd_configs: [{ role: "pod" }],
  relabel_configs: [
    { source_labels: ["__meta_kubernetes_pod_annotation_prometheus_io_scrape"], regex: "true", action: "keep" },
    {
      source_labels: ["__address__", "__meta_kubernetes_pod_annotation_prometheus_io_port"],
      regex: String.raw`([^:]+)(?::\d+)?;(\d+)`,
      replacement: "$1:$2",
      target_label: "__address__",
    },
    { regex: "__meta_kubernetes_pod_label_(.+)", action: "labelmap" },
    { source_labels: ["__meta_kubernetes_namespace"], target_label: "namespace" },
    { source_labels: ["__meta_kubernetes_pod_name"], target_label: "pod" },
  ],
};

describe("a Prometheus with our rules", { concurrency: 1 }, () => {
  let operator: Operator;
  let namespace: string;
  let plain: TestCluster;
  let sealed: TestCluster;
  let prometheus: Prometheus | undefined;

  const server = (): Prometheus => prometheus ?? assert.fail("no Prometheus runs");
  const proof = new Proof(server);
  const plugin = mkdtempSync(path.join(tmpdir(), "kubectl-etcd-"));
  const typist = new RunbookTypist(() => ({ operator, namespace, plain, sealed, plugin }));

  before(async () => {
    namespace = await restrictedNamespace("scraped");
    // In a namespace of its own, so that the labels of its metrics are not those of its pod.
    operator = await installOperator({ namespace });
    const volume = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
    plain = await createCluster({ namespace, name: "plain" }, { size: 3, pod: { persistentVolumeClaimSpec: volume } });
    const annotations = { "prometheus.io/scrape": "true", "prometheus.io/port": "2381" };
    const pod = { annotations };
    await bundlePlugin(path.join(plugin, "kubectl-etcd"));
    sealed = await createCluster({ namespace, name: "sealed" }, { size: 1, TLS: { auto: true }, pod });
    prometheus = await Prometheus.start({
      namespaces: [operator.namespace, namespace],
      // All others are as patient as they are shipped.
      rules: rulesWith((alert) => (realFaults[alert.name]?.inSample ? atOnce(alert) : alert)),
      scrapeConfigs: [byAnnotations],
    });
    await Promise.all([plain.untilHealthy(), sealed.untilPodsReady(), backUp(namespace)]);
  });
  after(async () => {
    rmSync(plugin, { recursive: true, force: true });
    await prometheus?.[Symbol.asyncDispose]();
  });

  test("finds and scrapes the operator and every member, with TLS and without, and those with annotations", async () => {
    const all = [
      "annotated-pods sealed",
      "etcd-members plain",
      "etcd-members plain",
      "etcd-members plain",
      "etcd-members sealed",
      "etcd-operator",
    ];
    let seen = "";
    await waitFor(
      "all targets to be up, and no others to be found",
      async () => {
        const found = await server().query("up");
        const textOf = ({ metric: { job = "", etcd_cluster = "" }, value: [, isUp] }: Sample): string =>
          `${job} ${etcd_cluster}`.trim() + (isUp === "1" ? "" : " is down");
        seen = found.map(textOf).sort().join(", ");
        return seen === all.join(", ") || undefined;
      },
      { timeoutMs: patience, lastSeen: () => `${seen}\n${server().lastWords}` },
    );
  });

  for (const dashboard of [fleet, clusterDashboard])
    test(`every query of the dashboard "${dashboard.title}" shows something`, async () => {
      const shown = async (query: Query): Promise<boolean> => (await server().query(filledIn(query))).length > 0;
      let empty: readonly Query[] = queriesOf(dashboard);
      await waitFor(
        "all queries to show something",
        async () => {
          const results = await Promise.all(empty.map(shown));
          empty = empty.filter((_, at) => results[at] !== true);
          return empty.length === 0 || undefined;
        },
        { timeoutMs: patience, everyMs: 500, lastSeen: () => empty.map(({ expr }) => expr).join("\n") },
      );
    });

  test("is silent while all is well", () => proof.exactly({ namespace }));

  // Rules without patience see every member that a busy machine makes slow: those count that are as they are shipped.
  for (const version of isMatrix ? ["3.7.3"] : [])
    test("is silent while members are changed one after another", async () => {
      await plain.edit({ version });
      await plain.until("all members to run it", ({ status }) => status?.currentVersion === version);
      await plain.untilHealthy();
      const ofPlain = `namespace="${namespace}",etcd_cluster="plain"`;
      const rolled = await server().query(`max_over_time(etcd_operator_cluster_rolling{${ofPlain}}[1h]) == 1`);
      assert.equal(rolled.length, 1, "the change was not seen");
      const patient = `patience="${shipped.patience}",alertstate="firing"`;
      const fired = await server().query(`max_over_time(ALERTS{${ofPlain},${patient}}[1h])`);
      assert.deepEqual(
        fired.map(({ metric }) => metric["alertname"]),
        [],
      );
    });

  test("fires when a member stops, when the quorum is lost, and is silent again when they go on", async () => {
    const podsOf = (members: readonly HealthyMember[]): string[] => members.map(({ name }) => `${namespace}/${name}`);
    const [one = assert.fail("no follower")] = podsOf(followers(await plain.untilHealthy()));
    await whilePaused([one], () => proof.exactly({ namespace }, "EtcdMemberDown", "EtcdQuorumAtRisk"));
    // It goes on in between: a kubelet restarts what is silent for a minute, and then the quorum would be back too early.
    await proof.exactly({ namespace });
    const before = await plain.untilHealthy();
    const both = podsOf(followers(before));
    assert.equal(both.length, 2);
    await whilePaused(both, async () => {
      await proof.exactly({ namespace }, "EtcdMemberDown", "EtcdNoLeader", "EtcdQuorumLost");
      await typist.withoutQuorum(before.leader.name);
    });
    await proof.exactly({ namespace });
  });

  test("has runbooks whose every command works when it is typed", () => typist.everything());

  if (isMatrix)
    everyAlert(
      () => ({ operator, namespace, plain, sealed }),
      () => proof.shown,
    );

  /** With what a person would choose at the top of the dashboard. */
  const filledIn = ({ expr, needs }: Query): string =>
    expr
      .replaceAll("$namespace", namespace)
      .replaceAll("$cluster", needs === "certificates" ? sealed.name : plain.name);
});

/** One that is verified, too. */
async function backUp(namespace: string): Promise<void> {
  await apply({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { namespace, name: "backups" },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  });
  const key = { namespace, name: "once" };
  await kube.create(EtcdBackup, {
    metadata: key,
    spec: {
      clusterRef: { name: "plain" },
      storageType: "PVC",
      pvc: { claimName: "backups", path: "once" },
      verify: { restore: true },
    },
  });
  let seen = "";
  await waitFor(
    "a backup that is verified",
    async () => {
      const { status } = await kube.get(EtcdBackup, key);
      seen = JSON.stringify(status);
      return status?.lastVerified !== undefined || undefined;
    },
    // First the cluster has to serve, then the backup is taken, then it is restored.
    { timeoutMs: 2 * patience, everyMs: 500, lastSeen: () => seen },
  );
}
