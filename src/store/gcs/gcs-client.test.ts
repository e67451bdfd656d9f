import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { test, type TestContext } from "node:test";
import { makeAuthority, makeLeaf } from "../../tls/make.ts";
import { openStore } from "../open.ts";
import { fails } from "../testing/contract.ts";
import { made } from "../testing/made-body.ts";

const authority = await makeAuthority("gcs", Date.now());
const certificate = () =>
  makeLeaf(authority, { commonName: "gcs", names: [], ips: ["127.0.0.1"], use: "server" }, Date.now());

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

const account = {
  type: "external_account",
  audience: "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q",
  subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
  token_url: "https://sts.googleapis.com/v1/token",
  credential_source: { file: "/token" },
};
const elsewhere = "https://collector.example.com/";

const keyFiles: readonly [what: string, file: object, says: RegExp][] = [
  ["has its tokens exchanged elsewhere", { ...account, token_url: elsewhere }, /token_url must be at/],
  [
    "has its tokens exchanged over plain http",
    { ...account, token_url: "http://sts.googleapis.com/v1/token" },
    /token_url must be at/,
  ],
  [
    "becomes another account elsewhere",
    { ...account, service_account_impersonation_url: elsewhere },
    /service_account_impersonation_url must be at/,
  ],
  ["is of another universe", { ...account, universe_domain: "example.com" }, /universe_domain must be/],
  ["runs a program", { ...account, credential_source: { executable: { command: "/bin/true" } } }, /not be a program/],
  ["asks a server of the cluster", { ...account, credential_source: { url: elsewhere } }, /credential_source.url must/],
  [
    "asks a server of the cluster for the region",
    { ...account, credential_source: { environment_id: "aws1", region_url: elsewhere } },
    /credential_source.region_url must/,
  ],
  ["has an address that is none", { ...account, token_url: ["https://sts.googleapis.com"] }, /token_url must be at/],
  ["is of a kind that names further files", { type: "impersonated_service_account" }, /its type must be/],
  [
    "is of a user outside of Google",
    { type: "external_account_authorized_user", token_url: elsewhere },
    /its type must/,
  ],
];

for (const [what, file, says] of keyFiles)
  test(`a key file that ${what} is not used`, async (t) => {
    const secretFolder = await secret(t, { "credentials.json": JSON.stringify(file) });
    const error = await fails(openStore({ type: "GCS", bucket: "b", secretFolder }), "badCredentials");
    assert.match(error.message, says);
    assert.ok(!error.message.includes("collector"), error.message);
  });

test("key files as Google makes them are taken", async (t) => {
  const aws = {
    environment_id: "aws1",
    region_url: "http://169.254.169.254/latest/meta-data/placement/availability-zone",
    url: "http://169.254.169.254/latest/meta-data/iam/security-credentials",
    regional_cred_verification_url: "https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15",
  };
  const impersonating = {
    service_account_impersonation_url: "https://iamcredentials.googleapis.com/v1/projects/-/a:b",
  };
  for (const file of [
    {
      type: "service_account",
      client_email: "a@b",
      private_key: "key",
      token_uri: "https://oauth2.googleapis.com/token",
    },
    { type: "authorized_user", client_id: "a", client_secret: "b", refresh_token: "c" },
    { ...account, ...impersonating },
    { ...account, subject_token_type: "urn:ietf:params:aws:token-type:aws4_request", credential_source: aws },
  ]) {
    const secretFolder = await secret(t, { "credentials.json": JSON.stringify(file) });
    (await openStore({ type: "GCS", bucket: "b", secretFolder })).close();
  }
});

test("an upload that began over TLS does not go on over plain http", async (t) => {
  const asked: string[] = [];
  const server = createTlsServer(await certificate(), (request, response) => {
    request.resume();
    asked.push(request.url ?? "");
    response.writeHead(200, { location: "http://collector.example.com/session" });
    response.end("{}");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const caFolder = await secret(t, { "ca.crt": authority.cert });
  const endpoint = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const store = await openStore({ type: "GCS", bucket: "b", endpoint, caFolder });
  t.after(() => store.close());
  const error = await fails(store.put("key", made({ bytes: 40 * 1024 * 1024 })), "refused");
  assert.match(error.message, /over plain http/);
  assert.equal(asked.length, 1);
});
