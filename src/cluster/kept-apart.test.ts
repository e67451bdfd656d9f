// Members whose certificates keep them apart, in each way that leads there, on the in-memory cluster: they come back by
// themselves, in the pods that they had and with the data in them.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EtcdCluster } from "../api/etcd-cluster/etcd-cluster.ts";
import { Secret } from "../kube/objects/kinds.ts";
import { makeAuthority, makeLeaf } from "../tls/make.ts";
import type { KeyPair } from "../tls/pem.ts";
import { shortLivedSigner, signerFor } from "./testing/tls/signer.ts";
import { beganAt, key, Stage } from "./testing/stage.ts";

const minute = 60_000;

const encoded = (texts: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, Buffer.from(text).toString("base64")]));

async function uids(stage: Stage): Promise<string[]> {
  return (await stage.pods()).map(({ metadata }) => metadata?.uid ?? "").toSorted();
}

const deleteSecrets = async (stage: Stage): Promise<void> => {
  for (const { metadata } of (await stage.api.list(Secret)).items)
    await stage.api.delete(Secret, { ...key, name: metadata?.name ?? "" });
};

/** They come back in their pods, whatever the network does, and the status said what was so. */
async function expectReunion(stage: Stage, before: readonly string[]): Promise<void> {
  const said = new Set<string>();
  // Heard and not asked for: where members start quickly, it is so for less than a second.
  stage.api.onWrite(({ kind, object }) => {
    if (kind !== EtcdCluster.kind) return;
    const { conditions = [] } = (object as EtcdCluster).status ?? {};
    const of = (wanted: string) => conditions.find(({ type }) => type === wanted);
    const valid = of("CertificatesValid");
    said.add(`${valid?.status} ${valid?.reason} ${of("Ready")?.reason}`);
  });
  const isSaid = (): boolean => said.has("False MembersApart MembersApart");
  await stage.until("it is said that they are apart", isSaid, 4 * minute);
  stage.kubelet.breakConnections();
  await stage.until("the members are together", async () => {
    const isTogether = stage.kubelet.apart.length === 0 && stage.watch.decidesAmong(before.length);
    return isTogether && (await stage.condition("Ready"))?.reason !== "MembersApart";
  });
  assert.deepEqual(await uids(stage), before, "members lost their pods, and the data in them");
  assert.equal((await stage.condition("CertificatesValid"))?.status, "True");
  const again = stage.recorded.filter(({ reason }) => reason === "Member Started Again");
  assert.equal(again.length, before.length);
}

test("from given certificates to made ones, the Secret that the status names opens the door from then on", async () => {
  await using stage = new Stage({ signer: signerFor() });
  stage.startOperator();
  const ca = await makeAuthority("given", beganAt);
  const names = ["*.demo.default.svc", "*.demo.default.svc.cluster.local"];
  for (const [name, use] of [
    ["peer", "both"],
    ["server", "both"],
    ["etcd-client", "client"],
  ] as const) {
    const { cert, key: privateKey } = await makeLeaf(ca, { commonName: "root", names, use }, beganAt);
    const data = encoded({ [`${name}.crt`]: cert, [`${name}.key`]: privateKey, [`${name}-ca.crt`]: ca.cert });
    await stage.api.create(Secret, { metadata: { ...key, name }, data });
  }
  const given = { member: { peerSecret: "peer", serverSecret: "server" }, operatorSecret: "etcd-client" };
  await stage.createWhole(3, "3.6.16", { TLS: { static: given } });
  await stage.edit({ TLS: { auto: true, static: null } });
  const named = async () => (await stage.cluster()).status?.clientSecret;
  await stage.until("a Secret is named", async () => (await named()) !== undefined, 30 * minute);
  assert.equal(await named(), "demo-client-tls");
  for (let n = 0; n < 60; n += 1) {
    // One that is being replaced may not take it; another does.
    const isOpen = (await named()) === undefined || (await stage.write(n)) || (await stage.write(n + 1));
    assert.ok(isOpen, `not after ${n} s: ${await stage.describe()}`);
    await stage.pass(1_000);
  }
  assert.equal(await named(), "demo-client-tls");
});

describe("kept apart by certificates", () => {
  for (const size of [1, 3])
    test(`all Secrets of ${size} are deleted`, async () => {
      await using stage = new Stage({ signer: signerFor() });
      stage.startOperator();
      await stage.createWhole(size, "3.6.16", { TLS: { auto: true } });
      const before = await uids(stage);
      stage.watch.allowApart();
      await deleteSecrets(stage);
      await expectReunion(stage, before);
      await stage.untilWhole(size);
      assert.deepEqual(await uids(stage), before);
    });

  test("all Secrets are deleted while the cluster is paused: members go on with what they have until it is not", async () => {
    await using stage = new Stage({ signer: signerFor() });
    stage.startOperator();
    await stage.createWhole(3, "3.6.16", { TLS: { auto: true } });
    const before = await uids(stage);
    await stage.edit({ paused: true });
    await deleteSecrets(stage);
    await stage.pass(3 * minute);
    stage.kubelet.breakConnections();
    await stage.pass(5_000);
    assert.deepEqual(stage.kubelet.apart, []);
    const { status, reason, message = "" } = (await stage.condition("CertificatesValid")) ?? {};
    assert.deepEqual([status, reason], ["False", "Missing"]);
    assert.match(message, /demo-peer-tls, demo-server-tls.*set spec.paused to false/);
    stage.watch.allowApart();
    await stage.edit({ paused: false });
    await expectReunion(stage, before);
  });

  test("older Secrets are brought back after a rotation", async () => {
    await using stage = new Stage({ signer: signerFor() });
    stage.startOperator();
    await stage.createWhole(3, "3.6.16", { TLS: { auto: true } });
    const old = (await stage.api.list(Secret)).items;
    await stage.rotate("1");
    await stage.until(
      "the CAs are replaced",
      async () => (await stage.isWhole(3)) && (await stage.isCertified()),
      30 * minute,
    );
    const before = await uids(stage);
    await stage.stopOperator();
    stage.watch.allowApart();
    for (const { metadata, data } of old) {
      const name = { ...key, name: metadata?.name ?? "" };
      const now = await stage.api.get(Secret, name);
      const annotations = metadata?.annotations ?? {};
      await stage.api.replace(Secret, { ...now, metadata: { ...now.metadata, annotations }, data: data ?? {} });
    }
    await stage.pass(2 * minute);
    stage.startOperator();
    await expectReunion(stage, before);
    await stage.until("the CAs are replaced again", () => stage.isWhole(3), 30 * minute);
  });

  test("a rotation is held up for longer than a certificate lives, and nobody is ever apart", async () => {
    const signer = await shortLivedSigner(key, beganAt, 12 * minute, 60 * minute);
    await using stage = new Stage({ signer });
    stage.startOperator();
    await stage.create(3, "3.6.16", { TLS: { auto: true }, updateStrategy: "OnDelete" });
    const isReady = async (): Promise<boolean> => (await stage.condition("Ready"))?.status === "True";
    await stage.until("it is ready", isReady);
    const before = await uids(stage);
    await stage.rotate("1");
    for (let n = 0; n < 4; n += 1) {
      await stage.pass(6 * minute);
      stage.kubelet.breakConnections();
    }
    assert.deepEqual(await uids(stage), before);
    assert.equal(stage.watch.decides(), true);
    await stage.edit({ updateStrategy: "RollingUpdate" });
    await stage.until(
      "the key of the CA before is gone",
      async () => {
        const { data = {} } = await stage.api.get(Secret, { ...key, name: "demo-peer-ca" });
        return !Object.keys(data).some((name) => name.startsWith("previous")) && (await isReady());
      },
      20 * minute,
    );
  });

  test("given certificates of another CA come after the old ones have expired", async () => {
    await using stage = new Stage();
    stage.startOperator();
    const names = ["*.demo.default.svc", "*.demo.default.svc.cluster.local"];
    const give = async (ca: string, pair: KeyPair) => {
      const data = encoded({ "peer.crt": pair.cert, "peer.key": pair.key, "peer-ca.crt": ca });
      await stage.api.apply(
        Secret,
        { metadata: { ...key, name: "peers" }, data },
        { fieldManager: "test", force: true },
      );
    };
    const [old, other] = [await makeAuthority("old", beganAt), await makeAuthority("other", beganAt)];
    const request = { commonName: "p", names, use: "both" } as const;
    await give(old.cert, await makeLeaf(old, { ...request, lifeMs: 10 * minute }, beganAt));
    await stage.createWhole(3, "3.6.16", { TLS: { static: { member: { peerSecret: "peers" } } } });
    const before = await uids(stage);
    stage.watch.allowApart();
    await stage.pass(11 * minute);
    stage.kubelet.breakConnections();
    await stage.pass(5_000);
    const { reason, message = "" } = (await stage.condition("Ready")) ?? {};
    assert.equal(reason, "Electing");
    assert.match(message, /The peer certificate expired .* renew it in the Secret peers/);
    assert.doesNotMatch(message, /by itself/);
    await give(other.cert, await makeLeaf(other, request, stage.now()));
    await expectReunion(stage, before);
  });
});
