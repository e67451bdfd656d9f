// Turning TLS on and off in a cluster that serves, as far as it is a matter of etcd: between members in two passes, towards
// clients in one.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { EtcdVersion as Built } from "../../lab/build/etcd.ts";
import { comesTrue, grow, removed } from "../../src/etcd/testing/world.ts";
import type { Bundle } from "../../src/tls/pem.ts";
import { isMatrix } from "../support/matrix.ts";
import { clientTls, newAuthority, peerBundle } from "./made-certificates.ts";
import { RealEtcd } from "./real-etcd.ts";
import { Writer } from "./writer.ts";

const all = ["m0", "m1", "m2"];
const every: readonly Built[] = ["3.4.23", "3.5.35", "3.6.16", "3.7.3"];
const versions: readonly Built[] = isMatrix ? every : ["3.7.3"];
const oneOfThem: readonly Built[] = isMatrix ? every : ["3.5.35"];

describe("turning TLS on and off", { concurrency: 3 }, () => {
  for (const built of versions)
    test(`etcd ${built}: peers, by restarts: certificates first, then https, under writes; and back`, async () => {
      await using etcd = await RealEtcd.startCluster(built, 3);
      await using writer = new Writer(etcd, all);
      const bundle = await peerBundle(await newAuthority("peers"));
      for (const name of all) await prepare(etcd, name, bundle);
      for (const name of all) await moveTo("https", etcd, name);
      assert.deepEqual(await schemes(etcd), ["https", "https", "https"]);
      for (const name of all) await moveTo("http", etcd, name);
      for (const name of all) {
        const none = Object.keys(etcd.tlsFlags(name, "peer")).map((flag) => [flag, undefined]);
        etcd.setFlags(name, Object.fromEntries(none));
        await restart(etcd, name);
      }
      await writer.expectAll();
    });

  for (const built of oneOfThem)
    test(`etcd ${built}: peers, by replacement: a member with an https URL joins those that have certificates`, async () => {
      await using etcd = await RealEtcd.startCluster(built, 3);
      const bundle = await peerBundle(await newAuthority("peers"));
      for (const name of all) await prepare(etcd, name, bundle);
      await using writer = new Writer(etcd, ["m0", "m2", "m0"]);
      await useHttps(etcd, "m3", bundle);
      await grow(etcd, "m3");
      const { members } = await etcd.member("m0").memberList({ linearizable: true });
      const leaving = members.find(({ name }) => name === "m1");
      assert.ok(leaving);
      await removed(etcd, etcd.member("m0"), leaving.id);
      await etcd.stop("m1");
      assert.deepEqual((await schemes(etcd)).sort(), ["http", "http", "https"]);
      await writer.expectAll();
    });

  test("peers without certificates refuse a member with an https URL", async () => {
    await using etcd = await RealEtcd.start("3.7.3");
    await useHttps(etcd, "m1", await peerBundle(await newAuthority("peers")));
    const peerUrls = [etcd.peerUrl("m1")];
    await etcd.member("m0").memberAdd({ as: "learner", peerUrls, oldestServer: etcd.version });
    await etcd.launch("m1");
    await comesTrue(
      etcd,
      "it is refused",
      async () => etcd.logOf("m0"),
      (log) => /certificate signed by unknown authority/.test(log),
    );
  });

  for (const built of oneOfThem)
    test(`etcd ${built}: members with https and with http towards clients serve side by side`, async () => {
      const tls = await clientTls(await newAuthority("clients"));
      await using etcd = await RealEtcd.startCluster(built, 3, { tls });
      const none = Object.keys(etcd.tlsFlags("m1", "server")).map((flag) => [flag, undefined]);
      etcd.setFlags("m1", Object.fromEntries(none));
      await etcd.stop("m1");
      etcd.listenForClientsWith("m1", "http");
      await etcd.revive("m1");
      assert.deepEqual(
        all.map((name) => new URL(etcd.clientUrl(name)).protocol),
        ["https:", "http:", "https:"],
      );
      await etcd.member("m1").put("by", "http");
      assert.equal((await etcd.member("m0").list("by")).keys.length, 1);
    });
});

/** First step: it has a certificate to dial https with, and listens on http as before. */
async function prepare(etcd: RealEtcd, name: string, bundle: Bundle): Promise<void> {
  await etcd.putCertificates(name, "peer", bundle);
  etcd.setFlags(name, etcd.tlsFlags(name, "peer"));
  await restart(etcd, name);
  assert.match(etcd.logOf(name), /scheme is HTTP while|is HTTP while peer key\/cert files are presented/);
}

/** Second step: another URL in the list of members, then the listener. */
async function moveTo(scheme: "http" | "https", etcd: RealEtcd, name: string): Promise<void> {
  const other = etcd.member(all.find((one) => one !== name) ?? "");
  const { members } = await other.memberList({ linearizable: true });
  const own = members.find(({ peerUrls }) => peerUrls.includes(etcd.peerUrl(name)));
  assert.ok(own);
  etcd.listenForPeersWith(name, scheme);
  await other.memberUpdate(own.id, [etcd.peerUrl(name)]);
  await restart(etcd, name);
}

async function useHttps(etcd: RealEtcd, name: string, bundle: Bundle): Promise<void> {
  await etcd.putCertificates(name, "peer", bundle);
  etcd.setFlags(name, etcd.tlsFlags(name, "peer"));
  etcd.listenForPeersWith(name, "https");
}

async function restart(etcd: RealEtcd, name: string): Promise<void> {
  await etcd.restart(name);
  for (const one of all)
    await comesTrue(
      etcd,
      `${one} is healthy`,
      () => etcd.member(one).health(),
      ({ t }) => t === "healthy",
    );
}

/** The member that was stopped last may have been the leader: the others answer when they have elected another. */
async function schemes(etcd: RealEtcd): Promise<string[]> {
  const { members } = await comesTrue(
    etcd,
    "the members are listed",
    () => etcd.member("m0").memberList({ linearizable: true }),
    () => true,
  );
  return members.flatMap(({ peerUrls }) => peerUrls.map((url) => new URL(url).protocol.slice(0, -1)));
}
