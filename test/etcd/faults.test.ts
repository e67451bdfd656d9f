// The etcd client against real servers that die, freeze, do not answer or do not trust it.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { before, describe, test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { EtcdError } from "../../src/etcd/errors.ts";
import { EtcdMembers } from "../../src/etcd/members.ts";
import { TransportError } from "../../src/transport/errors.ts";
import { createAuthority, type Pem, type TestAuthority } from "../../src/transport/testing/certificates.ts";
import { comesTrue } from "../../src/etcd/testing/world.ts";
import { RealEtcd } from "./real-etcd.ts";

const fails =
  (...failures: TransportError["failure"][]) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof TransportError, String(error));
    assert.ok(failures.includes(error.failure), `${error.failure}: ${error.message}`);
    return true;
  };

describe("a server that dies", () => {
  test("fails calls in flight, is unreachable at once, and is reached again when it is back", async () => {
    await using etcd = await RealEtcd.start("3.6.16");
    const m0 = etcd.member("m0");
    await m0.put("a", "1");
    for (let at = 0; at < 8; at += 1) await m0.put(`big/${at}`, Buffer.alloc(1 << 20));
    const killed = Promise.withResolvers<void>();
    const snapshot = m0.snapshot(() => killed.promise);
    const broken = assert.rejects(snapshot, fails("broken"));
    await etcd.kill("m0");
    killed.resolve();
    await broken;
    await assert.rejects(m0.status(), fails("unreachable", "broken"));
    await assert.rejects(m0.status(), fails("unreachable"));
    await etcd.revive("m0");
    await comesTrue(
      etcd,
      "it answers",
      () => m0.get("a"),
      (seen) => seen !== undefined,
    );
  });
});

describe("a server that is frozen", () => {
  test("ends a call at its deadline, and a stream when it does not answer pings", async () => {
    await using etcd = await RealEtcd.start("3.7.3");
    for (let at = 0; at < 32; at += 1) await etcd.member("m0").put(`big/${at}`, Buffer.alloc(1 << 20));
    const observed: string[] = [];
    const members = new EtcdMembers({ observe: ({ type }) => void observed.push(type) });
    try {
      const m0 = etcd.member("m0", undefined, members);
      const stopped = Promise.withResolvers<void>();
      const snapshot = m0.snapshot(async () => {
        await etcd.freeze("m0");
        stopped.resolve();
      });
      const dead = assert.rejects(snapshot, fails("dead"));
      await stopped.promise;
      await assert.rejects(m0.status({ deadline: 500 }), fails("deadline"));
      await dead;
      assert.ok(observed.includes("dead"));
      etcd.thaw("m0");
      assert.equal((await m0.status()).learner, false);
    } finally {
      etcd.thaw("m0");
      members.close();
    }
  });
});

describe("an address that accepts connections and does not answer", () => {
  test("fails after the connect timeout", async () => {
    const silent = createServer(() => {}).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const address = silent.address();
    assert.ok(typeof address === "object" && address);
    const members = new EtcdMembers({ connectTimeout: 300 });
    try {
      const member = members.at({ url: `http://127.0.0.1:${address.port}` });
      await assert.rejects(member.status({ deadline: 60_000 }), fails("connectTimeout"));
      const health = await member.health({ deadline: 60_000 });
      assert.ok(health.t === "unhealthy" && health.error instanceof TransportError && health.error.neverSent);
    } finally {
      members.close();
      silent.close();
    }
  });
});

describe("a server with certificates", () => {
  let authority: TestAuthority;
  let stranger: TestAuthority;
  let server: Pem;
  let operator: Pem;
  before(async () => {
    authority = await createAuthority("etcd");
    stranger = await createAuthority("stranger");
    server = await authority.issue("m0", { hosts: ["m0.etcd.ns.svc"] });
    operator = await authority.issue("operator");
  });

  for (const built of ["3.7.3", "3.4.23"] as const)
    test(`of ${built} is trusted by name, and trusts only those whom its authority signed`, async () => {
      const serverName = "m0.etcd.ns.svc";
      const good = { ca: authority.cert, identity: operator };
      await using etcd = await RealEtcd.start(built, {
        tls: { server: { ...server, clientCa: authority.cert }, client: good, serverName },
      });
      await etcd.member("m0").put("a", "1");
      const url = etcd.clientUrl("m0");
      const refused = async (endpoint: Parameters<EtcdMembers["at"]>[0]): Promise<void> => {
        const members = new EtcdMembers();
        try {
          await assert.rejects(members.at(endpoint).status(), fails("tls"));
        } finally {
          members.close();
        }
      };
      await refused({ url, tls: good });
      await refused({ url, serverName: "m1.etcd.ns.svc", tls: good });
      await refused({ url, serverName, tls: { ...good, ca: stranger.cert } });
      await refused({ url, serverName, tls: { ca: authority.cert, identity: await stranger.issue("operator") } });
      await refused({ url, serverName, tls: { ca: authority.cert } });
      await refused({
        url,
        serverName,
        tls: { ca: authority.cert, identity: await authority.issue("operator", { expired: true }) },
      });
    });
});

describe("a large database", () => {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  // The first collection frees buffers in the background; the second waits for it.
  const held = (): number => {
    assert.ok(typeof collect === "function");
    collect();
    collect();
    return process.memoryUsage().arrayBuffers;
  };

  test("streams through a slow receiver without being held in memory, complete and with its checksum", async () => {
    await using etcd = await RealEtcd.start("3.7.3");
    const m0 = etcd.member("m0");
    const megabyte = 1 << 20;
    for (let at = 0; at < 64; at += 1) await m0.put(`big/${at}`, Buffer.alloc(megabyte, at));
    const hash = createHash("sha256");
    let bytes = 0;
    let checked = 0;
    const seen = [held()];
    const snapshot = await m0.snapshot(async (piece) => {
      await new Promise((resolve) => setImmediate(resolve));
      hash.update(piece);
      bytes += piece.length;
      if (bytes - checked < 8 * megabyte) return;
      checked = bytes;
      seen.push(held());
    });
    assert.ok(bytes > 64 * megabyte, `${bytes} bytes`);
    assert.equal(snapshot.bytes, bytes);
    assert.equal(snapshot.sha256, hash.digest("hex"));
    const most = Math.max(...seen) - Math.min(...seen);
    assert.ok(most < 12 * megabyte, `${most} bytes were held of ${bytes}`);
    // A counter-check: memory that is held shows.
    const empty = held();
    const ballast = Buffer.alloc(64 * megabyte);
    const full = held();
    assert.ok(full - empty > ballast.length / 2, `${full} bytes after ${empty}`);
  });
});

describe("a request that is too large", () => {
  test("is refused as such, above etcd's limit and above gRPC's", async () => {
    await using etcd = await RealEtcd.start("3.5.35");
    for (const size of [1.6, 3])
      await assert.rejects(
        etcd.member("m0").put("large", Buffer.alloc(size * (1 << 20))),
        (error) => error instanceof EtcdError && error.reason === "requestTooLarge" && error.refused,
      );
    assert.equal(await etcd.member("m0").get("large"), undefined);
  });
});
