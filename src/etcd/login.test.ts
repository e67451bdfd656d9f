// How often the client logs in, and where: at a server that counts.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { TransportError } from "../transport/errors.ts";
import { startServer, type StreamHandler } from "../transport/testing/local-server.ts";
import { EtcdError } from "./errors.ts";
import { frame } from "./frames.ts";
import {
  AuthenticateRequestSchema,
  AuthenticateResponseSchema,
  AuthUserGetResponseSchema,
  StatusResponseSchema,
} from "./gen/etcdserverpb/rpc_pb.ts";
import { Login } from "./login.ts";
import { EtcdMembers } from "./members.ts";

/** What a server says to whom. Tokens are numbered over all servers of a cluster. */
class Cluster {
  readonly asked: string[] = [];
  auth: "on" | "off" = "on";
  password = "right";
  roles: string[] = ["root"];
  /** The newest token; older ones are not good any more. */
  token = 0;

  member(options: { readonly learner?: boolean; readonly isSilent?: () => boolean } = {}): StreamHandler {
    return (stream, headers) => {
      const method = String(headers[":path"]).split("/").at(-1) ?? "";
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        this.asked.push(method);
        if (options.isSilent?.() === true || this.#isAhead(headers["token"])) return;
        const body = this.#answer(
          method,
          headers["token"],
          Buffer.concat(chunks).subarray(5),
          options.learner === true,
        );
        const [status, message] = typeof body === "string" ? ["2", body] : ["0", ""];
        stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
        stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": status, "grpc-message": message }));
        stream.end(typeof body === "string" ? undefined : frame(body));
      });
    };
  }

  /** etcd lets a call with such a token wait until its log is as long. */
  #isAhead(token: unknown): boolean {
    return Number(/^token\.(?<number>\d+)$/.exec(String(token))?.groups?.["number"] ?? 0) > this.token;
  }

  #answer(method: string, token: unknown, body: Uint8Array, learner: boolean): Uint8Array | string {
    if (method === "Authenticate") return this.#authenticate(body, learner);
    if (this.auth === "on" && token === undefined) return "etcdserver: user name is empty";
    if (token !== undefined && (this.auth === "off" || token !== `token.${this.token}`))
      return "etcdserver: invalid auth token";
    if (method === "UserGet")
      return toBinary(AuthUserGetResponseSchema, create(AuthUserGetResponseSchema, { roles: this.roles }));
    return toBinary(StatusResponseSchema, create(StatusResponseSchema, { header: {}, version: "3.6.16" }));
  }

  #authenticate(body: Uint8Array, learner: boolean): Uint8Array | string {
    if (learner) return "etcdserver: rpc not supported for learner";
    if (this.auth === "off") return "etcdserver: authentication is not enabled";
    if (fromBinary(AuthenticateRequestSchema, body).password !== this.password)
      return "etcdserver: authentication failed, invalid user ID or password";
    this.token += 1;
    const response = create(AuthenticateResponseSchema, { token: `token.${this.token}` });
    return toBinary(AuthenticateResponseSchema, response);
  }

  /** How often each was asked for since the last time. */
  counts(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const method of this.asked.splice(0)) counts[method] = (counts[method] ?? 0) + 1;
    return counts;
  }
}

async function serve(...handlers: StreamHandler[]) {
  const servers = await Promise.all(handlers.map((handler) => startServer(handler)));
  const clock = { now: 0 };
  const members = new EtcdMembers({ now: () => clock.now });
  return {
    clock,
    at: (login: Login, which = 0) => members.at({ url: servers[which]?.url ?? "", login }),
    async [Symbol.asyncDispose]() {
      members.close();
      for (const server of servers) await server[Symbol.asyncDispose]();
    },
  };
}

const isReason = (wanted: EtcdError["reason"]) => (error: unknown) =>
  error instanceof EtcdError && error.reason === wanted;
const isDeadline = (error: unknown) => error instanceof TransportError && error.failure === "deadline";
const right = (): Login => new Login("root", "right");

describe("a login", () => {
  test("is not made where nobody asks for it", async () => {
    const cluster = new Cluster();
    cluster.auth = "off";
    await using peer = await serve(cluster.member());
    await peer.at(right()).status();
    assert.deepEqual(cluster.counts(), { Status: 1 });
  });

  test("is made once, for calls at the same time and for all members", async () => {
    const cluster = new Cluster();
    await using peer = await serve(cluster.member(), cluster.member());
    const login = right();
    await Promise.all([peer.at(login).status(), peer.at(login).status()]);
    assert.deepEqual(cluster.counts(), { Status: 4, Authenticate: 1, UserGet: 1 });
    await peer.at(login).status();
    await peer.at(login, 1).status();
    assert.deepEqual(cluster.counts(), { Status: 2 });
    await peer.at(right()).status();
    assert.deepEqual(cluster.counts(), { Status: 2, Authenticate: 1, UserGet: 1 }, "another object, another session");
  });

  test("is renewed once when its token has ended, and forgotten when authentication is off", async () => {
    const cluster = new Cluster();
    await using peer = await serve(cluster.member());
    const login = right();
    await peer.at(login).status();
    cluster.counts();
    cluster.token += 1;
    await peer.at(login).status();
    assert.deepEqual(cluster.counts(), { Status: 2, Authenticate: 1, UserGet: 1 });
    cluster.auth = "off";
    await peer.at(login).status();
    assert.deepEqual(cluster.counts(), { Status: 2, Authenticate: 1 });
    await peer.at(login).status();
    assert.deepEqual(cluster.counts(), { Status: 1 });
  });

  test("that is refused is not tried again for 5 s", async () => {
    const cluster = new Cluster();
    await using peer = await serve(cluster.member());
    const wrong = new Login("root", "wrong");
    for (let call = 0; call < 3; call += 1) await assert.rejects(peer.at(wrong).status(), isReason("wrongPassword"));
    assert.deepEqual(cluster.counts(), { Status: 3, Authenticate: 1 });
    cluster.password = "wrong";
    await assert.rejects(peer.at(wrong).status(), isReason("wrongPassword"));
    peer.clock.now += 5000;
    await peer.at(wrong).status();
    assert.deepEqual(cluster.counts(), { Status: 3, Authenticate: 1, UserGet: 1 });
  });

  test("of a user without the role root is refused", async () => {
    const cluster = new Cluster();
    cluster.roles = ["reader"];
    await using peer = await serve(cluster.member());
    await assert.rejects(peer.at(right()).status(), isReason("notRoot"));
  });

  test("is repeated when its token is of a cluster that was there before, which one from a backup lets wait", async () => {
    const cluster = new Cluster();
    await using peer = await serve(cluster.member());
    const login = right();
    await peer.at(login).status();
    cluster.token = 0;
    cluster.counts();
    await assert.rejects(peer.at(login).status({ deadline: 500 }), isDeadline);
    await peer.at(login).status();
    assert.deepEqual(cluster.counts(), { Status: 3, Authenticate: 1, UserGet: 1 });
  });

  test("is kept while one member is silent and another answers", async () => {
    const cluster = new Cluster();
    let silent = false;
    await using peer = await serve(cluster.member(), cluster.member({ isSilent: () => silent }));
    const login = right();
    for (const which of [0, 1]) await peer.at(login, which).status();
    cluster.counts();
    silent = true;
    const unanswered = assert.rejects(peer.at(login, 1).status({ deadline: 500 }), isDeadline);
    await peer.at(login).status();
    await unanswered;
    await peer.at(login).status();
    assert.deepEqual(cluster.counts(), { Status: 3 });
  });

  test("that a learner asks for is made at a voter", async () => {
    const cluster = new Cluster();
    await using peer = await serve(cluster.member(), cluster.member({ learner: true }));
    const login = right();
    await assert.rejects(peer.at(login, 1).status(), isReason("notServedByLearner"), "no voter is known");
    await Promise.all([peer.at(login).status(), peer.at(login).status()]);
    cluster.token += 1; // the learner was sent a snapshot, which has no tokens
    await peer.at(login, 1).status();
    await peer.at(login).status();
  });
});
