// EtcdClusters that the API server refuses: kubectl apply prints what is wrong, nothing is stored, and the corrected object is
// accepted.
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { test } from "node:test";
import { CommandError, run } from "../../../lab/machine/command.ts";
import { EtcdCluster } from "../../../src/api/etcd-cluster/etcd-cluster.ts";
import { type BadCluster, badClusters } from "../../../src/api/etcd-cluster/testing/bad-clusters.ts";
import { rowsOf } from "../../support/matrix.ts";
import { kube, restrictedNamespace } from "../support/environment.ts";
import { applyCluster, healed, manifest, sharedNamespace } from "./bad-case.ts";
import { correctedSpec } from "./corrected.ts";

const messageOf = ({ problems, server = { says: problems[0] } }: BadCluster): string | undefined => server.says;
const isNameWrong = ({ name }: BadCluster): boolean => name !== undefined;

/** One of each kind is corrected and created; of those whose correction edits the spec, one in the sample. */
const representatives = rowsOf([
  { what: "a name with a dot" },
  { what: "size 0" },
  { what: "latest", onlyInMatrix: true },
  { what: "a repository with a tag", onlyInMatrix: true },
  { what: "the label app", onlyInMatrix: true },
  { what: "tolerations that are not a list", onlyInMatrix: true },
  { what: "a flag that loses data", onlyInMatrix: true },
  { what: "an unknown mode of compaction", onlyInMatrix: true },
  { what: "a client certificate without server certificates", onlyInMatrix: true },
  { what: "no time for a node to come back", onlyInMatrix: true },
  { what: "a boolean in quotes", onlyInMatrix: true },
]);

export function refusedByTheServer(): void {
  const refused = badClusters.flatMap((bad, index) => {
    const says = messageOf(bad);
    return says === undefined ? [] : [{ bad, says, name: bad.name ?? `refused-${index}`, right: `corrected-${index}` }];
  });

  test(`${refused.length} invalid EtcdClusters are refused with what to do, and accepted when they are corrected`, async () => {
    const namespace = await restrictedNamespace("refused");
    const words = await complaints(refused.map(({ bad, name }) => manifest({ namespace, name }, bad.spec as object)));
    for (const { bad, says, name } of refused) {
      const said = words.find((complaint) => complaint.includes(`"${name}"`));
      assert.ok(said?.includes(says), `${bad.what}: kubectl said ${said}`);
    }
    assert.deepEqual((await kube.list(EtcdCluster, { namespace })).items, []);
    const corrected = refused.map(({ bad, name, right }) =>
      manifest({ namespace, name: isNameWrong(bad) ? right : name }, correctedSpec(bad)),
    );
    await applyAll(corrected, "--dry-run=server");
  });

  for (const { what } of representatives) {
    const found = refused.find(({ bad }) => bad.what === what);
    assert.ok(found, `no EtcdCluster with ${what} is refused`);
    test(`an EtcdCluster with ${what} runs when it is corrected`, async (context) => {
      const namespace = await sharedNamespace();
      const { bad, says, name, right } = found;
      const [said] = await complaints([manifest({ namespace, name }, bad.spec as object)]);
      assert.ok(said?.includes(says), said);
      const cluster = await applyCluster({ namespace, name: isNameWrong(bad) ? right : name }, correctedSpec(bad));
      await healed(context, cluster, () => Promise.resolve());
      await kube.delete(EtcdCluster, cluster.key);
    });
  }
}

/** One file per object: a refused one does not keep kubectl from applying the others. */
async function applyAll(objects: readonly object[], ...options: string[]): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), "etcd-operator-e2e-"));
  try {
    await Promise.all(
      objects.map((object, index) => writeFile(path.join(folder, `${index}.json`), JSON.stringify(object))),
    );
    await run("kubectl", ["apply", `--filename=${folder}`, ...options]);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** kubectl's message for each refused object. */
async function complaints(objects: readonly object[]): Promise<string[]> {
  try {
    await applyAll(objects);
  } catch (error) {
    if (error instanceof CommandError) return error.stderr.split(/^(?=The EtcdCluster|Error from server|error: )/m);
    throw error;
  }
  throw new assert.AssertionError({ message: "all of them were accepted" });
}
