// What counts as a volume that is kept, and when all of the data is in them.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { claimLabel, clusterIdAnnotation, clusterUidAnnotation } from "../../cluster/objects/claims.ts";
import { dataVolume } from "../../cluster/objects/member-pod.ts";
import type { PersistentVolumeClaim, Pod } from "../../kube/objects/kinds.ts";
import { ownerReference } from "../../kube/objects/owners.ts";
import { aCluster, clusterUid, namespace } from "../testing/samples.ts";
import { observedVolumes } from "./volumes.ts";

const voters = ["demo-a", "demo-b"];
const cluster = aCluster({}, { voters, members: { ready: voters, unready: [] } });

function claim(name: string, metadata: object = {}, phase: "Bound" | "Pending" = "Bound"): PersistentVolumeClaim {
  const annotations = { [clusterUidAnnotation]: clusterUid, [clusterIdAnnotation]: "old" };
  return {
    metadata: { namespace, name, labels: { [claimLabel]: "current" }, annotations, ...metadata },
    status: { phase },
  };
}

function pod(name: string, claimName: string | undefined, owner: EtcdCluster = cluster): Pod {
  const volume = claimName === undefined ? { emptyDir: {} } : { persistentVolumeClaim: { claimName } };
  const metadata = { name, ownerReferences: [ownerReference(EtcdCluster, owner)] };
  return { metadata, spec: { containers: [], volumes: [{ name: dataVolume, ...volume }] } };
}

const both = voters.map((name) => claim(name));
const foreign = { ...cluster, metadata: { ...cluster.metadata, uid: "another" } };

describe("the volumes of a cluster", () => {
  const table: [string, PersistentVolumeClaim[], Pod[], kept: string[], holdAll: boolean][] = [
    ["hold all of it when each voter has its own", both, [pod("demo-a", "demo-a")], voters, true],
    ["do not when one is missing", [claim("demo-b")], [], ["demo-b"], false],
    ["do not when there are none", [], [], [], false],
    ["do not when a pod uses none", both, [pod("demo-a", undefined)], voters, false],
    ["do not when a pod uses another", both, [pod("demo-a", "demo-b")], voters, false],
    ["do, whatever a pod of another cluster uses", both, [pod("demo-a", undefined, foreign)], voters, true],
    [
      "are not those of another cluster",
      [claim("demo-a", { annotations: { [clusterUidAnnotation]: "x" } })],
      [],
      [],
      false,
    ],
    [
      "are not those that have yet to be made",
      [claim("demo-a", {}, "Pending"), claim("demo-b")],
      [],
      ["demo-b"],
      false,
    ],
    ["are not those that go", [claim("demo-a", { deletionTimestamp: "now" }), claim("demo-b")], [], ["demo-b"], false],
    [
      "do not when one holds the data of another etcd",
      [
        claim("demo-a", { annotations: { [clusterUidAnnotation]: clusterUid, [clusterIdAnnotation]: "x" } }),
        claim("demo-b"),
      ],
      [],
      voters,
      false,
    ],
  ];
  for (const [what, claims, pods, kept, holdAll] of table)
    test(what, () => assert.deepEqual(observedVolumes(cluster, claims, pods), { kept, holdAll }));

  test("are compared with all members where nobody has written down who votes", () => {
    const older = aCluster({}, { voters: [], members: { ready: ["demo-a"], unready: ["demo-b"] } });
    assert.equal(observedVolumes(older, both, []).holdAll, true);
    assert.equal(observedVolumes(older, [claim("demo-a")], []).holdAll, false);
  });
});
