import assert from "node:assert/strict";
import { mkdtempSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { FreshFile } from "./fresh-file.ts";
import { inClusterCredentials } from "./in-cluster.ts";

function folder() {
  const path = mkdtempSync(join(tmpdir(), "service-account-"));
  return {
    write: (name: string, content: string) => writeFileSync(join(path, name), content),
    at: (name: string) => join(path, name),
    path,
    [Symbol.dispose]: () => rmSync(path, { recursive: true }),
  };
}

describe("a pod's service account", () => {
  const env = { KUBERNETES_SERVICE_HOST: "10.96.0.1", KUBERNETES_SERVICE_PORT: "443" };

  test("gives the server, the authority and the token", async () => {
    using files = folder();
    files.write("token", "t1\n");
    files.write("ca.crt", "pem");
    const credentials = inClusterCredentials(env, files.path);
    assert.equal(credentials?.server, "https://10.96.0.1:443");
    assert.deepEqual(await credentials?.tls(), { ca: "pem" });
    assert.equal(await credentials?.authorization(), "Bearer t1");
  });

  test("may be reached by an IPv6 address", () => {
    using files = folder();
    files.write("token", "t");
    const credentials = inClusterCredentials({ ...env, KUBERNETES_SERVICE_HOST: "fd00::1" }, files.path);
    assert.equal(credentials?.server, "https://[fd00::1]:443");
  });

  test("is absent outside of a pod", () => {
    using files = folder();
    assert.equal(inClusterCredentials(env, files.path), undefined);
    files.write("token", "t");
    assert.equal(inClusterCredentials({}, files.path), undefined);
  });

  test("a rotated token is read at once after it was refused", async () => {
    using files = folder();
    files.write("token", "t1");
    const credentials = inClusterCredentials(env, files.path);
    assert.equal(await credentials?.authorization(), "Bearer t1");
    files.write("token", "t2");
    credentials?.forget();
    assert.equal(await credentials?.authorization(), "Bearer t2");
  });
});

describe("a file that changes", () => {
  test("is checked no more than once a second, and read when it changed", () => {
    using files = folder();
    let now = 0;
    files.write("a", "one");
    const file = new FreshFile(files.at("a"), () => now);
    assert.equal(file.read(), "one");
    files.write("a", "two!");
    now = 999;
    assert.equal(file.read(), "one");
    now = 1000;
    assert.equal(file.read(), "two!");
  });

  test("is noticed when a link is swapped under it, as the kubelet does", () => {
    using files = folder();
    let now = 0;
    files.write("old", "same size 1");
    files.write("new", "same size 2");
    symlinkSync(files.at("old"), files.at("link"));
    const file = new FreshFile(files.at("link"), () => now);
    assert.equal(file.read(), "same size 1");
    unlinkSync(files.at("link"));
    symlinkSync(files.at("new"), files.at("link"));
    now = 1000;
    assert.equal(file.read(), "same size 2");
  });

  test("keeps its last content while it is missing, but must have been there once", () => {
    using files = folder();
    let now = 0;
    const file = new FreshFile(files.at("a"), () => now);
    assert.throws(() => file.read());
    files.write("a", "one");
    assert.equal(file.read(), "one");
    unlinkSync(files.at("a"));
    now = 5000;
    assert.equal(file.read(), "one");
    file.forget();
    assert.equal(file.read(), "one");
  });
});
