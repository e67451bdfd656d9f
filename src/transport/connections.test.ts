import assert from "node:assert/strict";
import { constants, type ServerHttp2Stream } from "node:http2";
import { describe, test } from "node:test";
import { eventually } from "./testing/eventually.ts";
import { startServer } from "./testing/local-server.ts";
import { echo, failsWith, get, openOrigin } from "./testing/open-origin.ts";

describe("GOAWAY", () => {
  test("lets requests in flight finish while new ones go on a new connection", async () => {
    const open: ServerHttp2Stream[] = [];
    await using server = await startServer((stream, headers) => {
      stream.respond({ ":status": 200 });
      if (headers[":path"] === "/slow") open.push(stream);
      else stream.end("quick");
    });
    using client = openOrigin(server.url);
    const slow = [1, 2, 3].map(() => client.origin.fetch(get("/slow")));
    await eventually("the slow requests arrive", () => open.length === 3);
    server.sessions[0]!.goaway(0);
    await eventually("the client hears of it", () => client.seen("draining").length === 1);
    assert.equal((await client.origin.fetch(get("/"))).body.toString(), "quick");
    assert.equal(server.sockets.length, 2);
    for (const stream of open) stream.end("slow");
    for (const response of await Promise.all(slow)) assert.equal(response.body.toString(), "slow");
    await eventually("the old connection closes", () => client.seen("closed").length === 1);
  });

  test("loses no request, however many are on their way", async () => {
    let answered = 0;
    await using server = await startServer((stream) => {
      answered += 1;
      if (answered % 17 === 0) stream.session?.close(); // graceful: GOAWAY with the last stream it will answer
      stream.respond({ ":status": 200 });
      stream.end("ok");
    });
    using client = openOrigin(server.url);
    let completed = 0;
    const worker = async (): Promise<void> => {
      for (let n = 0; n < 25; n += 1) {
        const { body } = await client.origin.fetch(get("/"));
        assert.equal(body.toString(), "ok");
        completed += 1;
      }
    };
    await Promise.all(Array.from({ length: 20 }, worker));
    assert.equal(completed, 500);
    assert.ok(client.seen("goaway").length >= 10, `only ${client.seen("goaway").length} GOAWAYs`);
  });

  test("with an error code breaks what may have been processed and repeats what was not", async () => {
    const arrived: string[] = [];
    await using server = await startServer((stream, headers) => {
      arrived.push(String(headers[":path"]));
      if (headers[":path"] === "/first" && arrived.length === 1) return;
      if (arrived.length === 2) {
        stream.session?.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM, 1);
        return;
      }
      stream.respond({ ":status": 200 });
      stream.end("ok");
    });
    using client = openOrigin(server.url);
    const first = client.origin.fetch(get("/first"));
    await eventually("the first arrives", () => arrived.length === 1);
    const second = client.origin.fetch(get("/second"));
    await assert.rejects(first, failsWith("broken"));
    assert.equal((await second).body.toString(), "ok");
    assert.deepEqual(arrived, ["/first", "/second", "/second"]);
  });
});

test("a refused stream is repeated a few times, then reported as unprocessed", async () => {
  let refusals = 2;
  await using server = await startServer((stream) => {
    if (refusals > 0) {
      refusals -= 1;
      stream.close(constants.NGHTTP2_REFUSED_STREAM);
    } else {
      stream.respond({ ":status": 200 });
      stream.end("ok");
    }
  });
  using client = openOrigin(server.url);
  assert.equal((await client.origin.fetch(get("/"))).body.toString(), "ok");
  refusals = 1000;
  await assert.rejects(client.origin.fetch(get("/")), failsWith("unprocessed"));
  assert.ok(refusals >= 990, "repeated without end");
});

describe("many streams", () => {
  test("250 at once share connections, none filled to its limit", async () => {
    const perSession = new Map<unknown, number>();
    const open: ServerHttp2Stream[] = [];
    await using server = await startServer(
      (stream) => {
        perSession.set(stream.session, (perSession.get(stream.session) ?? 0) + 1);
        open.push(stream);
        stream.respond({ ":status": 200 });
      },
      { settings: { maxConcurrentStreams: 100 } },
    );
    using client = openOrigin(server.url);
    const controller = new AbortController();
    let started = 0;
    const request = { method: "GET", path: "/", signal: controller.signal };
    const streams = Array.from({ length: 250 }, () =>
      client.origin.send(request, { onHeaders: () => void (started += 1), onData: () => {} }),
    );
    await eventually(
      "all have their answer",
      () => started === 250,
      () => started,
    );
    // In which order the server hears of them is its own matter.
    assert.deepEqual(
      [...perSession.values()].sort((a, b) => b - a),
      [80, 80, 80, 10],
    );
    for (const stream of open) stream.end();
    await Promise.all(streams);
  });

  test("beyond all connections wait for their turn instead of failing", async () => {
    const open: ServerHttp2Stream[] = [];
    await using server = await startServer((stream) => void open.push(stream), {
      settings: { maxConcurrentStreams: 10 },
    });
    using client = openOrigin(server.url, { maxConnections: 2 });
    const all = Array.from({ length: 40 }, () => client.origin.fetch(get("/")));
    let answered = 0;
    await eventually(
      "the first are there",
      () => open.length === 16,
      () => open.length,
    );
    const done = Promise.all(all);
    await eventually(
      "all are answered",
      () => {
        for (const stream of open.splice(0)) {
          stream.respond({ ":status": 200 });
          stream.end();
          answered += 1;
        }
        return answered === 40;
      },
      () => answered,
    );
    await done;
    assert.equal(server.sockets.length, 2);
  });
});

test("renew() sends the next request on a new connection", async () => {
  await using server = await startServer(echo);
  using client = openOrigin(server.url);
  await client.origin.fetch(get("/"));
  client.origin.renew();
  await client.origin.fetch(get("/"));
  assert.equal(server.sockets.length, 2);
});

test("a connection that nobody uses is closed after a while", async () => {
  await using server = await startServer(echo);
  using client = openOrigin(server.url, { idleTimeout: 50 });
  await client.origin.fetch(get("/"));
  await eventually("it closes", () => client.seen("closed").length === 1);
  assert.deepEqual(
    client.seen("draining").map((event) => event.type === "draining" && event.because),
    ["idle"],
  );
});

test("a request that waits for room on a connection that breaks was never sent, and says so", async () => {
  let arrived = 0;
  await using server = await startServer(() => void (arrived += 1), { settings: { maxConcurrentStreams: 1 } });
  using client = openOrigin(server.url, { maxConnections: 1 });
  const first = client.origin.fetch(get("/"));
  const second = client.origin.fetch(get("/"));
  await eventually("the first arrives", () => arrived === 1);
  server.cut();
  await assert.rejects(first, failsWith("broken"));
  await assert.rejects(second, failsWith("unprocessed"));
  assert.equal(arrived, 1);
});
