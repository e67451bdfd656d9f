// A server that answers without end, or with far more than an etcd has to say, costs a few megabytes and one failed call.
import assert from "node:assert/strict";
import type { ServerHttp2Stream } from "node:http2";
import { describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { TransportError } from "../transport/errors.ts";
import { eventually } from "../transport/testing/eventually.ts";
import type { StreamHandler } from "../transport/testing/local-server.ts";
import { EtcdError } from "./errors.ts";
import { AuthenticateResponseSchema, RangeResponseSchema } from "./gen/etcdserverpb/rpc_pb.ts";
import { Login } from "./login.ts";
import { EtcdMembers } from "./members.ts";
import { answer, endless, enormous, framed, hostileHeader, startHostile } from "./testing/hostile-etcd.ts";

const deadline = 20_000;

async function peerThat(handler: StreamHandler) {
  const server = await startHostile(handler);
  const members = new EtcdMembers();
  return {
    server,
    members,
    member: members.at({ url: server.url }),
    /** Given to the sockets, whether the operator has read it or not. */
    sent: () => server.sockets.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0),
    async [Symbol.asyncDispose]() {
      members.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

const tooLarge = (words: RegExp) => (error: unknown) => {
  assert.ok(error instanceof TransportError, String(error));
  assert.equal(error.failure, "tooLarge", error.message);
  assert.match(error.message, words);
  assert.ok(error.message.length < 1200, `${error.message.length} characters`);
  return true;
};

/** One stream's window lies in the buffers of both kernels, too. */
const fewMegabytes = 24 << 20;

describe("a call that is answered with", () => {
  for (const [what, handler] of Object.entries(endless))
    test(`${what} fails, is cut off, and leaves no memory behind`, async () => {
      await using peer = await peerThat(handler);
      const before = process.memoryUsage.rss();
      await assert.rejects(peer.member.status({ deadline }), (error) => {
        assert.ok(error instanceof TransportError, String(error));
        assert.equal(error.failure, "tooLarge", error.message);
        return true;
      });
      await eventually("the connection is closed", () => peer.server.sockets.every(({ destroyed }) => destroyed));
      assert.ok(peer.sent() < fewMegabytes, `${peer.sent()} bytes were let through`);
      const grown = process.memoryUsage.rss() - before;
      assert.ok(grown < 150 << 20, `the process grew by ${grown} bytes`);
    });

  for (const [what, where] of [
    ["headers", "headers"],
    ["trailers", "trailers"],
  ] as const)
    test(`${what} without end fails`, async () => {
      const many = Object.fromEntries(Array.from({ length: 2000 }, (_, n) => [`x-${n}`, "v".repeat(1000)]));
      await using peer = await peerThat((stream) => {
        const head = { ":status": 200, "content-type": "application/grpc" };
        stream.respond(where === "headers" ? { ...head, ...many } : head, { waitForTrailers: true });
        stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0", ...many }));
        stream.end();
      });
      await assert.rejects(peer.member.status({ deadline }), (error) => {
        assert.ok(error instanceof TransportError, String(error));
        assert.notEqual(error.failure, "deadline");
        return true;
      });
    });

  test("a byte now and then ends at its deadline", async () => {
    await using peer = await peerThat((stream) => {
      stream.respond({ ":status": 200, "content-type": "application/grpc" });
      const timer = setInterval(() => stream.write(Buffer.alloc(1)), 50);
      stream.on("close", () => clearInterval(timer));
    });
    await assert.rejects(peer.member.status({ deadline: 180 }), (error) => {
      assert.ok(error instanceof TransportError);
      assert.equal(error.failure, "deadline");
      return true;
    });
  });

  test("an error text of 50 kB is reported in a thousand characters", async () => {
    await using peer = await peerThat((stream) =>
      answer(stream, Buffer.alloc(0), { "grpc-status": "2", "grpc-message": "no ".repeat(17_000) }),
    );
    await assert.rejects(peer.member.status({ deadline }), (error) => {
      assert.ok(error instanceof EtcdError, String(error));
      assert.ok(error.message.length < 1200, `${error.message.length} characters`);
      return true;
    });
  });
});

describe("an answer that says more than an etcd has to say", () => {
  const ask = {
    list: (peer: Peer) => peer.member.memberList({ linearizable: false }, { deadline }),
    status: (peer: Peer) => peer.member.status({ deadline }),
    alarms: (peer: Peer) => peer.member.alarms({ deadline }),
  };
  for (const [what, give, asked, words] of [
    ["100 000 members", (stream) => enormous.members(stream, 100_000), ask.list, /more than \d+ bytes|at most/],
    ["500 members", (stream) => enormous.members(stream, 500), ask.list, /500 members.*at most 64/],
    ["a name of 5000 characters", (stream) => enormous.memberName(stream, 5000), ask.list, /5000 characters.*at most/],
    ["a name of a megabyte", (stream) => enormous.memberName(stream, 1 << 20), ask.list, /at most|more than/],
    ["a thousand URLs", (stream) => enormous.urls(stream, 1000), ask.list, /1000 .*URLs.*at most/],
    ["a version of 5000 characters", (stream) => enormous.version(stream, 5000), ask.status, /5000 characters/],
    ["3000 alarms in its status", (stream) => enormous.statusErrors(stream, 3000), ask.status, /3000 .*at most/],
    ["3000 alarms", (stream) => enormous.alarms(stream, 3000), ask.alarms, /3000 alarms.*at most/],
  ] satisfies [string, (stream: ServerHttp2Stream) => void, (peer: Peer) => Promise<unknown>, RegExp][])
    test(`is not taken: ${what}`, async () => {
      await using peer = await peerThat(give);
      await assert.rejects(asked(peer), tooLarge(words));
    });

  test("is not taken: a token that no header can carry", async () => {
    for (const token of ["a\nb", "t".repeat(50_000)]) {
      await using peer = await peerThat((stream, headers) => {
        if (String(headers[":path"]).endsWith("/Authenticate"))
          answer(stream, framed(AuthenticateResponseSchema, { header: hostileHeader, token }));
        else answer(stream, Buffer.alloc(0), { "grpc-status": "3", "grpc-message": "etcdserver: user name is empty" });
      });
      const member = peer.members.at({ url: peer.server.url, login: new Login("root", "x") });
      await assert.rejects(member.status({ deadline }), TransportError);
    }
  });

  test("but a list of as many members as anybody runs is", async () => {
    await using peer = await peerThat((stream) => enormous.members(stream, 64));
    assert.equal((await ask.list(peer)).members.length, 64);
  });

  test("but a value of a key is, as large as etcd takes it", async () => {
    const value = Buffer.alloc(3 << 19, 7);
    await using peer = await peerThat((stream) =>
      answer(stream, framed(RangeResponseSchema, { header: hostileHeader, kvs: [{ key: Buffer.from("k"), value }] })),
    );
    assert.equal((await peer.member.get("k", {}, { deadline }))?.value.length, value.length);
  });
});

type Peer = Awaited<ReturnType<typeof peerThat>>;

test("calls of a member at the same time fail for the same reason", async () => {
  await using peer = await peerThat((stream, headers) => {
    // The other is never answered.
    if (String(headers[":path"]).endsWith("/Status")) endless["messages without end"]?.(stream, headers);
  });
  const [status, health] = await Promise.all([
    peer.member.status({ deadline }).catch((error: unknown) => error),
    peer.member.health({ deadline }),
  ]);
  assert.ok(status instanceof TransportError && health.t === "unhealthy");
  assert.ok(health.error instanceof TransportError);
  assert.deepEqual([status.failure, health.error.failure], ["tooLarge", "tooLarge"]);
});

test("the next call of a member that answered without end has a connection of its own", async () => {
  let hostile = true;
  await using peer = await peerThat((stream, headers) => {
    if (hostile) endless["messages without end"]?.(stream, headers);
    else enormous.version(stream, 5);
  });
  await assert.rejects(peer.member.status({ deadline }), TransportError);
  hostile = false;
  await delay(0);
  assert.equal((await peer.member.status({ deadline })).version, "33333");
  assert.equal(peer.server.sockets.length, 2);
});
