import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { TransportError } from "../transport/errors.ts";
import { startServer, type StreamHandler } from "../transport/testing/local-server.ts";
import type { BeforeSend, EtcdMember } from "./member.ts";
import { memberId } from "./ids.ts";
import { EtcdMembers } from "./members.ts";
import { version } from "./versions/version.ts";

const id = memberId(0x8e9e05c52164694dn);
const refuse: StreamHandler = (stream) => {
  const status = { "grpc-status": "14", "grpc-message": "etcdserver: unhealthy cluster" };
  stream.respond({ ":status": 200, "content-type": "application/grpc", ...status }, { endStream: true });
};

/** Takes a connection at once and lets the server speak on it only when `open` is called. */
async function slowToConnect() {
  let requests = 0;
  const server = await startServer((stream, headers) => {
    requests += 1;
    refuse(stream, headers);
  });
  const gate = Promise.withResolvers<void>();
  const sockets: Socket[] = [];
  const door = createServer((socket) => {
    sockets.push(socket.on("error", () => {}));
    void gate.promise.then(() => socket.pipe(connect(server.port, "127.0.0.1").on("error", () => {})).pipe(socket));
  }).listen(0, "127.0.0.1");
  await once(door, "listening");
  const members = new EtcdMembers();
  return {
    member: members.at({ url: `http://127.0.0.1:${(door.address() as AddressInfo).port}` }),
    dialled: once(door, "connection"),
    open: () => gate.resolve(),
    requests: () => requests,
    async [Symbol.asyncDispose]() {
      members.close();
      for (const socket of sockets) socket.destroy();
      door.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

const calls: Record<string, (member: EtcdMember, beforeSend: BeforeSend) => Promise<unknown>> = {
  status: (member, beforeSend) => member.status({ beforeSend }),
  health: (member, beforeSend) => member.health({ beforeSend }),
  memberList: (member, beforeSend) => member.memberList({ linearizable: true }, { beforeSend }),
  memberAdd: (member, beforeSend) =>
    member.memberAdd({ as: "learner", peerUrls: ["http://a:2380"], oldestServer: version("3.6.16") }, { beforeSend }),
  memberPromote: (member, beforeSend) => member.memberPromote(id, { beforeSend }),
  memberRemove: (member, beforeSend) => member.memberRemove(id, { beforeSend }),
  memberUpdate: (member, beforeSend) => member.memberUpdate(id, ["http://a:2380"], { beforeSend }),
  moveLeader: (member, beforeSend) => member.moveLeader(id, { beforeSend }),
  put: (member, beforeSend) => member.put("a", "1", { beforeSend }),
  snapshot: (member, beforeSend) => member.snapshot(() => {}, { beforeSend }),
};

for (const [name, call] of Object.entries(calls))
  test(`${name} whose leadership was lost while it connected is not sent`, async () => {
    await using peer = await slowToConnect();
    const lost = new Error("leadership lost");
    let leading = true;
    const calling = call(peer.member, () => {
      if (!leading) throw lost;
    });
    const rejected = assert.rejects(calling, (error) => error === lost);
    await peer.dialled;
    leading = false;
    peer.open();
    await rejected;
    assert.equal(peer.requests(), 0);
  });

test("beforeSend is called once for a request that is sent, and never for a member that cannot be reached", async () => {
  let asked = 0;
  const beforeSend = (): void => void (asked += 1);
  await using peer = await slowToConnect();
  peer.open();
  await assert.rejects(peer.member.memberRemove(id, { beforeSend }), /unhealthy cluster/);
  assert.deepEqual([asked, peer.requests()], [1, 1]);
  const members = new EtcdMembers();
  await assert.rejects(members.at({ url: "http://127.0.0.1:1" }).memberRemove(id, { beforeSend }), TransportError);
  members.close();
  assert.equal(asked, 1);
});
