// What a server that is not meant gets to see: nothing. `0.0.0.0` is this machine, too, and not loopback by name.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import * as http from "node:http";
import * as https from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { describe, test, type TestContext } from "node:test";
import { makeAuthority, makeLeaf } from "../tls/make.ts";
import { openStore } from "./open.ts";
import type { StoreTarget } from "./store.ts";
import { fails } from "./testing/contract.ts";

type Headers = http.IncomingHttpHeaders;

interface Server {
  readonly port: number;
  readonly seen: Headers[];
}

async function serve(t: TestContext, server: http.Server, answer: object = {}): Promise<Server> {
  const seen: Headers[] = [];
  server.on("request", (request: http.IncomingMessage, response: http.ServerResponse) => {
    request.resume();
    seen.push(request.headers);
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(answer));
  });
  server.listen(0, "0.0.0.0");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, seen };
}

async function folder(t: TestContext, entries: Readonly<Record<string, string>>): Promise<string> {
  const made = await mkdtemp(path.join(tmpdir(), "recipients-"));
  t.after(() => rm(made, { recursive: true }));
  for (const [name, text] of Object.entries(entries)) await writeFile(path.join(made, name), text);
  return made;
}

function environment(t: TestContext, variables: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(variables)) {
    process.env[name] = value;
    t.after(() => delete process.env[name]);
  }
}

/** A server with a certificate that the store trusts by configuration, as whoever writes the spec can. */
async function overTls(t: TestContext): Promise<Server & { readonly endpoint: string; readonly caFolder: string }> {
  const now = Date.now();
  const authority = await makeAuthority("collector", now);
  const { cert, key } = await makeLeaf(
    authority,
    { commonName: "collector", names: [], ips: ["0.0.0.0"], use: "server" },
    now,
  );
  const server = await serve(t, https.createServer({ cert, key }));
  const caFolder = await folder(t, { "ca.crt": authority.cert });
  return { ...server, endpoint: `https://0.0.0.0:${server.port}`, caFolder };
}

/** The identity that a cloud gives to a pod. */
async function cloud(t: TestContext): Promise<void> {
  const later = Math.floor(Date.now() / 1000) + 3600;
  const tokens = await serve(t, http.createServer(), {
    access_token: "identity-of-the-pod",
    expires_on: String(later),
    expires_in: 3600,
    token_type: "Bearer",
    resource: "https://storage.azure.com",
  });
  environment(t, {
    IDENTITY_ENDPOINT: `http://127.0.0.1:${tokens.port}/token`,
    IDENTITY_HEADER: "header",
    AWS_ACCESS_KEY_ID: "id",
    AWS_SECRET_ACCESS_KEY: "key",
    AWS_SESSION_TOKEN: "identity-of-the-pod",
  });
}

async function refused(target: StoreTarget, { seen }: Server, says: RegExp): Promise<void> {
  const head = async (): Promise<unknown> => {
    const store = await openStore(target);
    return store.head("key").finally(() => store.close());
  };
  const error = await fails(head(), "refused").catch((problem: unknown) => problem);
  assert.deepEqual(
    seen.map(({ authorization }) => authorization),
    [],
    "nothing was asked",
  );
  assert.match(String(error), says);
}

describe("a server that the owner of the spec chose gets no identity of the worker", () => {
  test("of Azure", async (t) => {
    await cloud(t);
    const server = await overTls(t);
    const { endpoint, caFolder } = server;
    const target: StoreTarget = { type: "ABS", container: "c", account: "acc", endpoint, caFolder };
    await refused(target, server, /^StoreError: abs:\/\/c: .*an identity of Azure is sent only to/);
  });

  test("of Azure, by an account that ends the name of the host", async (t) => {
    await cloud(t);
    const server = await overTls(t);
    const account = `0.0.0.0:${server.port}/`;
    const target: StoreTarget = { type: "ABS", container: "c", account, caFolder: server.caFolder };
    await refused(target, server, /an identity of Azure is sent only to/);
  });

  test("of AWS", async (t) => {
    await cloud(t);
    const server = await overTls(t);
    const { endpoint, caFolder } = server;
    await refused({ type: "S3", bucket: "b", endpoint, caFolder }, server, /an identity of AWS is sent only to/);
  });

  test("of AWS, also where a Secret is named and has no credentials in it", async (t) => {
    await cloud(t);
    const server = await overTls(t);
    const { endpoint, caFolder } = server;
    const secretFolder = await folder(t, { config: "[default]\nregion = eu-west-1\n" });
    await refused({ type: "S3", bucket: "b", endpoint, caFolder, secretFolder }, server, /an identity of AWS/);
  });

  test("of Google, by a key file", async (t) => {
    const server = await overTls(t);
    const { endpoint, caFolder } = server;
    const exchange = await serve(t, http.createServer(), { access_token: "hidden-word", expires_in: 3600 });
    const file = {
      type: "external_account",
      audience: "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q",
      subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
      token_url: `http://127.0.0.1:${exchange.port}/token`,
      credential_source: { file: path.join(await folder(t, { token: "of the pod" }), "token") },
    };
    const secretFolder = await folder(t, { "credentials.json": JSON.stringify(file) });
    await refused({ type: "GCS", bucket: "b", endpoint, caFolder, secretFolder }, server, /an identity of Google/);
  });
});

describe("over plain http", () => {
  test("no access token is sent", async (t) => {
    const server = await serve(t, http.createServer());
    const secretFolder = await folder(t, { "access-token": "hidden-word" });
    const target: StoreTarget = { type: "GCS", bucket: "b", endpoint: `http://0.0.0.0:${server.port}`, secretFolder };
    await refused(target, server, /a token is not sent over plain http/);
  });

  test("no identity is sent to the cloud itself", async (t) => {
    const server = await serve(t, http.createServer());
    const endpoint = "http://storage.googleapis.com";
    await refused({ type: "GCS", bucket: "b", endpoint }, server, /an identity of Google is sent only to/);
  });

  test("a request that is signed is sent where somebody wrote http, and its key is not in it", async (t) => {
    const server = await serve(t, http.createServer());
    const secretFolder = await folder(t, {
      credentials: "[default]\naws_access_key_id = A\naws_secret_access_key = hidden-word\n",
    });
    const endpoint = `http://0.0.0.0:${server.port}`;
    const store = await openStore({ type: "S3", bucket: "b", endpoint, forcePathStyle: true, secretFolder });
    t.after(() => store.close());
    await store.head("key");
    assert.match(server.seen[0]?.authorization ?? "", /^AWS4-HMAC-SHA256 /);
    assert.ok(!JSON.stringify(server.seen).includes("hidden-word"));
  });
});

test("a redirect to another server takes no credentials along", async (t) => {
  const server = await serve(t, http.createServer());
  const redirecting = http.createServer((request, response) => {
    request.resume();
    response.writeHead(307, { location: `http://0.0.0.0:${server.port}${request.url ?? ""}` });
    response.end();
  });
  redirecting.listen(0, "127.0.0.1");
  await once(redirecting, "listening");
  t.after(() => {
    redirecting.closeAllConnections();
    redirecting.close();
  });
  const endpoint = `http://127.0.0.1:${(redirecting.address() as AddressInfo).port}`;
  const azure = { "storage-account": "acc", "storage-key": "a2V5" };
  const aws = { credentials: "[default]\naws_access_key_id = A\naws_secret_access_key = B\n" };
  const targets: StoreTarget[] = [
    { type: "GCS", bucket: "b", endpoint, secretFolder: await folder(t, { "access-token": "word" }) },
    { type: "ABS", container: "c", endpoint, secretFolder: await folder(t, azure) },
    { type: "S3", bucket: "b", endpoint, forcePathStyle: true, secretFolder: await folder(t, aws) },
  ];
  for (const target of targets) {
    const store = await openStore(target);
    t.after(() => store.close());
    await assert.rejects(store.head("key"), target.type);
    assert.deepEqual(server.seen, [], target.type);
  }
});
