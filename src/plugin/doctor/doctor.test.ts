import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { Observed } from "../observe/observe.ts";
import { plain } from "../screen/colour.ts";
import { scenes } from "../view/testing/scenes.ts";
import { diagnosisOf, diagnosisText, isSerious, withNamespace } from "./doctor.ts";

const scene = (name: string): Observed => scenes[name]!;
const changed = (spec: Partial<EtcdCluster["spec"]>, status: Partial<EtcdCluster["status"]> = {}): Observed => {
  const { cluster, ...rest } = scene("healthy");
  return {
    ...rest,
    cluster: { ...cluster, spec: { ...cluster.spec, ...spec }, status: { ...cluster.status, ...status } },
  };
};
const said = (observed: Observed): string[] =>
  diagnosisOf(observed).findings.map(({ severity, what, command }) => `${severity}: ${what} ${command}`);

describe("an operator that is not there", () => {
  const annotated = (
    name: string,
    operator: Observed["operator"],
    status = scene(name).cluster.status ?? {},
  ): Observed => {
    const { cluster } = scene(name);
    const annotations = { "etcd.database.coreos.com/scope": "clusterwide" };
    return {
      ...scene(name),
      operator,
      cluster: { ...cluster, metadata: { ...cluster.metadata, annotations }, status },
    };
  };
  const said = (observed: Observed): string => diagnosisText(diagnosisOf(observed), { columns: 500, paint: plain });

  test("is serious, also where all members are healthy", () => {
    const none = annotated("healthy", { t: "found", value: { t: "none" } });
    assert.ok(isSerious(diagnosisOf(none)));
    assert.match(
      said(none),
      /No operator heals, scales or backs up this cluster\. No operator for all namespaces is running/,
    );
    const lease = { t: "silent", namespace: "ops", lease: "etcd-operator-clusterwide" } as const;
    assert.match(
      said(annotated("healthy", { t: "found", value: lease })),
      /in the namespace ops does not renew its Lease/,
    );
  });

  test("is not guessed where it cannot be seen", () => {
    assert.ok(!isSerious(diagnosisOf(annotated("healthy", { t: "missing", why: "you cannot list leases" }))));
  });

  test("is said of a cluster that no operator has reconciled, with what to expect", () => {
    const fresh = { ...scene("healthy"), cluster: { ...scene("healthy").cluster, status: {} } };
    assert.match(said(fresh), /an operator of its namespace does so at once, one for all namespaces within about 10 s/);
    assert.match(
      said(annotated("healthy", { t: "found", value: { t: "none" } }, {})),
      /reconciled this cluster yet\. No operator/,
    );
    const annotations = { "etcd.database.coreos.com/scope": "mine" };
    const nobodys = { ...fresh, cluster: { ...fresh.cluster, metadata: { ...fresh.cluster.metadata, annotations } } };
    assert.match(said(nobodys), /and none will: its annotation .* is mine, and no operator has that scope/);
  });
});

describe("the doctor", () => {
  test("finds nothing in a cluster that is well", () => {
    const diagnosis = diagnosisOf(scene("healthy"));
    assert.deepEqual(diagnosis.findings, []);
    assert.match(diagnosisText(diagnosis, { columns: 80, paint: plain }), /Nothing is wrong\./);
  });

  const rows: readonly (readonly [string, Observed, "serious" | "harmless", RegExp])[] = [
    [
      "a lost quorum",
      scene("quorum-lost"),
      "serious",
      /^serious: QuorumLost: .* kubectl describe pods -l etcd_cluster=my-etcd/m,
    ],
    [
      "no backup",
      scene("quorum-lost"),
      "serious",
      /^warning: This cluster has no backup.*kubectl etcd backup my-etcd --to=s3/m,
    ],
    ["a member that restarts again and again", scene("quorum-lost"), "serious", /has restarted 14 times.*--previous/],
    ["a change that goes on", scene("upgrading"), "harmless", /^note: Updating: .* kubectl etcd watch my-etcd/m],
    [
      "certificates of the operator that were not renewed",
      scene("tls"),
      "serious",
      /operator certificate expires in 3 days\. The operator should have/,
    ],
    [
      "a pause",
      changed({ paused: true }),
      "harmless",
      /^warning: The cluster is paused.* kubectl etcd resume my-etcd/m,
    ],
    [
      "an edit that nobody acted on",
      changed({}, { observedGeneration: 1 }),
      "harmless",
      /has not acted on the last edit/,
    ],
    ["an even size", changed({ size: 4 }), "harmless", /4 members tolerate no more losses than 3.*--replicas=5/],
    ["one member", changed({ size: 1 }), "harmless", /The cluster has one member: .*--replicas=3/],
    [
      "a full database",
      changed({}, { conditions: [condition("NoSpace", "The database is full.")] }),
      "serious",
      /^serious: NoSpace: .* kubectl etcd defrag my-etcd && kubectl etcd ctl my-etcd alarm disarm/m,
    ],
    [
      "members that wait to be deleted, as somebody asked",
      changed({}, { conditions: [condition("UpdateOnDelete", "Delete these pods.")] }),
      "harmless",
      /^warning: UpdateOnDelete: .* kubectl get pods -l etcd_cluster=my-etcd/m,
    ],
    [
      "volumes that go with their pods",
      changed({}, { conditions: [condition("VolumesDoomed", "Leave the pods alone.")] }),
      "harmless",
      /^warning: VolumesDoomed: .* kubectl etcd watch my-etcd/m,
    ],
    [
      "members that certificates keep apart",
      changed({}, { conditions: [condition("MembersApart", "They are started again.")] }),
      "serious",
      /^serious: MembersApart: .* kubectl etcd watch my-etcd/m,
    ],
    [
      "a reason of a newer operator, which has lasted for an hour",
      changed({}, { conditions: [condition("OfTomorrow", "It waits.")] }),
      "harmless",
      /^warning: For 60m, OfTomorrow: It waits\. kubectl etcd watch my-etcd/m,
    ],
  ];
  for (const [what, observed, bad, says] of rows)
    test(`finds ${what}, and names the command`, () => {
      assert.match(said(observed).join("\n"), says);
      assert.equal(isSerious(diagnosisOf(observed)), bad === "serious");
    });

  test("goes by the share of a certificate's life that is left", () => {
    const { now } = scene("healthy");
    const at = (hours: number): string => new Date(now + hours * 3_600_000).toISOString();
    const ofOneDay = (left: number): Observed =>
      changed({}, { certificates: [{ use: "peer", notBefore: at(left - 24), notAfter: at(left) }] });
    assert.deepEqual(said(ofOneDay(8)), []);
    assert.match(said(ofOneDay(5)).join("\n"), /^warning: The peer certificate expires at /);
    assert.match(said(ofOneDay(1)).join("\n"), /^serious: The peer certificate expires at /);
  });

  test("finds members that one node would take along", () => {
    const { pods, ...rest } = scene("healthy");
    const value = (pods.t === "found" ? pods.value : []).map((pod, at) => ({
      ...pod,
      spec: { containers: [], ...pod.spec, nodeName: at < 2 ? "node-0" : "node-2" },
    }));
    assert.match(
      said({ ...rest, pods: { t: "found", value } }).join(),
      /Without the node node-0 the cluster would lose its quorum/,
    );
  });

  test("finds a member that is silent, and a backup that failed or is old", () => {
    const healthy = scene("healthy");
    const [first = ""] = healthy.figures.keys();
    const figures = new Map(healthy.figures).set(first, { t: "silent", why: "no answer" });
    assert.match(said({ ...healthy, figures }).join(), /serious: \S+ does not answer, but others do/);
    const [backup] = healthy.backups.t === "found" ? healthy.backups.value : [];
    const failing = { ...backup!, status: { ...backup!.status, failures: 2 } };
    assert.match(said({ ...healthy, backups: { t: "found", value: [failing] } }).join(), /fails, 2 times in a row/);
    const now = healthy.now + 3 * 86_400_000;
    assert.match(said({ ...healthy, now }).join(), /The newest backup is 3d9h old/);
  });

  test("writes the namespace into commands for another one, behind the name of the plugin", () => {
    const { findings } = withNamespace({ ...diagnosisOf(scene("quorum-lost")), namespace: "prod" });
    const commands = findings.map(({ command }) => command);
    assert.ok(commands.includes("kubectl -n prod describe pods -l etcd_cluster=my-etcd"));
    assert.ok(commands.some((command) => command.startsWith("kubectl etcd -n prod backup my-etcd")));
  });
});

function condition(reason: string, message: string) {
  return { type: "Ready", status: "False" as const, reason, message, lastTransitionTime: "2026-11-17T11:00:00Z" };
}
