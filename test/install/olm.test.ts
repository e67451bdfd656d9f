// The OLM bundle is what the Operator Lifecycle Manager and OperatorHub accept: by OLM's CRD, and, in `make matrix`, by the validators of
// the Operator Framework, whose first build takes minutes.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, describe, test } from "node:test";
import { ensureChecks, ensureOlmCrds, ensureProgram } from "../../lab/build/checks/programs.ts";
import { exitOf } from "../support/exit.ts";
import { matrixTest } from "../support/matrix.ts";
import { bundleFiles } from "../../release/olm/bundle.ts";
import { exampleRelease } from "../../release/testing/release.ts";
import { manifestsIn } from "./rendered.ts";
import { schemaLocation, writeCrdSchemas } from "./schemas.ts";

const folder = mkdtempSync(path.join(tmpdir(), "etcd-operator-olm-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const files = await bundleFiles(exampleRelease(folder));

let count = 0;
/** What the validators find, errors and warnings. */
async function found(change: (name: string, text: string) => string = (_, text) => text): Promise<string[]> {
  count += 1;
  const bundle = path.join(folder, String(count));
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(bundle, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, change(name, text));
  }
  const { code, stdout, stderr } = await exitOf(await ensureChecks(), ["bundle", bundle]);
  const lines = stdout.split("\n").filter((line) => line !== "");
  assert.equal(code, lines.length === 0 ? 0 : 1, stderr);
  return lines;
}

describe("the OLM bundle", () => {
  test("has a ClusterServiceVersion that OLM's API server takes", async () => {
    const schemas = path.join(folder, "schemas");
    await writeCrdSchemas(schemas, manifestsIn(await readFile(await ensureOlmCrds(), "utf8")));
    const args = ["-strict", "-output=json", "-schema-location", schemaLocation(schemas), "-"];
    const { stdout } = await exitOf(
      await ensureProgram("kubeconform"),
      args,
      files["manifests/etcd-operator.clusterserviceversion.yaml"],
    );
    assert.deepEqual(JSON.parse(stdout), { resources: [] });
  });

  matrixTest("has no error and no warning for the validators of the Operator Framework", async () => {
    assert.deepEqual(await found(), []);
  });

  const mistakes: readonly (readonly [what: string, from: string | RegExp, to: string, says: RegExp])[] = [
    ["a version that is none", /^ {2}version: .*$/m, "  version: newest", /version/i],
    [
      "a CRD that it does not have",
      "etcdbackups.etcd.database.coreos.com",
      "etcdbackup.etcd.database.coreos.com",
      /etcdbackup/,
    ],
    ["a capability that there is not", "Full Lifecycle", "Full Service", /capabilit/i],
    ["an example of another kind", /\\?"kind\\?": \\?"EtcdCluster\\?"/, '"kind": "EtcdClusters"', /example/],
  ];
  for (const [what, from, to, says] of mistakes)
    matrixTest(`with ${what} is refused by them`, async () => {
      const lines = await found((name, text) =>
        name.endsWith("clusterserviceversion.yaml") ? text.replace(from, to) : text,
      );
      assert.ok(lines.length > 0, "nothing was found");
      assert.match(lines.join("\n"), says);
    });
});
