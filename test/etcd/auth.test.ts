// What the operator takes for granted of servers whose own authentication is on: that its probes need no login, that it can
// manage the members with one, that a new member which knows no token gets one, and that a certificate is a login.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { EtcdVersion as Built } from "../../lab/build/etcd.ts";
import { Login } from "../../src/etcd/login.ts";
import { EtcdMembers } from "../../src/etcd/members.ts";
import { comesTrue, grow, refuses, removed } from "../../src/etcd/testing/world.ts";
import { has, type Probe, probesOf } from "../../src/etcd/versions/features.ts";
import { version } from "../../src/etcd/versions/version.ts";
import { createAuthority, type TestAuthority } from "../../src/transport/testing/certificates.ts";
import { triedVersions } from "../support/matrix.ts";
import { patient } from "./patient-member.ts";
import { RealEtcd } from "./real-etcd.ts";

const root = new Login("root", "of-root");

async function enableAuth(etcd: RealEtcd): Promise<void> {
  await etcd.setUser(root, ["root"]);
  await etcd.enableAuth(root);
}

/** As a kubelet asks: without a login. */
async function passes(etcd: RealEtcd, probe: Probe): Promise<boolean> {
  if (probe.on === "clientPort") return true;
  const base = probe.on === "metrics" ? etcd.metricsUrl("m0") : etcd.clientUrl("m0");
  return (await fetch(`${base}${probe.path}`)).ok;
}

async function manageMembers(built: Built): Promise<void> {
  const v = version(built);
  // So few entries that a new member is sent a snapshot, which holds no tokens: login.ts says why not before 3.4.
  const flags = has(v, "learners") ? ["--snapshot-count=5"] : [];
  await using etcd = await RealEtcd.start(built, { flags });
  await enableAuth(etcd);
  for (const probe of Object.values(probesOf(v)))
    assert.ok(await passes(etcd, probe), `${JSON.stringify(probe)} asks for a login`);
  const m0 = etcd.member("m0", root);
  for (let n = 0; n < 30; n += 1) await m0.put(`key/${n}`, "value");
  const { id } = await grow(etcd, "m1", root);
  const m1 = etcd.member("m1", root);
  assert.equal((await m1.status()).memberId, id);
  assert.equal((await m1.list("key/")).keys.length, 30);
  await refuses(etcd.member("m1").memberRemove(id), "authRequired");
  await removed(etcd, m0, id);
  assert.equal((await m0.memberList({ linearizable: true })).members.length, 1);
  if (has(v, "hashKv")) assert.ok((await m0.hashKv(0)).revision > 30);
}

describe("authentication on real servers", { concurrency: 3 }, () => {
  let authority: TestAuthority;
  before(async () => {
    authority = await createAuthority("etcd");
  });

  for (const built of triedVersions) {
    test(`${built}: probes pass, and members come and go`, () => manageMembers(built));

    test(`${built}: a token of another cluster, with a longer log, costs one call`, async () => {
      await using old = await RealEtcd.start(built);
      await using restored = await RealEtcd.start(built);
      const members = new EtcdMembers();
      try {
        for (const etcd of [old, restored]) await enableAuth(etcd);
        const at = (etcd: RealEtcd) => members.at({ url: etcd.clientUrl("m0"), login: root });
        for (let n = 0; n < 30; n += 1) await old.member("m0", root).put(`key/${n}`, "value");
        await at(old).put("key", "value");
        await assert.rejects(at(restored).put("key", "value", { deadline: 500 }));
        await patient(at(restored)).put("key", "value");
      } finally {
        members.close();
      }
    });

    test(`${built}: the name in a client certificate is a login, if it is a user's, and another login goes before it`, async () => {
      const v = version(built);
      const server = await authority.issue("server", { hosts: ["127.0.0.1"] });
      const certificateOf = async (name: string) => ({ ca: authority.cert, identity: await authority.issue(name) });
      const [asRoot, asOperator] = await Promise.all([certificateOf("root"), certificateOf("operator")]);
      await using etcd = await RealEtcd.start(built, {
        tls: { server: { ...server, clientCa: authority.cert }, client: asRoot },
      });
      await enableAuth(etcd);
      const own = etcd.member("m0");
      const { memberId } = await own.status();
      await own.memberUpdate(memberId, [etcd.peerUrl("m0")]);
      assert.deepEqual(await own.health(), { t: "healthy" });
      const members = new EtcdMembers();
      try {
        const url = etcd.clientUrl("m0");
        const nobody = members.at({ url, tls: asOperator });
        await refuses(nobody.put("key", "value"), "permissionDenied");
        await refuses(nobody.memberUpdate(memberId, [etcd.peerUrl("m0")]), "permissionDenied");
        const health = await nobody.health();
        assert.equal(health.t === "healthy" && health.refused?.reason, "permissionDenied");
        const loggedIn = members.at({ url, tls: asOperator, login: root });
        if (v.minor === 2) {
          await refuses(loggedIn.put("key", "value"), "notRoot");
          return;
        }
        await loggedIn.memberUpdate(memberId, [etcd.peerUrl("m0")]);
        await comesTrue(
          etcd,
          "it is let in",
          () => loggedIn.health(),
          (seen) => seen.t === "healthy" && seen.refused === undefined,
        );
      } finally {
        members.close();
      }
    });
  }
});
