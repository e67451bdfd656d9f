// Certificates that a person gives: every combination, a renewed leaf, another CA, and bad Secrets, which hurt nothing.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { waitFor } from "../../lab/progress.ts";
import { presentedCertificate } from "../../src/etcd/presented-certificate.ts";
import { createCluster } from "../e2e/support/cluster.ts";
import { patience } from "../e2e/support/environment.ts";
import { authority, condition, leaf, putData, putSecret, tlsLane } from "./support.ts";

const never = new AbortController().signal;
const peerSecret = "peers";
const serverSecret = "servers";
const operatorSecret = "operator";

async function givePeers(namespace: string, name: string): Promise<void> {
  const ca = await authority("peers");
  await putSecret(namespace, peerSecret, "peer", await leaf(ca, { use: "both", of: { namespace, name } }), ca.cert);
}

/** As cert-manager writes them. */
async function giveClients(namespace: string, name: string): Promise<void> {
  const ca = await authority("clients");
  const of = { namespace, name };
  await putSecret(namespace, serverSecret, "tls", await leaf(ca, { use: "both", of }), ca.cert);
  await putSecret(namespace, operatorSecret, "tls", await leaf(ca, { use: "client", of }), ca.cert);
}

export function given(): void {
  describe("given for peers only", { concurrency: 1 }, () => {
    const the = tlsLane("peers", { size: 3, TLS: { static: { member: { peerSecret } } } }, (namespace) =>
      givePeers(namespace, "peers"),
    );
    test("peers speak TLS, clients do not", async () => {
      const { members } = await the().cluster.untilHealthy();
      for (const { address } of members) {
        assert.ok(await presentedCertificate({ url: `https://${address}:2380` }, never));
        assert.equal(await presentedCertificate({ url: `https://${address}:2379` }, never), undefined);
      }
      await the().writer.nothingIsLost();
    });
  });

  describe("given for clients only", { concurrency: 1 }, () => {
    const TLS = { static: { member: { serverSecret }, operatorSecret } };
    const the = tlsLane("clients", { size: 1, TLS }, (namespace) => giveClients(namespace, "clients"));
    test("clients speak TLS, peers do not", async () => {
      const { members } = await the().cluster.untilHealthy();
      for (const { address } of members) {
        assert.equal(await presentedCertificate({ url: `https://${address}:2380` }, never), undefined);
        assert.ok(await presentedCertificate({ url: `https://${address}:2379` }, never));
      }
      await the().writer.nothingIsLost();
    });
  });

  describe("given for both", { concurrency: 1 }, () => {
    const TLS = { static: { member: { peerSecret, serverSecret }, operatorSecret } };
    // One member: with certificates that are given, a new one joins only when DNS knows the name of its address.
    const the = tlsLane("both", { size: 1, TLS }, async (namespace) => {
      await givePeers(namespace, "both");
      await giveClients(namespace, "both");
    });

    test("Secrets that cannot be used are reported, and what serves goes on", async () => {
      const { cluster, namespace, writer } = the();
      const before = await cluster.untilHealthy();
      const of = cluster.key;
      const [ca, other] = [await authority("one"), await authority("two")];
      const good = await leaf(ca, { use: "both", of });
      const day = 86_400_000;
      const bad: [reason: string, data: Record<string, string>][] = [
        ["Incomplete", { "peer.crt": good.cert, "peer-ca.crt": ca.cert }],
        ["Mismatched", peer(good.cert, (await leaf(ca, { use: "both", of })).key, ca.cert)],
        ["Untrusted", peer(good.cert, good.key, other.cert)],
        ["Expired", await expired(of, day)],
        ["WrongNames", await elsewhere(of)],
        ["Unreadable", peer("not a certificate", good.key, ca.cert)],
      ];
      for (const [reason, data] of bad) {
        await putData(namespace, peerSecret, data);
        const seen = await cluster.until(`to say ${reason}`, (now) => {
          const { status, reason: said } = condition(now, "CertificatesValid") ?? {};
          return status === "False" && said === reason;
        });
        assert.match(
          condition(seen, "CertificatesValid")?.message ?? "",
          /^Secret peers: .* goes on with what it has\./,
        );
      }
      await cluster.untilEvent("Certificate Problem");
      const after = await cluster.untilHealthy();
      assert.deepEqual(
        after.members.map(({ uid }) => uid),
        before.members.map(({ uid }) => uid),
      );
      await writer.nothingIsLost();
    });

    test("another CA is taken over while clients write", async () => {
      const { cluster, namespace, writer } = the();
      await givePeers(namespace, "both");
      await giveClients(namespace, "both");
      await waitFor(
        "the new CAs to be taken over",
        async () => {
          const now = await cluster.get();
          const said = condition(now, "CertificatesValid");
          const ready = condition(now, "Ready");
          return said?.reason === "Valid" && ready?.status === "True" ? true : undefined;
        },
        { timeoutMs: 2 * patience, everyMs: 2000 },
      );
      await cluster.untilHealthy();
      await writer.nothingIsLost();
    });

    test("a new cluster without its Secrets makes no member, and says why", async () => {
      const { namespace } = the();
      const missing = { static: { member: { peerSecret: "nowhere" } } };
      const cluster = await createCluster({ namespace, name: "without" }, { size: 1, TLS: missing });
      const seen = await cluster.until("to say what is missing", (now) => condition(now, "Ready")?.status === "False");
      await cluster.until("to name the Secret", (now) =>
        /Secret nowhere does not exist/.test(condition(now, "Ready")?.message ?? ""),
      );
      assert.deepEqual(await cluster.pods(), [], JSON.stringify(seen.status));
      await givePeers(namespace, "without");
      await cluster.edit({ TLS: { static: { member: { peerSecret } } } });
      await cluster.untilHealthy();
    });
  });
}

const peer = (cert: string, key: string, ca: string): Record<string, string> => ({
  "peer.crt": cert,
  "peer.key": key,
  "peer-ca.crt": ca,
});

async function expired(of: { namespace: string; name: string }, day: number): Promise<Record<string, string>> {
  const ca = await authority("expired");
  const { cert, key } = await leaf(ca, { use: "both", of, at: Date.now() - 100 * day });
  return peer(cert, key, ca.cert);
}

async function elsewhere(of: { namespace: string; name: string }): Promise<Record<string, string>> {
  const ca = await authority("elsewhere");
  const { cert, key } = await leaf(ca, { use: "both", of, names: ["elsewhere.example"] });
  return peer(cert, key, ca.cert);
}
