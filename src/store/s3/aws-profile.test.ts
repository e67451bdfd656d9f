import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { test, type TestContext } from "node:test";
import { StoreError } from "../errors.ts";
import { defaultProfile, readAwsProfile } from "./aws-profile.ts";

async function secret(t: TestContext, entries: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "aws-"));
  t.after(() => rm(folder, { recursive: true }));
  for (const [name, text] of Object.entries(entries)) await writeFile(path.join(folder, name), text);
  return folder;
}

test("the files of etcd-operator 0.9 are taken as they are, with the region of config", async (t) => {
  const folder = await secret(t, {
    credentials: "[default]\naws_access_key_id = A\naws_secret_access_key = B\n",
    config: "[default]\nregion = eu-central-1\n",
  });
  assert.deepEqual(await readAwsProfile(folder), {
    t: "files",
    credentials: path.join(folder, "credentials"),
    config: path.join(folder, "config"),
    region: "eu-central-1",
  });
});

test("without credentials the pod's own identity counts, and the region is still taken", async (t) => {
  assert.deepEqual(await readAwsProfile(undefined), { t: "ambient", region: undefined });
  assert.deepEqual(await readAwsProfile(await secret(t, {})), { t: "ambient", region: undefined });
  assert.deepEqual(
    await readAwsProfile(await secret(t, { credentials: " \n", config: "[default]\nregion=us-west-2" })),
    {
      t: "ambient",
      region: "us-west-2",
    },
  );
});

test("a role in config alone is an identity", async (t) => {
  const config = "[profile default]\nrole_arn = arn:aws:iam::1:role/r\nweb_identity_token_file = /token\n";
  assert.equal((await readAwsProfile(await secret(t, { config }))).t, "files");
});

test("a file of credentials without the profile does not turn into another identity", async (t) => {
  const credentials = "[prod]\naws_access_key_id = A\naws_secret_access_key = B\n";
  assert.equal((await readAwsProfile(await secret(t, { credentials }))).t, "files");
});

test("only the profile default is read, in whatever way it is written", () => {
  const ini = `# comment
[other]
region = x
[ default ]
region=eu-west-1
  indented = not a setting of its own
Output = json
[profile "later"]
region = y
`;
  assert.deepEqual(defaultProfile(ini), { region: "eu-west-1", output: "json" });
  assert.deepEqual(defaultProfile(""), {});
});

test("a program that gives credentials is not run, whichever profile names it and however it is written", async (t) => {
  for (const config of [
    "[default]\ncredential_process = /bin/true\n",
    "[default]\nsource_profile = other\nrole_arn = r\n[profile other]\nCREDENTIAL_PROCESS=/bin/true\n",
  ])
    for (const entry of ["config", "credentials"])
      await assert.rejects(
        readAwsProfile(await secret(t, { [entry]: config })),
        (error: unknown) =>
          error instanceof StoreError && error.code === "badCredentials" && /credential_process/.test(error.message),
      );
});
