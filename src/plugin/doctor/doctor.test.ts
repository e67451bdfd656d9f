import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { plain } from "../screen/colour.ts";
import { scenes } from "../view/testing/scenes.ts";
import { diagnosisOf, diagnosisText, isSerious, withNamespace } from "./doctor.ts";

const scene = (name: string): Snapshot => scenes[name]!;
const changed = (spec: Partial<EtcdCluster["spec"]>, status: Partial<EtcdCluster["status"]> = {}): Snapshot => {
  const { cluster, ...rest } = scene("healthy");
  return {
    ...rest,
    cluster: { ...cluster, spec: { ...cluster.spec, ...spec }, status: { ...cluster.status, ...status } },
  };
};
const said = (snapshot: Snapshot): string[] =>
  diagnosisOf(snapshot).findings.map(({ severity, what, command }) => `${severity}: ${what} ${command}`);

describe("the doctor", () => {
  test("finds nothing in a cluster that is well", () => {
    const diagnosis = diagnosisOf(scene("healthy"));
    assert.deepEqual(diagnosis.findings, []);
    assert.match(diagnosisText(diagnosis, { columns: 80, paint: plain }), /Nothing is wrong\./);
  });

  const rows: readonly (readonly [string, Snapshot, "serious" | "harmless", RegExp])[] = [
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
      /^warning: There is no backup .*kubectl etcd backup my-etcd --to=s3/m,
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
    ["an even size", changed({ size: 4 }), "harmless", /4 members survive no more losses than 3.*--replicas=5/],
    ["one member", changed({ size: 1 }), "harmless", /One member: .*--replicas=3/],
    [
      "a full database",
      changed({}, { conditions: [condition("NoSpace", "The database is full.")] }),
      "serious",
      /^serious: NoSpace: .* kubectl etcd defrag my-etcd && kubectl etcd ctl my-etcd alarm disarm/m,
    ],
  ];
  for (const [what, snapshot, bad, says] of rows)
    test(`finds ${what}, and names the command`, () => {
      assert.match(said(snapshot).join("\n"), says);
      assert.equal(isSerious(diagnosisOf(snapshot)), bad === "serious");
    });

  test("finds members that one node would take along", () => {
    const { pods, ...rest } = scene("healthy");
    const value = (pods.t === "found" ? pods.value : []).map((pod, at) => ({
      ...pod,
      spec: { containers: [], ...pod.spec, nodeName: at < 2 ? "node-0" : "node-2" },
    }));
    assert.match(
      said({ ...rest, pods: { t: "found", value } }).join(),
      /Without the node node-0 the quorum would be lost/,
    );
  });

  test("finds a member that is silent, and a backup that failed or is old", () => {
    const healthy = scene("healthy");
    const [first = ""] = healthy.figures.keys();
    const figures = new Map(healthy.figures).set(first, { t: "silent", why: "no answer" });
    assert.match(said({ ...healthy, figures }).join(), /serious: \S+ does not answer, and others do/);
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
