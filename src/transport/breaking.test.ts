import assert from "node:assert/strict";
import type { ServerHttp2Stream } from "node:http2";
import { describe, test } from "node:test";
import type { TransportError } from "./errors.ts";
import { eventually } from "./testing/eventually.ts";
import { startServer } from "./testing/local-server.ts";
import { failsWith, get, openOrigin } from "./testing/open-origin.ts";

describe("a response that breaks off", () => {
  const partial = (finish: (stream: ServerHttp2Stream) => void, headers = {}) =>
    startServer((stream) => {
      stream.respond({ ":status": 200, ...headers });
      stream.write("part", () => finish(stream));
    });

  test("by a killed server is broken, and the next request gets a new connection", async () => {
    let kill = true;
    await using server = await startServer((stream) => {
      stream.respond({ ":status": 200 });
      if (kill) stream.write("part", () => server.cut());
      else stream.end("whole");
    });
    using client = openOrigin(server.url);
    await assert.rejects(client.origin.fetch(get("/")), failsWith("broken"));
    kill = false;
    const response = await client.origin.fetch(get("/"));
    assert.equal(response.body.toString(), "whole");
    assert.equal(server.sockets.length, 2);
  });

  test("by a reset of the stream is broken, and the connection stays", async () => {
    await using server = await partial((stream) => void stream.destroy(new Error("reset")));
    using client = openOrigin(server.url);
    await assert.rejects(client.origin.fetch(get("/")), failsWith("broken"));
    await assert.rejects(client.origin.fetch(get("/")), failsWith("broken"));
    assert.equal(server.sockets.length, 1);
  });

  test("by a connection that closes without a word is broken although Node reports no error", async () => {
    await using server = await partial(() => void server.sockets[0]!.destroy());
    using client = openOrigin(server.url);
    await assert.rejects(client.origin.fetch(get("/")), failsWith("broken"));
  });

  test("by a cut while draining is broken although Node ends the stream in peace", async () => {
    await using server = await partial((stream) => stream.session?.goaway(0));
    using client = openOrigin(server.url);
    const result = client.origin.fetch(get("/"));
    await eventually("the connection drains", () => client.seen("draining").length === 1);
    server.cut();
    await assert.rejects(result, failsWith("broken"));
    assert.equal(client.seen("closed").length, 1);
  });

  test("short of its content-length is broken", async () => {
    await using server = await partial((stream) => stream.end(), { "content-length": 100 });
    using client = openOrigin(server.url);
    await assert.rejects(client.origin.fetch(get("/")), failsWith("broken"));
  });

  test("by close() is broken, because the server may have acted", async () => {
    let arrived = 0;
    await using server = await startServer((stream) => {
      arrived += 1;
      stream.respond({ ":status": 200 });
    });
    using client = openOrigin(server.url);
    const result = client.origin.fetch(get("/"));
    await eventually("the request arrives", () => arrived === 1);
    client.origin.close();
    await assert.rejects(result, (error) => failsWith("broken")(error) && !(error as TransportError).neverSent);
    await assert.rejects(client.origin.fetch(get("/")), failsWith("unreachable"));
  });
});

describe("a peer that falls silent", () => {
  const quick = { pingInterval: 40, pingTimeout: 60 };
  /** For a peer that lives: on a busy machine this process may stand still between a ping and its answer. */
  const patient = { pingInterval: 40, pingTimeout: 10_000 };

  test("in the middle of a stream is found dead by its pings", async () => {
    await using server = await startServer((stream) => {
      stream.respond({ ":status": 200 });
      stream.write("x");
    });
    using client = openOrigin(server.url, quick);
    const result = client.origin.send(
      { method: "GET", path: "/" },
      {
        onData() {
          server.freeze();
        },
      },
    );
    await assert.rejects(result, failsWith("dead"));
    assert.equal(client.seen("dead").length, 1);
  });

  test("after it said GOAWAY is found dead as well, and one that lives on is not", async () => {
    let open: ServerHttp2Stream | undefined;
    await using server = await startServer((stream) => {
      open = stream;
      stream.respond({ ":status": 200 });
      stream.write("x", () => stream.session?.goaway(0));
    });
    using client = openOrigin(server.url, patient);
    const request = { method: "GET", path: "/" };
    let acknowledged = 0;
    const living = client.origin.fetch(request);
    await eventually("it drains", () => client.seen("draining").length === 1);
    server.sessions[0]!.on("remoteSettings", () => (acknowledged += 1));
    await eventually(
      "it is asked several times",
      () => acknowledged >= 4,
      () => acknowledged,
    );
    open?.end("y");
    assert.equal((await living).body.toString(), "xy");
    const dying = client.origin.fetch(request);
    await eventually("the next drains", () => client.seen("draining").length === 2);
    server.freeze();
    await assert.rejects(dying, failsWith("dead"));
  });

  test("that answers its pings may take its time", async () => {
    await using server = await startServer((stream) => {
      setTimeout(() => {
        stream.respond({ ":status": 200 });
        stream.end("slow");
      }, 1500);
    });
    using client = openOrigin(server.url, patient);
    assert.equal((await client.origin.fetch(get("/"))).body.toString(), "slow");
    assert.equal(client.seen("dead").length, 0);
  });
});
