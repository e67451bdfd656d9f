import assert from "node:assert/strict";
import { constants, type ServerHttp2Stream } from "node:http2";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { describe, test } from "node:test";
import { TransportError, type TransportFailure } from "./errors.ts";
import type { TransportEvent } from "./events.ts";
import { Http2Origin, type OriginOptions } from "./origin.ts";
import { eventually } from "./testing/eventually.ts";
import { startServer } from "./testing/local-server.ts";

function openOrigin(url: string, options: OriginOptions = {}) {
  const events: TransportEvent[] = [];
  const origin = new Http2Origin(url, { ...options, observe: (event) => events.push(event) });
  return {
    origin,
    events,
    seen: (type: TransportEvent["type"]) => events.filter((event) => event.type === type),
    [Symbol.dispose]: () => origin.close(),
  };
}

const get = (path: string, deadline = 5000) => ({ method: "GET", path, deadline });

const failsWith = (failure: TransportFailure) => (error: unknown) => {
  assert.ok(error instanceof TransportError, `not a TransportError: ${String(error)}`);
  assert.equal(error.failure, failure, error.message);
  return true;
};

function echo(stream: ServerHttp2Stream): void {
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  stream.on("end", () => {
    stream.respond({ ":status": 200 });
    stream.end(Buffer.concat(chunks));
  });
}

/** Accepts TCP connections and says what `greet` says, which may be nothing. */
async function startTcp(greet: (socket: Socket) => void = () => {}) {
  const sockets: Socket[] = [];
  const server: Server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    greet(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe("a complete response", () => {
  test("carries status, headers, body and trailers, and the request's body arrives", async () => {
    await using server = await startServer((stream, headers) => {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
        stream.respond({ ":status": 201, "x-method": headers[":method"] }, { waitForTrailers: true });
        stream.end(Buffer.concat([...chunks, Buffer.from("!")]));
      });
    });
    using client = openOrigin(server.url);
    const response = await client.origin.fetch({ method: "POST", path: "/a", body: "hello", deadline: 5000 });
    assert.equal(response.status, 201);
    assert.equal(response.headers["x-method"], "POST");
    assert.equal(response.body.toString(), "hello!");
    assert.equal(response.trailers["grpc-status"], "0");
    assert.deepEqual(
      client.events.map((event) => event.type),
      ["requestStart", "connected", "requestEnd"],
    );
  });

  test("may consist of headers alone", async () => {
    await using server = await startServer((stream) => stream.respond({ ":status": 204 }, { endStream: true }));
    using client = openOrigin(server.url);
    const response = await client.origin.fetch(get("/"));
    assert.equal(response.status, 204);
    assert.equal(response.body.length, 0);
  });

  test("is never lost among many at once", async () => {
    await using server = await startServer((stream) => {
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      stream.respond({ ":status": 200 }, { waitForTrailers: true });
      stream.end(Buffer.alloc(300, 1));
    });
    using client = openOrigin(server.url);
    for (let round = 0; round < 20; round += 1) {
      const responses = await Promise.all(Array.from({ length: 64 }, () => client.origin.fetch(get("/"))));
      for (const response of responses) {
        assert.equal(response.body.length, 300);
        assert.equal(response.trailers["grpc-status"], "0");
      }
    }
  });
});

describe("a connection that does not come about", () => {
  test("is unreachable when refused", async () => {
    const server = await startServer(echo);
    await server[Symbol.asyncDispose]();
    using client = openOrigin(server.url);
    await assert.rejects(client.origin.fetch(get("/")), failsWith("unreachable"));
    assert.equal(client.seen("connectFailed").length, 1);
  });

  test("times out when the peer accepts and stays silent, for all who wait for it", async () => {
    await using server = await startTcp();
    using client = openOrigin(server.url, { connectTimeout: 100 });
    const results = await Promise.allSettled([1, 2, 3].map(() => client.origin.fetch(get("/"))));
    for (const result of results) {
      assert.equal(result.status, "rejected");
      failsWith("connectTimeout")(result.reason);
    }
    assert.equal(client.seen("connectFailed").length, 1);
  });

  test("is unreachable when the peer speaks another protocol, and the next request tries anew", async () => {
    await using server = await startTcp((socket) => void socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    using client = openOrigin(server.url);
    await assert.rejects(client.origin.fetch(get("/")), failsWith("unreachable"));
    await assert.rejects(client.origin.fetch(get("/")), failsWith("unreachable"));
    assert.equal(client.seen("connectFailed").length, 2);
  });

  test("does not outlive the request's deadline", async () => {
    await using server = await startTcp();
    using client = openOrigin(server.url, { connectTimeout: 60_000 });
    await assert.rejects(client.origin.fetch(get("/", 50)), failsWith("deadline"));
  });

  test("is given up when the caller aborts, with the caller's reason", async () => {
    await using server = await startTcp();
    using client = openOrigin(server.url, { connectTimeout: 60_000 });
    const reason = new Error("changed my mind");
    const controller = new AbortController();
    const result = client.origin.fetch({ ...get("/"), signal: controller.signal });
    controller.abort(reason);
    await assert.rejects(result, (error) => error === reason);
  });

  test("is not even tried for a caller that has already aborted", async () => {
    await using server = await startServer(echo);
    using client = openOrigin(server.url);
    const reason = new Error("too late");
    await assert.rejects(
      client.origin.fetch({ ...get("/"), signal: AbortSignal.abort(reason) }),
      (error) => error === reason,
    );
    assert.equal(server.sockets.length, 0);
  });
});

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
    await using server = await startServer((stream) => stream.respond({ ":status": 200 }));
    using client = openOrigin(server.url);
    const result = client.origin.fetch(get("/"));
    await eventually("the request arrives", () => server.sessions.length === 1);
    client.origin.close();
    await assert.rejects(result, (error) => failsWith("broken")(error) && !(error as TransportError).neverSent);
    await assert.rejects(client.origin.fetch(get("/")), failsWith("unreachable"));
  });
});

describe("giving up", () => {
  test("at the deadline cancels the stream on the server", async () => {
    let rstCode: number | undefined;
    await using server = await startServer((stream) => stream.on("close", () => (rstCode = stream.rstCode)));
    using client = openOrigin(server.url);
    await assert.rejects(client.origin.fetch(get("/", 60)), failsWith("deadline"));
    await eventually(
      "the server sees CANCEL",
      () => rstCode === constants.NGHTTP2_CANCEL,
      () => rstCode,
    );
  });

  test("by an abort in the middle of a stream stops delivery and gives the caller's reason", async () => {
    await using server = await startServer((stream) => {
      stream.respond({ ":status": 200 });
      const timer = setInterval(() => stream.write("tick"), 2);
      stream.on("close", () => clearInterval(timer));
    });
    using client = openOrigin(server.url);
    const controller = new AbortController();
    const reason = new Error("enough");
    let chunks = 0;
    const result = client.origin.send(
      { method: "GET", path: "/", signal: controller.signal },
      {
        onData() {
          chunks += 1;
          if (chunks === 3) controller.abort(reason);
        },
      },
    );
    await assert.rejects(result, (error) => error === reason);
    assert.equal(chunks, 3);
  });

  test("happens when headers do not come in time, but a stream that has answered may go on for longer", async () => {
    await using server = await startServer((stream, headers) => {
      if (headers[":path"] === "/silent") return;
      stream.respond({ ":status": 200 });
      setTimeout(() => stream.end("late"), 150);
    });
    using client = openOrigin(server.url);
    const request = { method: "GET", answerWithin: 75 };
    await assert.rejects(client.origin.fetch({ ...request, path: "/silent" }), failsWith("deadline"));
    const response = await client.origin.fetch({ ...request, path: "/" });
    assert.equal(response.body.toString(), "late");
  });

  test("what a receiver throws ends the exchange and reaches the caller", async () => {
    let open = 0;
    await using server = await startServer((stream) => {
      open += 1;
      stream.on("close", () => (open -= 1));
      stream.respond({ ":status": 200 });
      stream.write("x");
    });
    using client = openOrigin(server.url);
    const reason = new Error("cannot parse");
    const request = { method: "GET", path: "/" };
    const thrown = client.origin.send(request, {
      onData() {
        throw reason;
      },
    });
    await assert.rejects(thrown, (error) => error === reason);
    const rejected = client.origin.send(request, { onData: () => Promise.reject(reason) });
    await assert.rejects(rejected, (error) => error === reason);
    await eventually(
      "both streams are gone",
      () => open === 0,
      () => open,
    );
  });
});

describe("a peer that falls silent", () => {
  const quick = { pingInterval: 40, pingTimeout: 60 };

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
    using client = openOrigin(server.url, quick);
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
      }, 300);
    });
    using client = openOrigin(server.url, quick);
    assert.equal((await client.origin.fetch(get("/"))).body.toString(), "slow");
    assert.equal(client.seen("dead").length, 0);
  });
});

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
    assert.deepEqual([...perSession.values()], [80, 80, 80, 10]);
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

test("a slow receiver holds the sender back", async () => {
  const total = 32 << 20;
  let written = 0;
  await using server = await startServer((stream) => {
    stream.respond({ ":status": 200, "content-length": total });
    const chunk = Buffer.alloc(1 << 18);
    const more = (): void => {
      while (written < total) {
        written += chunk.length;
        if (!stream.write(chunk)) {
          stream.once("drain", more);
          return;
        }
      }
      stream.end();
    };
    more();
  });
  using client = openOrigin(server.url);
  let received = 0;
  let ahead = 0;
  let go: () => void = () => {};
  const gate = new Promise<void>((resolve) => (go = resolve));
  let first = true;
  const result = client.origin.send(get("/", 20_000), {
    onData(chunk) {
      received += chunk.length;
      const taken = first ? gate : undefined;
      first = false;
      return taken;
    },
  });
  let last = -1;
  await eventually("the sender stalls", () => {
    const stalled = written > 0 && written === last;
    last = written;
    return stalled;
  });
  ahead = written;
  assert.ok(ahead < 8 << 20, `${ahead} bytes were sent to a receiver that took none`);
  go();
  await result;
  assert.equal(received, total);
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
