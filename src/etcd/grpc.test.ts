import assert from "node:assert/strict";
import type { ServerHttp2Stream } from "node:http2";
import { describe, test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { TransportError } from "../transport/errors.ts";
import { Http2Origin } from "../transport/origin.ts";
import { eventually } from "../transport/testing/eventually.ts";
import { startServer, type StreamHandler } from "../transport/testing/local-server.ts";
import { EtcdError } from "./errors.ts";
import { frame } from "./frames.ts";
import { Maintenance, SnapshotResponseSchema, StatusResponseSchema } from "./gen/etcdserverpb/rpc_pb.ts";
import { serverStream, unary } from "./grpc.ts";
import { SnapshotMessages } from "./snapshot-messages.ts";

const grpcHeaders = { ":status": 200, "content-type": "application/grpc" };
const status = (version: string): Buffer =>
  frame(toBinary(StatusResponseSchema, create(StatusResponseSchema, { version })));
const piece = (size: number): Buffer =>
  frame(toBinary(SnapshotResponseSchema, create(SnapshotResponseSchema, { blob: Buffer.alloc(size) })));

function answer(stream: ServerHttp2Stream, body: Buffer, trailers: Record<string, string>): void {
  stream.respond(grpcHeaders, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers(trailers));
  stream.end(body);
}

async function serve(handler: StreamHandler) {
  const server = await startServer(handler);
  const origin = new Http2Origin(server.url);
  return {
    server,
    origin,
    ask: (deadline = 5000, signal?: AbortSignal) => unary(origin, Maintenance.method.status, {}, { deadline, signal }),
    async [Symbol.asyncDispose]() {
      origin.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

const isTransport = (failure: TransportError["failure"]) => (error: unknown) => {
  assert.ok(error instanceof TransportError, String(error));
  assert.equal(error.failure, failure, error.message);
  return true;
};

describe("a gRPC call", () => {
  test("sends the method and the timeout, and returns the message", async () => {
    let seen: Record<string, unknown> = {};
    await using peer = await serve((stream, headers) => {
      seen = headers;
      answer(stream, status("3.6.16"), { "grpc-status": "0" });
    });
    assert.equal((await peer.ask()).version, "3.6.16");
    assert.equal(seen[":path"], "/etcdserverpb.Maintenance/Status");
    assert.equal(seen["te"], "trailers");
    assert.equal(seen["content-type"], "application/grpc");
    assert.match(String(seen["grpc-timeout"]), /^\d{4}m$/);
  });

  test("fails with the server's error, from trailers or from headers alone", async () => {
    let only = false;
    await using peer = await serve((stream) => {
      const said = { "grpc-status": "14", "grpc-message": "etcdserver: unhealthy%20cluster" };
      if (only) stream.respond({ ...grpcHeaders, ...said }, { endStream: true });
      else answer(stream, Buffer.alloc(0), said);
    });
    for (only of [false, true])
      await assert.rejects(peer.ask(), (error) => {
        assert.ok(error instanceof EtcdError);
        assert.deepEqual([error.reason, error.code, error.method], ["unhealthyCluster", 14, "Status"]);
        return true;
      });
  });

  test("copes with an error text that is not percent-encoded", async () => {
    await using peer = await serve((stream) =>
      answer(stream, Buffer.alloc(0), { "grpc-status": "2", "grpc-message": "100% wrong" }),
    );
    await assert.rejects(peer.ask(), /100% wrong/);
  });

  for (const [what, handler] of [
    ["has no status", (stream) => answer(stream, status("3"), {})],
    ["has half a message", (stream) => answer(stream, status("3").subarray(0, -1), { "grpc-status": "0" })],
    ["has no message", (stream) => answer(stream, Buffer.alloc(0), { "grpc-status": "0" })],
    ["cannot be read", (stream) => answer(stream, frame(Buffer.from([7, 7])), { "grpc-status": "0" })],
    [
      "is a web page",
      (stream) => {
        stream.respond({ ":status": 404, "content-type": "text/html" });
        stream.end("<html>not here</html>");
      },
    ],
    [
      "breaks off after the message",
      (stream) => {
        stream.respond(grpcHeaders);
        stream.write(status("3"), () => stream.close(8));
      },
    ],
  ] satisfies [string, StreamHandler][])
    test(`whose answer ${what} fails as broken`, async () => {
      await using peer = await serve(handler);
      await assert.rejects(peer.ask(), isTransport("broken"));
    });

  test("ends at its deadline and when it is aborted", async () => {
    await using peer = await serve(() => {});
    await assert.rejects(peer.ask(50), isTransport("deadline"));
    const stop = new AbortController();
    const asked = peer.ask(60_000, stop.signal);
    stop.abort(new Error("enough"));
    await assert.rejects(asked, /enough/);
  });
});

describe("a gRPC stream", () => {
  test("holds the server back while the receiver is busy", async () => {
    let sent = 0;
    await using peer = await serve((stream) => {
      stream.respond(grpcHeaders, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      const more = (): void => {
        while (sent < 2000) {
          sent += 1;
          if (!stream.write(piece(32_768))) {
            stream.once("drain", more);
            return;
          }
        }
        stream.end();
      };
      more();
    });
    let taken = 0;
    const gate = Promise.withResolvers<void>();
    const done = serverStream(
      peer.origin,
      Maintenance.method.snapshot,
      {},
      {
        push(chunk) {
          taken += chunk.length;
          const first = taken === chunk.length;
          return first ? gate.promise : undefined;
        },
        empty: true,
      },
      { answerWithin: 5000 },
    );
    // Until it has stopped for good: the same number in many reads.
    let last = -1;
    let same = 0;
    await eventually("the server stands still", () => {
      same = taken > 0 && sent === last ? same + 1 : 0;
      last = sent;
      return same > 20;
    });
    assert.ok(sent < 400, `${sent} of 2000 messages were let through`);
    gate.resolve();
    await done;
    assert.equal(taken, 2000 * piece(32_768).length);
  });

  test("that ends in the middle of a message is broken, even with status 0", async () => {
    await using peer = await serve((stream) =>
      answer(stream, Buffer.concat([piece(10), piece(10).subarray(0, -1)]), { "grpc-status": "0" }),
    );
    const messages = new SnapshotMessages({ onPiece() {}, onMessage() {} });
    const broken = serverStream(peer.origin, Maintenance.method.snapshot, {}, messages, { answerWithin: 5000 });
    await assert.rejects(broken, isTransport("broken"));
  });

  test("fails with the error of its receiver, and is closed towards the server", async () => {
    let closed = false;
    await using peer = await serve((stream) => {
      stream.respond(grpcHeaders);
      stream.write(piece(10));
      stream.on("close", () => {
        closed = true;
      });
    });
    const broken = serverStream(
      peer.origin,
      Maintenance.method.snapshot,
      {},
      { push: () => Promise.reject(new Error("disk full")), empty: true },
      { answerWithin: 5000 },
    );
    await assert.rejects(broken, /disk full/);
    await eventually("the server hears of it", () => closed);
  });
});
