import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { test, type TestContext } from "node:test";
import { openStore } from "./open.ts";
import { needEntry, readCa, readEntry } from "./secret-folder.ts";
import type { StoreTarget } from "./store.ts";
import { fails } from "./testing/contract.ts";

async function secret(t: TestContext, entries: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "secret-"));
  t.after(() => rm(folder, { recursive: true }));
  for (const [name, text] of Object.entries(entries)) await writeFile(path.join(folder, name), text);
  return folder;
}

test("white space at the ends is not part of a secret", async (t) => {
  const folder = await secret(t, { a: "  value\n", b: "\n" });
  assert.equal(await needEntry(folder, "a", "s3://b"), "value");
  assert.equal(await readEntry(folder, "b"), undefined);
  assert.equal(await readEntry(folder, "c"), undefined);
  const error = await fails(needEntry(folder, "c", "s3://b"), "badCredentials");
  assert.match(error.message, /^s3:\/\/b: .*has no entry c, or it is empty\. Add it/);
});

test("a CA has to be a certificate", async (t) => {
  assert.equal(await readCa(undefined, "s3://b"), undefined);
  await fails(readCa(await secret(t, { "ca.crt": "no PEM" }), "s3://b"), "refused");
});

test("every store says which entry of its Secret is missing, and never what is in the others", async (t) => {
  const cases: { target: (secretFolder: string) => StoreTarget; entries: Record<string, string>; missing: string }[] = [
    {
      target: (secretFolder) => ({ type: "OSS", bucket: "b", endpoint: "https://oss.example", secretFolder }),
      entries: { accessKeySecret: "hidden" },
      missing: "accessKeyID",
    },
    {
      target: (secretFolder) => ({ type: "ABS", container: "c", secretFolder }),
      entries: { "storage-account": "hidden" },
      missing: "storage-key",
    },
    {
      target: (secretFolder) => ({ type: "GCS", bucket: "b", secretFolder }),
      entries: { other: "hidden" },
      missing: "access-token",
    },
    {
      target: (secretFolder) => ({ type: "GCS", bucket: "b", secretFolder }),
      entries: { "credentials.json": "{hidden" },
      missing: "credentials.json of the Secret is not JSON",
    },
  ];
  for (const { target, entries, missing } of cases) {
    const error = await fails(openStore(target(await secret(t, entries))), "badCredentials");
    assert.ok(error.message.includes(missing), error.message);
    assert.ok(!error.message.includes("hidden"), error.message);
  }
});
