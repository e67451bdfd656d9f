// A real Prometheus scrapes the operator and its clusters: every query of the dashboards shows something, and alerts fire while
// members are stopped and clear when they go on.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { pauseContainer } from "../../lab/faults/containers.ts";
import { resumeContainer } from "../../lab/faults/undo.ts";
import { waitFor } from "../../lab/progress.ts";
import { cluster as clusterDashboard } from "../../observability/dashboards/cluster.ts";
import { fleet } from "../../observability/dashboards/fleet.ts";
import { type Query, queriesOf } from "../../observability/dashboards/panel.ts";
import { EtcdBackup } from "../../src/api/etcd-backup/etcd-backup.ts";
import { apply } from "../support/kubectl.ts";
import { clusterwide, createCluster, type TestCluster } from "./support/cluster.ts";
import { kube, lab, patience, restrictedNamespace } from "./support/environment.ts";
import { followers } from "./support/healthy.ts";
import { installOperator, type Operator } from "./support/operator.ts";
import { Prometheus } from "./support/prometheus.ts";

describe("a Prometheus with our rules", { concurrency: 1 }, () => {
  let operator: Operator;
  let namespace: string;
  let plain: TestCluster;
  let sealed: TestCluster;
  let prometheus: Prometheus | undefined;

  const server = (): Prometheus => {
    assert.ok(prometheus);
    return prometheus;
  };

  before(async () => {
    operator = await installOperator("clusterwide");
    namespace = await restrictedNamespace("scraped");
    plain = await createCluster({ namespace, name: "plain" }, { size: 3 }, clusterwide);
    sealed = await createCluster({ namespace, name: "sealed" }, { size: 1, TLS: { auto: true } }, clusterwide);
    await Promise.all([plain.untilHealthy(), sealed.untilPodsReady(), backUp(namespace)]);
    prometheus = await Prometheus.start(["EtcdMemberDown", "EtcdQuorumAtRisk", "EtcdQuorumLost", "EtcdNoLeader"]);
    await prometheus.discover([...(await operator.pods()), ...(await plain.pods()), ...(await sealed.pods())]);
  });
  after(() => prometheus?.[Symbol.asyncDispose]());

  test("scrapes the operator and every member, with TLS and without", async () => {
    let seen = "";
    await waitFor(
      "all targets to be up",
      async () => {
        const up = await server().query("up == 1");
        seen = up.map(({ metric }) => `${metric["job"]} ${metric["etcd_cluster"] ?? ""}`).join(", ");
        const of = (name: string): number => up.filter(({ metric }) => metric["etcd_cluster"] === name).length;
        return (of("plain") === 3 && of("sealed") === 1 && up.length === 5) || undefined;
      },
      { timeoutMs: patience, lastSeen: () => seen },
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
        { timeoutMs: 60_000, everyMs: 500, lastSeen: () => empty.map(({ expr }) => expr).join("\n") },
      );
    });

  test("is silent while all is well", async () => {
    assert.deepEqual(await server().firing(namespace), []);
  });

  test("is silent while members are changed one after another", async () => {
    await plain.edit({ version: "3.7.3" });
    await plain.until("all members to run it", ({ status }) => status?.currentVersion === "3.7.3");
    await plain.untilHealthy();
    const ofPlain = `namespace="${namespace}",etcd_cluster="plain"`;
    const rolled = await server().query(`max_over_time(etcd_operator_cluster_rolling{${ofPlain}}[1h]) == 1`);
    assert.equal(rolled.length, 1, "the change was not seen");
    const patient = 'alertname=~"EtcdMemberDown|EtcdQuorum.*",alertstate="firing"';
    const fired = await server().query(`max_over_time(ALERTS{${ofPlain},${patient}}[1h])`);
    assert.deepEqual(
      fired.map(({ metric }) => metric["alertname"]),
      [],
    );
  });

  test("fires when a member stops, when the quorum is lost, and is silent again when they go on", async () => {
    const [first, second] = followers(await plain.untilHealthy()).map(({ name }) => `${namespace}/${name}`);
    assert.ok(first !== undefined && second !== undefined);
    await pauseContainer(lab, first);
    await untilFiring(["EtcdMemberDown", "EtcdQuorumAtRisk"]);
    await pauseContainer(lab, second);
    await untilFiring(["EtcdMemberDown", "EtcdNoLeader", "EtcdQuorumLost"]);
    await Promise.all([first, second].map((pod) => resumeContainer(lab, pod)));
    await untilFiring([]);
  });

  async function untilFiring(expected: readonly string[]): Promise<void> {
    let seen = "";
    await waitFor(
      `these alerts and no others to fire: ${expected.join(", ")}`,
      async () => {
        const firing = await server().firing(namespace);
        seen = firing.join(", ");
        return seen === expected.join(", ") || undefined;
      },
      { timeoutMs: patience, everyMs: 250, lastSeen: () => seen },
    );
  }

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
    metadata: { ...key, annotations: clusterwide.annotations ?? {} },
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
    { timeoutMs: patience, everyMs: 500, lastSeen: () => seen },
  );
}
