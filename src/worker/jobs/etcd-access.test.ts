import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { test } from "node:test";
import { endpointsOf } from "./etcd-access.ts";
import { WorkerFailure } from "../program/failure.ts";

const urls = async (...endpoints: string[]): Promise<string[]> =>
  (await endpointsOf({ endpoints })).map(({ url }) => url);
const isMisconfigured = (error: unknown): boolean => error instanceof WorkerFailure && error.code === "misconfigured";

test("endpoints are taken as etcd's own tools take them, each once", async () => {
  assert.deepEqual(await urls("10.0.0.1:2379", "http://10.0.0.1:2379/", "https://b.example:2379"), [
    "http://10.0.0.1:2379",
    "https://b.example:2379",
  ]);
});

test("endpoints that are none, and none at all, are refused", async () => {
  await assert.rejects(urls(), isMisconfigured);
  for (const endpoint of ["unix://socket", "http://", "ftp://a:1"])
    await assert.rejects(urls("10.0.0.1:2379", endpoint), isMisconfigured);
});

test("a Secret that is not mounted, or lacks an entry, is said by its name", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "login-"));
  try {
    const endpoints = ["10.0.0.1:2379"];
    await writeFile(path.join(folder, "username"), "root");
    await assert.rejects(endpointsOf({ endpoints, loginFolder: folder }), /has no password/);
    await assert.rejects(endpointsOf({ endpoints, tlsFolder: folder }), /It has no certificate/);
    await assert.rejects(endpointsOf({ endpoints, tlsFolder: path.join(folder, "none") }), /is not mounted at/);
    await writeFile(path.join(folder, "password"), "secret");
    const secure = { endpoints: ["https://10.0.0.1:2379"], loginFolder: folder };
    assert.equal((await endpointsOf(secure))[0]?.login?.username, "root");
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("a login goes over plain http only where that has been said, and to no endpoint if one of them may not get it", async () => {
  const loginFolder = await mkdtemp(path.join(tmpdir(), "login-"));
  try {
    await writeFile(path.join(loginFolder, "username"), "root");
    await writeFile(path.join(loginFolder, "password"), "hidden-word");
    const endpoints = ["https://10.0.0.1:2379", "http://10.0.0.2:2379"];
    for (const given of [endpoints, ["http://10.0.0.2:2379"]])
      await assert.rejects(
        endpointsOf({ endpoints: given, loginFolder }),
        (error) => isMisconfigured(error) && !String(error).includes("hidden-word") && /plain http/.test(String(error)),
      );
    const said = await endpointsOf({ endpoints, loginFolder, loginOverHttp: true });
    assert.deepEqual(
      said.map(({ login }) => login?.username),
      ["root", "root"],
    );
    // Without a scheme the endpoint is not one of http: a login makes it https.
    assert.equal((await endpointsOf({ endpoints: ["10.0.0.1:2379"], loginFolder }))[0]?.url, "https://10.0.0.1:2379");
  } finally {
    await rm(loginFolder, { recursive: true });
  }
});
