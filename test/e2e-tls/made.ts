// Certificates that the operator makes: who is let in, leaves and CAs that are replaced under a writer, a cluster that gets
// TLS and loses it again.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EtcdCluster } from "../../src/api/etcd-cluster/etcd-cluster.ts";
import { decoded } from "../../src/cluster/objects/secrets.ts";
import { Secret } from "../../src/kube/objects/kinds.ts";
import { waitFor } from "../../lab/progress.ts";
import type { TestCluster } from "../e2e/support/cluster.ts";
import { clientTlsOf } from "../e2e/support/endpoints.ts";
import { etcdMembers, kube, patience, patiently } from "../e2e/support/environment.ts";
import { untilRolled } from "../e2e/proofs/rolled.ts";
import { isMatrix } from "../support/matrix.ts";
import { madeApart } from "./apart.ts";
import { condition, leaf, overwrite, tlsLane, untilPresented } from "./support.ts";

export function made(): void {
  describe("made", { concurrency: 1 }, () => {
    const the = tlsLane("made", { size: 3, TLS: { auto: true } });

    test("only who has a certificate of the cluster's CA is let in", async () => {
      const { cluster } = the();
      const { members } = await cluster.untilHealthy();
      const tls = await clientTlsOf(cluster.key);
      const [first] = members;
      assert.ok(tls && first);
      const serverName = `${first.name}.${cluster.name}.${cluster.namespace}.svc`;
      const url = `https://${first.address}:2379`;
      await etcdMembers.at({ url, serverName, tls }).get("/", {}, patiently);
      for (const refused of [{ url, serverName, tls: { ca: tls.ca } }, { url: `http://${first.address}:2379` }])
        await assert.rejects(etcdMembers.at(refused).get("/", {}, { deadline: 2000 }));
    });

    test("the status names the Secret for applications, and endpoints with https", async () => {
      const { cluster } = the();
      const { status } = await cluster.get();
      assert.equal(status?.clientSecret, "made-client-tls");
      assert.match(status?.clientSecretChecksum ?? "", /^[0-9a-f]+$/);
      assert.ok(status?.clientEndpoints?.every((url) => url.startsWith("https://")));
      await cluster.until(
        "to have valid certificates",
        (now) => condition(now, "CertificatesValid")?.status === "True",
      );
      const { type, data = {} } = await kube.get(Secret, { ...cluster.key, name: "made-client-tls" });
      assert.equal(type, "kubernetes.io/tls");
      for (const name of ["tls.crt", "tls.key", "ca.crt"]) assert.ok(data[name], name);
    });

    const holdUps = [
      ["is paused", { paused: true }, { paused: false }, (now: EtcdCluster) => now.status?.controlPaused === true],
      [
        "has a wrong spec",
        { etcd: { extraArgs: ["--no-such-flag=1"] } },
        { etcd: { extraArgs: null } },
        (now: EtcdCluster) => condition(now, "Ready")?.reason === "InvalidSpec",
      ],
    ] as const;
    for (const [how, held, released, isSeen] of isMatrix ? holdUps : holdUps.slice(0, 1))
      test(`a leaf that is due is renewed while clients write and the cluster ${how}, and no pod restarts`, async () => {
        const { cluster, writer } = the();
        const before = await cluster.untilHealthy();
        const presented = (address: string) => untilPresented(`https://${address}:2380`);
        const [first] = before.members;
        assert.ok(first);
        const old = await presented(first.address);
        await kube.mergePatch(EtcdCluster, cluster.key, { spec: held });
        await cluster.until("to be held up", isSeen);
        // As if two thirds of its life were over.
        const secret = await kube.get(Secret, { ...cluster.key, name: "made-peer-ca" });
        const { "ca.crt": cert = "", "ca.key": key = "" } = decoded(secret);
        const due = await leaf({ cert, key }, { use: "both", of: cluster.key, at: Date.now() - 61 * 86_400_000 });
        const data = { ...secret.data, "peer.crt": base64(due.cert), "peer.key": base64(due.key) };
        await overwrite(secret, data);
        for (const { address } of before.members)
          await waitFor(
            `${address} to present another certificate`,
            async () => ((await presented(address)).fingerprint !== old.fingerprint ? true : undefined),
            { timeoutMs: patience },
          );
        await kube.mergePatch(EtcdCluster, cluster.key, { spec: released });
        const after = await cluster.untilHealthy();
        assert.deepEqual(untouched(after), untouched(before));
        await writer.nothingIsLost();
        writer.oneRetryWasEnough();
      });

    test("a Secret that somebody damaged is written again, what others added to it stays, and no pod restarts", async () => {
      const { cluster, writer } = the();
      const before = await cluster.untilHealthy();
      const { data: { "server.key": foreign = "" } = {} } = await kube.get(Secret, {
        ...cluster.key,
        name: "made-server-tls",
      });
      const metadata = { labels: { team: "shop" }, annotations: { "replicator.example.com/to": "other" } };
      for (const [name, file] of [
        ["made-peer-tls", "peer.key"],
        ["made-operator-tls", "etcd-client.key"],
      ] as const) {
        const key = { ...cluster.key, name };
        await kube.mergePatch(Secret, key, { metadata, data: { [file]: foreign, "their.jks": foreign } });
        const mended = await waitFor(
          `${name} to be written again`,
          async () => {
            const secret = await kube.get(Secret, key);
            return secret.data?.[file] === foreign ? undefined : secret;
          },
          { timeoutMs: patience },
        );
        assert.equal(mended.metadata?.labels?.["team"], "shop");
        assert.equal(mended.metadata.annotations?.["replicator.example.com/to"], "other");
        assert.equal(mended.data?.["their.jks"], foreign);
        assert.equal(mended.metadata.labels["etcd_cluster"], cluster.name);
      }
      assert.deepEqual(untouched(await cluster.untilHealthy()), untouched(before));
      await writer.nothingIsLost();
    });

    test("both CAs are replaced while clients write", async () => {
      const { cluster, writer } = the();
      const before = await clientTlsOf(cluster.key);
      const annotations = { "etcd.database.coreos.com/rotate-ca": "1" };
      await kube.mergePatch(EtcdCluster, cluster.key, { metadata: { annotations } });
      await waitFor(
        "the CAs to be replaced",
        async () => {
          const now = await clientTlsOf(cluster.key);
          const { reason } = condition(await cluster.get(), "CertificatesValid") ?? {};
          const isNew = now !== undefined && before !== undefined && !now.ca.includes(before.ca.trim());
          return isNew && reason === "Valid" ? true : undefined;
        },
        { timeoutMs: 4 * patience, everyMs: 500 },
      );
      await cluster.untilHealthy();
      await writer.nothingIsLost();
      writer.oneRetryWasEnough();
    });

    madeApart(the);

    test("no key is in a log, an event or the status", async () => {
      const { cluster, lines } = the();
      const events = await cluster.events();
      const texts = [...lines, ...events.map(({ note }) => note ?? ""), JSON.stringify(await cluster.get())];
      assert.ok(!texts.some((text) => /PRIVATE KEY|BEGIN CERT|LS0tLS1/.test(text)));
    });
  });

  describe("turned on and off", { concurrency: 1 }, () => {
    const the = tlsLane("switched", { size: 3 });

    test("a cluster that serves gets TLS towards peers and clients, and nothing is lost", async () => {
      const { cluster, writer } = the();
      await cluster.edit({ TLS: { auto: true } });
      const { members } = await untilRolled(cluster);
      const { status } = await cluster.get();
      assert.ok(status?.clientEndpoints?.every((url) => url.startsWith("https://")));
      // Peers speak TLS.
      for (const { address } of members) await untilPresented(`https://${address}:2380`);
      await writer.nothingIsLost();
    });

    test("and loses it again", async () => {
      const { cluster, writer } = the();
      await kube.mergePatch(EtcdCluster, cluster.key, { spec: { TLS: null } });
      await untilRolled(cluster);
      const { status } = await cluster.get();
      assert.ok(status?.clientEndpoints?.every((url) => url.startsWith("http://")));
      await cluster.until("to say nothing about certificates", (now) => !condition(now, "CertificatesValid"));
      await writer.nothingIsLost();
    });
  });

  // Its servers are tried in test/etcd.
  if (!isMatrix) return;
  describe("made, with the etcd of etcd-operator 0.9", { concurrency: 1 }, () => {
    const the = tlsLane("old", { size: 3, version: "3.2.13", TLS: { auto: true } });
    test("three members of 3.2.13 serve by TLS", async () => {
      await the().cluster.untilPodsReady();
      await the().writer.nothingIsLost();
    });
  });
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");

const untouched = ({ members }: Awaited<ReturnType<TestCluster["untilHealthy"]>>) =>
  members.map(({ uid, restarts }) => [uid, restarts]);
