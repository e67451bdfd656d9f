// spec.version edited to a version that the cluster cannot go to: a lost member is replaced in the version that the others
// run, and the status says what is wrong with the version.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deletePods } from "../support/disruptions.ts";
import { type Lane, lane } from "../support/lane.ts";
import { conditionOf } from "../support/status.ts";
import { onlyReplaced } from "../proofs/replaced.ts";
import { followers, type HealthyCluster } from "../support/healthy.ts";
import { patiently } from "../support/environment.ts";
import { isMatrix } from "../../support/matrix.ts";

const runs = "3.5.35";

const edits: readonly { readonly version: string; readonly what: string; readonly says: RegExp }[] = [
  { version: "3.7.3", what: "two minor versions up", says: /one minor version at a time.*3\.6/ },
  { version: "3.4.23", what: "a minor version down that etcd cannot go back to", says: /cannot go back/ },
];

/** test/e2e-rolls refuses versions, and src/cluster/plan/plan-desired.test.ts replaces members meanwhile. */
export function versions(): void {
  if (!isMatrix) return;
  describe("versions", { concurrency: 1 }, () => {
    const on = lane("versions", { size: 3, version: runs });

    for (const { version, what, says } of edits)
      test(`a member that is lost after the version was edited ${what} is replaced in the version that the others run`, async () => {
        const { cluster, writer } = on();
        const before = await cluster.untilHealthy();
        await cluster.edit({ version });
        try {
          await isReplacedInSameVersion(on(), before, version, says);
        } finally {
          await cluster.edit({ version: runs });
        }
        await cluster.untilHealthy();
        await writer.nothingIsLost();
      });
  });
}

async function isReplacedInSameVersion(
  { cluster }: Lane,
  before: HealthyCluster,
  version: string,
  says: RegExp,
): Promise<void> {
  await cluster.untilObserved();
  const [victim] = followers(before);
  assert.ok(victim);
  await deletePods(cluster, victim.name);
  const after = await cluster.untilMembersHealthy({ without: [victim.name] });
  onlyReplaced(before, after, victim.name);
  for (const { etcd, name } of after.members) assert.equal((await etcd.status(patiently)).version, runs, name);
  for (const { spec } of await cluster.pods()) assert.match(spec?.containers[0]?.image ?? "", /:v3\.5\.35$/);
  // The operator may see the new member a moment later than this test.
  const reported = await cluster.until("Ready is VersionDiffers, of three members", (seen) => {
    return conditionOf(seen, "Ready")?.reason === "VersionDiffers" && seen.status?.versions?.[runs] === 3;
  });
  const ready = conditionOf(reported, "Ready");
  assert.equal(ready?.status, "False");
  for (const words of [version, runs]) assert.ok(ready.message?.includes(words), ready.message);
  assert.match(ready.message ?? "", says);
  assert.deepEqual(reported.status?.versions, { [runs]: 3 });
}
