import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { test, type TestContext } from "node:test";
import { openStore } from "../open.ts";
import { fails } from "../testing/contract.ts";

interface Seen {
  readonly url: string;
  readonly authorization: string | undefined;
}

/** Answers for Google's storage, where nothing is, and for the service that exchanges tokens. */
async function google(t: TestContext, token: { status: number; body: object }): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    request.resume();
    seen.push({ url: request.url ?? "", authorization: request.headers.authorization });
    const exchanges = request.url === "/token";
    response.writeHead(exchanges ? token.status : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(exchanges ? token.body : { error: { message: "No such object: b/a" } }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

async function secret(t: TestContext, entries: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "gcs-"));
  t.after(() => rm(folder, { recursive: true }));
  for (const [name, text] of Object.entries(entries)) await writeFile(path.join(folder, name), text);
  return folder;
}

/** An identity from elsewhere, as workloads outside of Google have it. */
async function credentials(t: TestContext, url: string): Promise<string> {
  const tokens = await secret(t, { token: "of the pod" });
  return JSON.stringify({
    type: "external_account",
    audience: "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q",
    subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
    token_url: `${url}/token`,
    credential_source: { file: path.join(tokens, "token") },
  });
}

test("an access token is sent as it is, and as it is now", async (t) => {
  const { url, seen } = await google(t, { status: 500, body: {} });
  const secretFolder = await secret(t, { "access-token": "first\n" });
  const store = await openStore({ type: "GCS", bucket: "b", endpoint: url, secretFolder });
  t.after(() => store.close());
  assert.equal(await store.head("a"), undefined);
  await writeFile(path.join(secretFolder, "access-token"), "second");
  assert.equal(await store.head("a"), undefined);
  assert.deepEqual(
    seen.map(({ authorization }) => authorization),
    ["Bearer first", "Bearer second"],
  );
});

test("credentials are exchanged for a token once, and nobody else is asked", async (t) => {
  const { url, seen } = await google(t, { status: 200, body: { access_token: "made", expires_in: 3600 } });
  const secretFolder = await secret(t, { "credentials.json": await credentials(t, url) });
  const store = await openStore({ type: "GCS", bucket: "b", endpoint: url, secretFolder });
  t.after(() => store.close());
  assert.equal(await store.head("a"), undefined);
  assert.equal(await store.head("a"), undefined);
  assert.equal(seen.filter((one) => one.url === "/token").length, 1);
  assert.deepEqual(
    seen.filter((one) => one.url !== "/token").map(({ authorization }) => authorization),
    ["Bearer made", "Bearer made"],
  );
});

test("credentials that are not accepted are said so", async (t) => {
  const refusal = { error: "invalid_grant", error_description: "the audience is not known" };
  const { url } = await google(t, { status: 400, body: refusal });
  const secretFolder = await secret(t, { "credentials.json": await credentials(t, url) });
  const store = await openStore({ type: "GCS", bucket: "b", endpoint: url, secretFolder });
  t.after(() => store.close());
  const error = await fails(store.head("a"), "badCredentials");
  assert.match(error.message, /^gs:\/\/b: cannot look up "a": the credentials are not accepted.*invalid_grant/);
});

test("a key file that is damaged is said so, without what is in it", async (t) => {
  const { url } = await google(t, { status: 500, body: {} });
  const damaged = JSON.stringify({ type: "service_account", client_email: "a@b", private_key: "hidden-word" });
  const secretFolder = await secret(t, { "credentials.json": damaged });
  const store = await openStore({ type: "GCS", bucket: "b", endpoint: url, secretFolder });
  t.after(() => store.close());
  const error = await fails(store.head("a"), "badCredentials");
  assert.ok(!JSON.stringify([error.message, error.cause, error.stack]).includes("hidden-word"), error.message);
  const half = await secret(t, { "credentials.json": JSON.stringify({ type: "authorized_user" }) });
  await fails(openStore({ type: "GCS", bucket: "b", endpoint: url, secretFolder: half }), "badCredentials");
});

test("another's server without a Secret is asked without any token", async (t) => {
  const { url, seen } = await google(t, { status: 500, body: {} });
  const store = await openStore({ type: "GCS", bucket: "b", endpoint: url });
  t.after(() => store.close());
  assert.equal(await store.head("a"), undefined);
  assert.deepEqual(
    seen.map(({ authorization }) => authorization),
    [undefined],
  );
});
