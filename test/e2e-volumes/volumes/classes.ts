// Volumes that only others can replace: of a class that cannot grow, of another class, of one that does not exist. Members
// are replaced one by one, each new one before the old one leaves.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { provisioner } from "../../../lab/storage/plan.ts";
import { clusterwide, createCluster, type TestCluster } from "../../e2e/support/cluster.ts";
import { restrictedNamespace } from "../../e2e/support/environment.ts";
import { IdentityWatch } from "../../e2e/proofs/identity-watch.ts";
import { lane } from "../../e2e/support/lane.ts";
import { QuorumWatch } from "../../e2e/proofs/quorum-watch.ts";
import { onlyReplaced, sameProcesses } from "../../e2e/proofs/replaced.ts";
import { RollWatch } from "../../e2e/proofs/roll-watch.ts";
import { untilRolled } from "../../e2e/proofs/rolled.ts";
import { conditionOf } from "../../e2e/support/status.ts";
import { apply, kubectl } from "../../support/kubectl.ts";
import { claimNames, claimsOf, eachOnItsClaim, onVolumes, untilClaims, untilEachClaim } from "../support/volumes.ts";
import { matrixTest } from "../../support/matrix.ts";

const fixed = "fixed-size";
const size = 3;
const noVolume =
  /PersistentVolumeClaims\..*Its volume cannot be made: set spec\.pod\.persistentVolumeClaimSpec\.storageClassName/;

export function classes(): void {
  describe("volumes of another class", { concurrency: 1 }, () => {
    before(() => apply(fixedClass));
    after(() => kubectl("delete", "storageclass", fixed, "--ignore-not-found"));
    const on = lane("classes", { size, pod: onVolumes("1Gi", { storageClassName: fixed }) });

    test("where volumes cannot grow and updateStrategy is OnDelete, the status says what to delete, and nothing is replaced", async () => {
      const { cluster, writer } = on();
      const before = await cluster.untilHealthy();
      await cluster.edit({ updateStrategy: "OnDelete", pod: onVolumes("2Gi", { storageClassName: fixed }) });
      const reported = await cluster.until(
        "Ready is UpdateOnDelete",
        (seen) => conditionOf(seen, "Ready")?.reason === "UpdateOnDelete",
      );
      const { message = "" } = conditionOf(reported, "Ready") ?? {};
      for (const { name } of before.members)
        assert.match(
          message,
          new RegExp(`delete these claims one after another.*${name} \\(its volume cannot grow\\)`),
        );
      await writer.progress(100);
      sameProcesses(before, await cluster.untilMembersHealthy());
      await writer.nothingIsLost();
    });

    test("where volumes cannot grow, each member is replaced once by one with a larger volume", async () => {
      const { cluster } = on();
      const before = await cluster.untilMembersHealthy();
      await replacesEach(on(), () => cluster.edit({ updateStrategy: "RollingUpdate" }));
      await cluster.untilEvent("Member Removed", ({ note }) => /its volume cannot grow/.test(note ?? ""));
      await hasVolumes(cluster, "2Gi", fixed);
      await untilClaims(cluster, {
        current: (await cluster.untilHealthy()).members.map(({ name }) => name),
        retired: before.members.map(({ name }) => name),
      });
    });

    test("a class that does not exist is reported, costs no member, and is undone by reverting it", async () => {
      const { cluster, writer } = on();
      const before = await cluster.untilHealthy();
      await using quorum = new QuorumWatch(cluster, { fewest: size });
      await cluster.edit({ pod: onVolumes("2Gi", { storageClassName: "missing" }) });
      await untilReported(cluster, noVolume);
      await writer.progress(50);
      await cluster.edit({ pod: onVolumes("2Gi", { storageClassName: fixed }) });
      sameProcesses(before, await cluster.untilHealthy());
      // The claim of the member that was never made goes beside.
      const names = before.members.map(({ name }) => name);
      await untilEachClaim(cluster, `claims of ${names.join(", ")} only`, (claims) =>
        isDeepStrictEqual(claimNames(claims).current, names),
      );
      await writer.nothingIsLost();
      await quorum.alwaysQuorum();
    });

    matrixTest("for another class each member is replaced once", async () => {
      const { cluster } = on();
      await replacesEach(on(), () => cluster.edit({ pod: onVolumes("2Gi", { storageClassName: "standard" }) }));
      await hasVolumes(cluster, "2Gi", "standard");
    });
  });

  test("a new cluster with a class that does not exist says so, and comes up when it is corrected", async () => {
    const namespace = await restrictedNamespace("no-class");
    const pod = onVolumes("1Gi", { storageClassName: "missing" });
    const cluster = await createCluster({ namespace, name: "no-class" }, { size: 1, pod }, clusterwide);
    await untilReported(cluster, noVolume);
    await cluster.edit({ pod: onVolumes("1Gi", { storageClassName: "standard" }) });
    const { members } = await cluster.untilHealthy();
    await eachOnItsClaim(cluster);
    await untilClaims(cluster, { current: members.map(({ name }) => name), retired: [] });
  });
}

const fixedClass = {
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name: fixed },
  provisioner,
  volumeBindingMode: "WaitForFirstConsumer",
  reclaimPolicy: "Delete",
  allowVolumeExpansion: false,
};

async function replacesEach(
  { cluster, writer }: ReturnType<ReturnType<typeof lane>>,
  edit: () => Promise<void>,
): Promise<void> {
  const before = await cluster.untilMembersHealthy();
  await using quorum = new QuorumWatch(cluster, { fewest: size });
  await using identity = new IdentityWatch(cluster, before.clusterId);
  await using roll = new RollWatch(cluster);
  await edit();
  const after = await identity.during(untilRolled(cluster));
  onlyReplaced(before, after, ...before.members.map(({ name }) => name));
  await writer.nothingIsLost();
  await roll.replacedEachOnce(before);
  await quorum.alwaysQuorum();
  await identity.neverViolated();
}

/** Whether the members have such volumes. */
async function hasVolumes(cluster: TestCluster, storage: string, className: string): Promise<void> {
  const { members } = await cluster.untilHealthy();
  await eachOnItsClaim(cluster);
  const claims = await claimsOf(cluster);
  for (const { name } of members) {
    const claim = claims.find(({ metadata }) => metadata?.name === name);
    assert.equal(claim?.spec?.storageClassName, className);
    assert.equal(claim.spec.resources?.requests?.["storage"], storage);
    assert.equal(claim.status?.phase, "Bound");
  }
}

async function untilReported(cluster: TestCluster, words: RegExp): Promise<void> {
  await cluster.until(`Ready says ${words}`, (seen) => {
    const ready = conditionOf(seen, "Ready");
    return ready?.status === "False" && words.test(ready.message ?? "");
  });
}
