// Servers that speak gRPC and mean no good: they answer without end, or with more than any etcd has to say. For tests of
// what the operator takes of it.
import type { ServerHttp2Stream } from "node:http2";
import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { type LocalServer, startServer, type StreamHandler } from "../../transport/testing/local-server.ts";
import { pour } from "../../transport/testing/pour.ts";
import { frame, prefixBytes } from "../frames.ts";
import {
  AlarmMemberSchema,
  AlarmResponseSchema,
  MemberListResponseSchema,
  StatusResponseSchema,
} from "../gen/etcdserverpb/rpc_pb.ts";

const grpcHeaders = { ":status": 200, "content-type": "application/grpc" };
const piece = 64 << 10;

export const hostileHeader = { clusterId: 1n, memberId: 2n, revision: 3n };

/** The message as it goes over the wire. */
export function framed<S extends DescMessage>(schema: S, message: MessageInitShape<S>): Buffer {
  return frame(toBinary(schema, create(schema, message)));
}

/** A whole answer, as a server gives it that is done. */
export function answer(stream: ServerHttp2Stream, body: Buffer, trailers: Record<string, string> = {}): void {
  stream.respond(grpcHeaders, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0", ...trailers }));
  stream.end(body);
}

const repeated = (one: Buffer): Buffer =>
  Buffer.concat(Array.from({ length: Math.floor(piece / one.length) }, () => one));

function announcing(length: number): Buffer {
  const head = Buffer.alloc(prefixBytes);
  head.writeUInt32BE(length, 1);
  return head;
}

const status = (version: string): Buffer => framed(StatusResponseSchema, { header: hostileHeader, version });

/** What never ends, by what it is. */
export const endless: Readonly<Record<string, StreamHandler>> = {
  "messages without end": (stream) => {
    stream.respond(grpcHeaders);
    pour(stream, repeated(status("3.6.16")));
  },
  "empty messages without end": (stream) => {
    stream.respond(grpcHeaders);
    pour(stream, Buffer.alloc(piece));
  },
  "one message of 60 MiB": (stream) => {
    stream.respond(grpcHeaders);
    pour(stream, Buffer.alloc(piece, 7), announcing(60 << 20));
  },
  "one message of 4 GiB": (stream) => {
    stream.respond(grpcHeaders);
    pour(stream, Buffer.alloc(piece, 7), announcing(2 ** 32 - 1));
  },
  "a web page without end": (stream) => {
    stream.respond({ ":status": 200, "content-type": "text/html" });
    pour(stream, Buffer.alloc(piece, "x"));
  },
};

/** What ends, and is more than an etcd says. */
export const enormous = {
  members: (stream: ServerHttp2Stream, count: number): void =>
    answer(
      stream,
      framed(MemberListResponseSchema, {
        header: hostileHeader,
        members: Array.from({ length: count }, (_, n) => ({ ID: BigInt(n + 1), peerURLs: ["http://x:2380"] })),
      }),
    ),
  memberName: (stream: ServerHttp2Stream, length: number): void =>
    answer(
      stream,
      framed(MemberListResponseSchema, { header: hostileHeader, members: [{ ID: 1n, name: "n".repeat(length) }] }),
    ),
  urls: (stream: ServerHttp2Stream, count: number): void =>
    answer(
      stream,
      framed(MemberListResponseSchema, {
        header: hostileHeader,
        members: [{ ID: 1n, clientURLs: Array.from({ length: count }, (_, n) => `http://x:${n}`) }],
      }),
    ),
  version: (stream: ServerHttp2Stream, length: number): void => answer(stream, status("3".repeat(length))),
  statusErrors: (stream: ServerHttp2Stream, count: number): void =>
    answer(
      stream,
      framed(StatusResponseSchema, {
        header: hostileHeader,
        version: "3.6.16",
        errors: Array.from({ length: count }, (_, n) => `memberID:${n + 1} alarm:NOSPACE `),
      }),
    ),
  alarms: (stream: ServerHttp2Stream, count: number): void =>
    answer(
      stream,
      framed(AlarmResponseSchema, {
        header: hostileHeader,
        alarms: Array.from({ length: count }, (_, n) =>
          create(AlarmMemberSchema, { memberID: BigInt(n + 1), alarm: 1 }),
        ),
      }),
    ),
};

export function startHostile(handler: StreamHandler): Promise<LocalServer> {
  return startServer(handler, { maxSendHeaderBlockLength: 1 << 30 });
}
