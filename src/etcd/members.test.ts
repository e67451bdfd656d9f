import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { TransportError } from "../transport/errors.ts";
import { createAuthority, type TestAuthority } from "../transport/testing/certificates.ts";
import { eventually } from "../transport/testing/eventually.ts";
import { startServer, type StreamHandler } from "../transport/testing/local-server.ts";
import { frame } from "./frames.ts";
import { StatusResponseSchema } from "./gen/etcdserverpb/rpc_pb.ts";
import { EtcdMembers } from "./members.ts";

const body = frame(toBinary(StatusResponseSchema, create(StatusResponseSchema, { header: {}, version: "3.6.16" })));
const answer: StreamHandler = (stream) => {
  stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  stream.end(body);
};
const open = (options?: ConstructorParameters<typeof EtcdMembers>[0]) => {
  const members = new EtcdMembers(options);
  return { members, [Symbol.dispose]: () => members.close() };
};

describe("the connections to members", () => {
  test("are reused", async () => {
    await using server = await startServer(answer);
    using pool = open();
    for (let call = 0; call < 3; call += 1) await pool.members.at({ url: server.url }).status();
    assert.equal(server.sockets.length, 1);
  });

  test("are no more than the limit; the least recently used are closed first", async () => {
    await using first = await startServer(answer);
    await using second = await startServer(answer);
    await using third = await startServer(answer);
    using pool = open({ limit: 2 });
    const early = pool.members.at({ url: first.url });
    for (const member of [early, pool.members.at({ url: second.url }), early, pool.members.at({ url: third.url })])
      await member.status();
    assert.equal(pool.members.size, 2);
    await eventually("the second is closed", () => second.sockets.every((socket) => socket.destroyed));
    assert.ok(first.sockets.some((socket) => !socket.destroyed));
    await pool.members.at({ url: second.url }).status();
    assert.equal((await early.status()).version, "3.6.16", "one that was let go is reconnected");
  });

  test("are not closed during a call", async () => {
    let held: (() => void) | undefined;
    await using slow = await startServer((stream, headers) => {
      held = () => answer(stream, headers);
    });
    await using quick = await startServer(answer);
    using pool = open({ limit: 1 });
    const asked = pool.members.at({ url: slow.url }).status();
    const release = await eventually("the call is there", () => held);
    await pool.members.at({ url: quick.url }).status();
    release();
    assert.equal((await asked).version, "3.6.16");
  });

  describe("over TLS", () => {
    let authority: TestAuthority;
    before(async () => {
      authority = await createAuthority("etcd");
    });
    const start = async (hosts: string[]) =>
      startServer(answer, {
        tls: true,
        ...(await authority.issue("server", { hosts })),
        ca: authority.cert,
        requestCert: true,
        rejectUnauthorized: true,
      });

    test("dial an IP and verify a name", async () => {
      await using server = await start(["m0.etcd.ns.svc"]);
      const tls = { ca: authority.cert, identity: await authority.issue("operator") };
      using pool = open();
      await pool.members.at({ url: server.url, serverName: "m0.etcd.ns.svc", tls }).status();
      await assert.rejects(
        pool.members.at({ url: server.url, serverName: "m1.etcd.ns.svc", tls }).status(),
        (error) => error instanceof TransportError && error.failure === "tls",
      );
    });

    test("use new certificates from the next call on, and stay open when another object holds the same ones", async () => {
      await using server = await start(["127.0.0.1"]);
      using pool = open();
      const old = { ca: authority.cert, identity: await authority.issue("operator") };
      await pool.members.at({ url: server.url, tls: old }).status();
      await pool.members.at({ url: server.url, tls: { ...old } }).status();
      assert.equal(server.sockets.length, 1);
      const renewed = { ca: authority.cert, identity: await authority.issue("operator") };
      await pool.members.at({ url: server.url, tls: renewed }).status();
      await eventually("there is a second connection", () => server.sockets.length === 2);
      await eventually("the first is closed", () => server.sockets[0]?.destroyed);
    });
  });
});
