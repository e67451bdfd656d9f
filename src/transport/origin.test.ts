import assert from "node:assert/strict";
import { constants } from "node:http2";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { describe, test } from "node:test";
import { eventually } from "./testing/eventually.ts";
import { startServer } from "./testing/local-server.ts";
import { echo, failsWith, get, openOrigin } from "./testing/open-origin.ts";

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
      ["connected"],
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

  test("is unreachable when the peer speaks another protocol, and the next request tries again", async () => {
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

  test("is not sent when the caller aborts between getting its place on a connection and using it", async () => {
    const paths: (string | undefined)[] = [];
    await using server = await startServer((stream, headers) => {
      paths.push(headers[":path"]);
      echo(stream);
    });
    using client = openOrigin(server.url);
    const second = new AbortController();
    const reason = new Error("not any more");
    // Both wait for the same connection, and get their places in the same moment.
    const first = client.origin.fetch({ ...get("/first"), beforeSend: () => second.abort(reason) });
    const aborted = client.origin.fetch({ ...get("/second"), signal: second.signal });
    await assert.rejects(aborted, reason);
    await first;
    assert.deepEqual(paths, ["/first"]);
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

describe("giving up", () => {
  test("at the deadline cancels the stream on the server", async () => {
    let rstCode: number | undefined;
    await using server = await startServer((stream, headers) => {
      if (headers[":path"] === "/first") echo(stream);
      else stream.on("close", () => (rstCode = stream.rstCode));
    });
    using client = openOrigin(server.url);
    // Connecting takes time of its own, and a request that is given up by then has no stream.
    await client.origin.fetch(get("/first"));
    await assert.rejects(client.origin.fetch(get("/", 500)), failsWith("deadline"));
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
      setTimeout(() => stream.end("late"), 4500);
    });
    using client = openOrigin(server.url);
    const request = { method: "GET", answerWithin: 3000 };
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
