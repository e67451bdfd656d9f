import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { TransportError } from "./errors.ts";
import { Http2Origin, type TlsOptions } from "./origin.ts";
import { createAuthority, type Pem, type TestAuthority } from "./testing/certificates.ts";
import { startServer } from "./testing/local-server.ts";

const get = { method: "GET", path: "/", deadline: 30_000 };

describe("TLS", () => {
  let authority: TestAuthority;
  let stranger: TestAuthority;
  let serverPem: Pem;

  before(async () => {
    authority = await createAuthority("authority");
    stranger = await createAuthority("stranger");
    serverPem = await authority.issue("server", { hosts: ["127.0.0.1"] });
  });

  const start = (pem: Pem, askClients = false) =>
    startServer(
      (stream) => {
        stream.respond({ ":status": 200 });
        stream.end("ok");
      },
      { tls: true, ...pem, ca: authority.cert, requestCert: askClients, rejectUnauthorized: askClients },
    );

  function open(url: string, tls: () => TlsOptions | Promise<TlsOptions>) {
    const origin = new Http2Origin(url, { tls });
    return { origin, [Symbol.dispose]: () => origin.close() };
  }

  const refuses = async (url: string, tls: () => TlsOptions | Promise<TlsOptions>): Promise<void> => {
    using client = open(url, tls);
    await assert.rejects(client.origin.fetch(get), (error) => {
      assert.ok(error instanceof TransportError);
      assert.equal(error.failure, "tls", error.message);
      assert.ok(error.neverSent);
      return true;
    });
  };

  test("carries requests, many at once, without loss", async () => {
    await using server = await start(serverPem);
    using client = open(server.url, () => ({ ca: authority.cert }));
    for (let round = 0; round < 10; round += 1) {
      const responses = await Promise.all(Array.from({ length: 64 }, () => client.origin.fetch(get)));
      for (const response of responses) assert.equal(response.body.toString(), "ok");
    }
    assert.equal(server.sockets.length, 1);
  });

  test("fails as such for an unknown authority, a wrong name and an expired certificate", async () => {
    await using server = await start(serverPem);
    await refuses(server.url, () => ({ ca: stranger.cert }));
    await refuses(server.url, () => ({ ca: authority.cert, servername: "another.example" }));
    await using expired = await start(await authority.issue("old", { hosts: ["127.0.0.1"], expired: true }));
    await refuses(expired.url, () => ({ ca: authority.cert }));
  });

  test("fails as such, and at once, when the server wants a client certificate and gets none", async () => {
    await using server = await start(serverPem, true);
    await refuses(server.url, () => ({ ca: authority.cert }));
    const known = await authority.issue("client");
    using client = open(server.url, () => ({ ca: authority.cert, ...known }));
    assert.equal((await client.origin.fetch(get)).status, 200);
  });

  test("fails as such when its settings cannot be read or used", async () => {
    await using server = await start(serverPem);
    await refuses(server.url, () => Promise.reject(new Error("no such file")));
    await refuses(server.url, () => ({ ca: authority.cert, cert: "not a certificate", key: "not a key" }));
  });

  test("dials an address and checks another name when asked to", async () => {
    await using server = await start(await authority.issue("member", { hosts: ["member-0.cluster.svc"] }));
    using client = open(server.url, () => ({ ca: authority.cert, servername: "member-0.cluster.svc" }));
    assert.equal((await client.origin.fetch(get)).status, 200);
  });

  test("settings are read again at each connect", async () => {
    await using server = await start(serverPem);
    let ca = stranger.cert;
    using client = open(server.url, () => ({ ca }));
    await assert.rejects(client.origin.fetch(get));
    ca = authority.cert;
    assert.equal((await client.origin.fetch(get)).status, 200);
  });
});
