// What certificates that are made, renewed and taken over assume about etcd: who is accepted, which files are read
// when, and that the order of src/tls/trust.ts loses nothing, while another one does.
import assert from "node:assert/strict";
import { once } from "node:events";
import { get } from "node:https";
import { describe, test } from "node:test";
import { type EtcdVersion as Built, etcdVersions } from "../../lab/build/etcd.ts";
import { variableOf } from "../../src/api/etcd-cluster/etcd-flags.ts";
import { plainText, tlsVariables } from "../../src/cluster/objects/tls.ts";
import { EtcdMembers } from "../../src/etcd/members.ts";
import { comesTrue } from "../../src/etcd/testing/world.ts";
import { spellingsToSet } from "../../src/etcd/versions/flags.ts";
import { isAtLeast, version } from "../../src/etcd/versions/version.ts";
import { anchorsIn, bundleFingerprint, signerOf } from "../../src/tls/ca-bundle.ts";
import { makeLeaf } from "../../src/tls/make.ts";
import type { Bundle, KeyPair } from "../../src/tls/pem.ts";
import { nextBundle } from "../../src/tls/trust.ts";
import { TransportError } from "../../src/transport/errors.ts";
import { isMatrix, triedVersions } from "../support/matrix.ts";
import { clientTls, isSame, memberLeaf, newAuthority, peerBundle, servedLeaf } from "./made-certificates.ts";
import { RealEtcd } from "./real-etcd.ts";
import { Writer } from "./writer.ts";

const all = ["m0", "m1", "m2"];
const versions = triedVersions;
/** Where versions do not differ. */
const ends: readonly Built[] = isMatrix ? etcdVersions : ["3.7.3"];

describe("certificates", { concurrency: 3 }, () => {
  for (const built of versions)
    test(`etcd ${built}: members with made certificates serve who has one, and refuse who has none`, async () => {
      const [peers, clients] = [await newAuthority("peers"), await newAuthority("clients")];
      const tls = await clientTls(clients);
      await using etcd = await RealEtcd.startCluster(built, 3, { peerTls: await peerBundle(peers), tls });
      for (const name of all) await etcd.member(name).put(name, "1");
      const url = etcd.clientUrl("m0");
      const isRefused = (error: unknown): boolean => error instanceof TransportError && error.failure === "tls";
      await assert.rejects(
        etcd.members.at({ url, tls: { ca: clients.cert }, serverName: "a.c.ns.svc" }).status(),
        isRefused,
      );
      // A peer's certificate is not a client's: two CAs.
      const stranger = { ca: clients.cert, identity: await memberLeaf(peers) };
      await assert.rejects(etcd.members.at({ url, tls: stranger, serverName: "b.c.ns.svc" }).status(), isRefused);
    });

  // The connection comes from 127.0.0.1, the certificate is for 127.0.0.2: as in a pod whose address has no name in DNS yet.
  for (const built of versions) {
    const names = spellingsToSet(version(built), { t: "flag", name: "peer-skip-client-san-verification" });
    const env = Object.fromEntries(
      names.flatMap((one) =>
        one.t === "flag" ? [[`ETCD_${one.name.toUpperCase().replaceAll("-", "_")}`, "true"]] : [],
      ),
    );
    const options = async (env: Record<string, string>) =>
      ({ peerHost: "127.0.0.2", peerTls: await peerBundle(await newAuthority("peers"), "127.0.0.2"), env }) as const;

    if (names.length > 0)
      test(`etcd ${built}: a peer whose address is not in its certificate is accepted with ${Object.keys(env).join()}`, async () => {
        await using etcd = await RealEtcd.startCluster(built, 2, await options(env));
        await etcd.member("m0").put("key", "1");
      });

    if (names.length === 0 || isMatrix)
      test(`etcd ${built}: without that, or where there is no such variable, it is refused`, async () => {
        await using etcd = await RealEtcd.launchCluster(built, 2, await options({}));
        await comesTrue(
          etcd,
          "it is refused",
          async () => etcd.logOf("m0"),
          (log) => /does not match any of DNSNames/.test(log),
        );
      });
  }

  // A CA of a company signs for many.
  for (const built of versions.filter((one) => isAtLeast(version(one), version("3.4.0"))))
    test(`etcd ${built}: with given certificates a peer is who has one for the cluster, at any address, and nobody else`, async () => {
      const company = await newAuthority("company");
      const tls = { ...plainText, peer: "tls" } as const;
      const set = tlsVariables(version(built), tls, { host: "m0.c.ns.svc", chosen: [] });
      const env = Object.fromEntries(set.map(([flag, value]) => [variableOf(flag), value]));
      const peerTls = await peerBundle(company, "127.0.0.2");
      await using etcd = await RealEtcd.startCluster(built, 2, { peerHost: "127.0.0.2", peerTls, env });
      await etcd.member("m0").put("key", "1");
      // With DNS to ask, etcd takes both of these for peers: one by its address, the other because there is nothing to check.
      const strangers = { names: ["*.other.ns.svc"], ips: ["127.0.0.1"] };
      for (const { names, ips } of [strangers, { names: [], ips: [] }]) {
        const leaf = await makeLeaf(company, { commonName: "other", names, ips, use: "both" }, Date.now());
        await assert.rejects(askedAsPeer(etcd.peerUrl("m0"), leaf, company.cert), names.join());
        await using asked = await RealEtcd.start(built, { peerTls: await peerBundle(company) });
        await askedAsPeer(asked.peerUrl("m0"), leaf, company.cert);
      }
    });

  for (const built of ends)
    test(`etcd ${built}: a renewed certificate is presented without a restart, and no write fails`, async () => {
      const [peers, clients] = [await newAuthority("peers"), await newAuthority("clients")];
      const tls = await clientTls(clients);
      const peerTls = await peerBundle(peers);
      // No write may fail here, so a busy machine must not cost the leader its place.
      const flags = ["--heartbeat-interval=500", "--election-timeout=5000"];
      await using etcd = await RealEtcd.startCluster(built, 3, { peerHost: "localhost", peerTls, tls, flags });
      await using writer = new Writer(etcd, all, { deadline: 30_000 });
      const [peer, server] = [await memberLeaf(peers), await memberLeaf(clients)];
      for (const name of all) {
        await etcd.putCertificates(name, "peer", { ca: peers.cert, pair: peer });
        await etcd.putCertificates(name, "server", { ca: clients.cert, pair: server });
        assert.ok(
          isSame(await servedLeaf(etcd.peerUrl(name), peer), peer.cert),
          `${name} has its old peer certificate`,
        );
        assert.ok(
          isSame(await servedLeaf(etcd.clientUrl(name), server), server.cert),
          `${name} has its old certificate`,
        );
      }
      await using fresh = new AsyncDisposableStack();
      const connections = fresh.adopt(new EtcdMembers(), async (members) => members.close());
      for (const name of all) await etcd.member(name, undefined, connections).put(name, "by a new connection");
      await comesTrue(
        etcd,
        "writes go on",
        async () => writer.acknowledged,
        (count) => count > 150,
      );
      await writer.expectAll();
      assert.equal(writer.failures, 0);
      // Its peers dial it again, and it dials them.
      await etcd.restart("m1");
      await allHealthy(etcd);
    });

  for (const built of ends)
    test(`etcd ${built}: members that were all given certificates of another CA come together as each is restarted`, async () => {
      const [old, next] = [await peerBundle(await newAuthority("old")), await peerBundle(await newAuthority("next"))];
      await using etcd = await RealEtcd.startCluster(built, 3, { peerHost: "localhost", peerTls: old });
      await etcd.member("m0").put("before", "1");
      for (const name of all) await etcd.putCertificates(name, "peer", next);
      const writes = (by: string): Promise<unknown> =>
        comesTrue(
          etcd,
          `${by} takes a write`,
          () => etcd.member(by).put(by, "1", { deadline: 2000 }),
          () => true,
        );
      // One that reaches nobody does not listen to clients until it does.
      const again = async (name: string): Promise<void> => {
        await etcd.stop(name);
        await etcd.startAs(name, built);
      };
      // The others go on by the connections that they have; then the two that were restarted are a majority.
      await again("m0");
      await writes("m1");
      await again("m1");
      await writes("m0");
      await again("m2");
      await allHealthy(etcd);
      assert.equal(String((await etcd.member("m2").get("before"))?.value), "1");
    });

  for (const built of ends)
    test(`etcd ${built}: a changed CA is taken over under writes in the order of trust.ts`, async () => {
      const [old, next] = [await peerBundle(await newAuthority("old")), await peerBundle(await newAuthority("next"))];
      await using etcd = await RealEtcd.startCluster(built, 3, { peerHost: "localhost", peerTls: old });
      await using writer = new Writer(etcd, all);
      const steps = await takeOver(etcd, old, next);
      assert.deepEqual(steps, ["write", "roll", "roll", "roll", "write", "write", "roll", "roll", "roll"]);
      await writer.expectAll();
    });

  test("in the wrong order a member that was restarted is cut off from the others", async () => {
    const [old, next] = [await peerBundle(await newAuthority("old")), await peerBundle(await newAuthority("next"))];
    await using etcd = await RealEtcd.startCluster("3.7.3", 3, { peerTls: old });
    await etcd.stop("m1");
    await etcd.putCertificates("m1", "peer", next);
    await etcd.startAs("m1", "3.7.3");
    for (const name of ["m0", "m1"])
      await comesTrue(
        etcd,
        `${name} refuses the other's certificate`,
        async () => etcd.logOf(name),
        (log) => /certificate signed by unknown authority/.test(log),
      );
    await assert.rejects(etcd.member("m1").put("key", "1", { deadline: 2000 }));
  });
});

/** Resolves when a member answers as it answers its peers. */
async function askedAsPeer(url: string, { cert, key }: KeyPair, ca: string): Promise<void> {
  const asked = get(`${url}/version`, { cert, key, ca, servername: "m0.c.ns.svc", agent: false });
  // Its error is followed by nothing that anybody still waits for.
  asked.on("error", () => undefined);
  const [answer] = await once(asked, "response", { signal: AbortSignal.timeout(20_000) });
  asked.destroy();
  assert.equal(answer.statusCode, 200);
}

/** Does what an operator does, with checks on the wire; says what it did. Files of all members change at once here. */
async function takeOver(etcd: RealEtcd, first: Bundle, wanted: Bundle): Promise<string[]> {
  const read = new Map(all.map((name) => [name, first.ca]));
  const steps: string[] = [];
  for (let effective = first; ; ) {
    const served = await Promise.all(all.map((name) => servedLeaf(etcd.peerUrl(name), effective.pair)));
    const current = effective.ca;
    const next = nextBundle({
      effective,
      wanted,
      trusted: [...read.values()].map(bundleFingerprint),
      anchors: [...read.values()].map(anchorsIn),
      presented: served.map((leaf) => signerOf(leaf, current)),
      now: Date.now(),
    });
    if (next.t === "settled") return steps;
    assert.notEqual(next.t, "waitForLeaf");
    if (next.t === "write") {
      steps.push("write");
      effective = next.bundle;
      for (const name of all) await etcd.putCertificates(name, "peer", effective);
    } else {
      const due = all.find((name) => bundleFingerprint(read.get(name) ?? "") !== bundleFingerprint(current));
      assert.ok(due !== undefined);
      steps.push("roll");
      await etcd.stop(due);
      // The others are a quorum without it: they reach each other whatever each of them has read so far.
      await comesTrue(
        etcd,
        `a write succeeds without ${due}`,
        () => etcd.member(all.find((name) => name !== due) ?? "").put("quorum", due),
        () => true,
      );
      await etcd.revive(due);
      read.set(due, current);
      await allHealthy(etcd);
    }
  }
}

async function allHealthy(etcd: RealEtcd): Promise<void> {
  for (const name of all)
    await comesTrue(
      etcd,
      `${name} is healthy`,
      () => etcd.member(name).health(),
      ({ t }) => t === "healthy",
    );
}
