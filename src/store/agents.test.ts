import assert from "node:assert/strict";
import { once } from "node:events";
import * as http from "node:http";
import { createServer, type AddressInfo, type Server } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { test, type TestContext } from "node:test";
import { storeAgents } from "./agents.ts";

async function listening(t: TestContext, server: Server | http.Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    if (server instanceof http.Server) server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function ask(url: string, agent: http.Agent, body?: Buffer): Promise<number> {
  const request = http.request(url, { agent, method: body ? "PUT" : "GET" });
  request.end(body);
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  response.resume();
  await once(response, "end");
  return response.statusCode ?? 0;
}

test("a server that accepts and says nothing is given up", async (t) => {
  const server = createServer((socket) => t.after(() => socket.destroy()));
  const port = await listening(t, server);
  const agents = storeAgents(undefined, { connectMs: 60_000, silentMs: 50 });
  t.after(() => agents.destroy());
  await assert.rejects(ask(`http://127.0.0.1:${port}`, agents.http), { code: "ETIMEDOUT", message: /nothing moved/ });
});

test("TLS that is never answered counts as no connection", async (t) => {
  const server = createServer((socket) => t.after(() => socket.destroy()));
  const port = await listening(t, server);
  const agents = storeAgents(undefined, { connectMs: 50, silentMs: 5000 });
  t.after(() => agents.destroy());
  const { request } = await import("node:https");
  const asked = request(`https://127.0.0.1:${port}`, { agent: agents.https });
  asked.end();
  await assert.rejects(once(asked, "response"), { code: "ETIMEDOUT", message: /no connection within/ });
});

test("a slow server is waited for as long as bytes move, in either direction", async (t) => {
  const slowly = async (request: http.IncomingMessage, response: http.ServerResponse): Promise<void> => {
    // Far longer in all than the limit, with pauses well below it.
    for await (const _ of request) await pause(5);
    for (let left = 60; left > 0; left -= 1) {
      response.write("x");
      await pause(100);
    }
    response.end();
  };
  const server = http.createServer((request, response) => void slowly(request, response));
  const port = await listening(t, server);
  const agents = storeAgents(undefined, { connectMs: 60_000, silentMs: 5000 });
  t.after(() => agents.destroy());
  const began = performance.now();
  assert.equal(await ask(`http://127.0.0.1:${port}`, agents.http, Buffer.alloc(16 * 1024 * 1024)), 200);
  assert.ok(performance.now() - began > 6000, "it was not slow");
});

test("connections are used again", async (t) => {
  let connections = 0;
  const server = http.createServer((_, response) => response.end("ok"));
  server.on("connection", () => (connections += 1));
  const port = await listening(t, server);
  const agents = storeAgents(undefined);
  t.after(() => agents.destroy());
  for (let at = 0; at < 5; at += 1) await ask(`http://127.0.0.1:${port}`, agents.http);
  assert.equal(connections, 1);
});
