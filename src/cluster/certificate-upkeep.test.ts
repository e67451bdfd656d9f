// What keeps the certificates of a cluster alive, whatever else is the matter: Secrets that somebody damaged, a spec that is
// wrong, a pause.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Pod, PodDisruptionBudget, Secret, Service } from "../kube/objects/kinds.ts";
import { checkParts } from "../tls/check.ts";
import { makeAuthority, makeLeaf } from "../tls/make.ts";
import { namesNotCovered } from "../tls/names.ts";
import { certificatesIn, readBundle } from "../tls/pem.ts";
import { isProblem } from "../tls/problem.ts";
import { decoded, keyNamesOf } from "./objects/secrets.ts";
import { type LeafUse, leafUses, secretName, type SecretUse } from "./objects/tls.ts";
import type { Signer } from "./context.ts";
import { key, Stage } from "./testing/stage.ts";

const nameOf = (use: SecretUse): string => secretName({ metadata: key }, use);

const secretOf = (stage: Stage, use: SecretUse): Promise<Secret> =>
  stage.api.get(Secret, { ...key, name: nameOf(use) });

async function isSound(stage: Stage, use: LeafUse): Promise<boolean> {
  const bundle = readBundle(keyNamesOf(use), decoded(await secretOf(stage, use)));
  return !isProblem(bundle) && checkParts(bundle) === undefined;
}

async function damage(stage: Stage, use: SecretUse, data: Readonly<Record<string, string>>): Promise<void> {
  const encoded = Object.entries(data).map(([name, text]) => [name, Buffer.from(text).toString("base64")]);
  await stage.api.mergePatch(Secret, { ...key, name: nameOf(use) }, { data: Object.fromEntries(encoded) });
}

const uids = async (stage: Stage): Promise<string[]> =>
  (await stage.pods()).map(({ metadata }) => metadata?.uid ?? "").toSorted();

describe("a damaged Secret of the operator is written again, and no member is touched for it:", () => {
  for (const use of leafUses)
    test(use, async () => {
      await using stage = new Stage();
      stage.startOperator();
      await stage.createWhole(1, "3.6.16", { TLS: { auto: true } });
      const before = await uids(stage);
      const other = use === "peer" ? "server" : "peer";
      const { [`${other}.key`]: foreignKey = "" } = decoded(await secretOf(stage, other));
      await damage(stage, use, { [`${keyNamesOf(use)}.key`]: foreignKey });
      await stage.until("it is repaired", () => isSound(stage, use));
      await damage(stage, use, { [`${keyNamesOf(use)}.crt`]: "garbage", [`${keyNamesOf(use)}-ca.crt`]: "garbage" });
      await stage.until("it is repaired again", () => isSound(stage, use));
      await stage.untilWhole(1);
      assert.deepEqual(await uids(stage), before);
    });
});

test("what others have put into a Secret of the operator stays when it is written", async () => {
  await using stage = new Stage();
  stage.startOperator();
  await stage.createWhole(1, "3.6.16", { TLS: { auto: true } });
  const metadata = {
    labels: { team: "shop" },
    annotations: { "replicator.example.com/to": "other" },
    finalizers: ["example.com/audit"],
  };
  for (const use of ["client", "client-ca"] as const) {
    await stage.api.mergePatch(Secret, { ...key, name: nameOf(use) }, { metadata });
    await damage(stage, use, { "keystore.jks": "theirs", [use === "client" ? "tls.crt" : "ca.crt"]: "garbage" });
  }
  await stage.until("both are repaired", async () => {
    const { "tls.crt": shown } = decoded(await secretOf(stage, "client"));
    const { "ca.crt": ca } = decoded(await secretOf(stage, "client-ca"));
    return shown !== "garbage" && ca !== "garbage";
  });
  await stage.pass(5_000);
  for (const use of ["client", "client-ca"] as const) {
    const secret = await secretOf(stage, use);
    assert.equal(secret.metadata?.labels?.["team"], "shop", use);
    assert.equal(secret.metadata?.labels?.["etcd_cluster"], key.name, use);
    assert.equal(secret.metadata?.annotations?.["replicator.example.com/to"], "other", use);
    assert.deepEqual(secret.metadata?.finalizers, ["example.com/audit"], use);
    assert.equal(decoded(secret)["keystore.jks"], "theirs", use);
  }
});

test("a CA whose key somebody damaged is replaced when something is to be signed", async () => {
  await using stage = new Stage();
  stage.startOperator();
  await stage.createWhole(1, "3.6.16", { TLS: { auto: true } });
  const { "ca.crt": old = "" } = decoded(await secretOf(stage, "peer-ca"));
  // With the leaf that it signed last gone, another one is due.
  await damage(stage, "peer-ca", { "ca.key": "garbage", "peer.crt": "garbage" });
  await stage.until("there is another CA", async () => decoded(await secretOf(stage, "peer-ca"))["ca.crt"] !== old);
  await stage.untilWhole(1);
});

/** The first certificates that it makes are due for their renewal ten minutes later. */
function agingSigner(): Signer {
  const made = new Set<string>();
  const age = 60 * 86_400_000 - 600_000;
  return {
    makeAuthority,
    makeLeaf: (authority, request, now) => {
      const isFirst = !made.has(request.commonName);
      made.add(request.commonName);
      return makeLeaf(authority, request, isFirst ? now - age : now);
    },
  };
}

const presentedBy = async (stage: Stage): Promise<(string | undefined)[]> => {
  const urls = (await stage.pods()).flatMap(({ status }) =>
    [2379, 2380].map((port) => `https://${status?.podIP}:${port}`),
  );
  return Promise.all(urls.map(async (url) => (await stage.kubelet.presented({ url }))?.fingerprint));
};

describe("certificates are renewed, and members get them and are not touched,", () => {
  const ways: readonly (readonly [string, (stage: Stage) => Promise<void>])[] = [
    ["while the cluster is paused", (stage) => stage.edit({ paused: true })],
    [
      "while it is paused and another CA and other settings are asked for",
      async (stage) => {
        await stage.edit({ paused: true, size: 5, version: "3.6.17", TLS: null });
        await stage.rotate("now");
      },
    ],
    ["while the spec is wrong", (stage) => stage.edit({ etcd: { extraArgs: ["--data-dir=/tmp"] } })],
    ["while what the spec says of TLS is wrong", (stage) => stage.edit({ TLS: { static: { operatorSecret: "x" } } })],
  ];
  for (const [when, hold] of ways)
    test(when, async () => {
      await using stage = new Stage({ signer: agingSigner() });
      stage.startOperator();
      await stage.createWhole(3, "3.6.16", { TLS: { auto: true } });
      const pods = await uids(stage);
      const restarts = JSON.stringify((await stage.pods()).map(({ status }) => status?.containerStatuses));
      const before = await Promise.all(leafUses.map(async (use) => leafIn(await secretOf(stage, use), use)));
      const seen = await presentedBy(stage);
      await hold(stage);
      await stage.pass(900_000);
      for (const [n, use] of leafUses.entries())
        assert.notEqual(leafIn(await secretOf(stage, use), use), before[n], `the ${use} certificate is the old one`);
      for (const [n, now] of (await presentedBy(stage)).entries()) assert.notEqual(now, seen[n], "an old one is shown");
      assert.deepEqual(await uids(stage), pods);
      assert.equal(JSON.stringify((await stage.pods()).map(({ status }) => status?.containerStatuses)), restarts);
      assert.equal(stage.kubelet.etcd?.members.length, 3);
    });
});

const leafIn = (secret: Secret, use: LeafUse): string | undefined =>
  certificatesIn(decoded(secret)[`${keyNamesOf(use)}.crt`] ?? "")?.[0].fingerprint256;

test("members with volumes keep names that their certificates cover, when ClusterDomain is taken away", async () => {
  await using stage = new Stage({ signer: agingSigner() });
  stage.startOperator();
  const persistentVolumeClaimSpec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
  const pod = { ClusterDomain: ".example.org", persistentVolumeClaimSpec };
  await stage.createWhole(3, "3.6.16", { TLS: { auto: true }, pod });
  const before = leafIn(await secretOf(stage, "peer"), "peer");
  await stage.edit({ pod: { ClusterDomain: null } });
  for (let minute = 0; minute < 15; minute += 1) {
    await stage.pass(60_000);
    const urls = stage.kubelet.etcd?.members.flatMap(({ peerUrls }) => peerUrls) ?? [];
    const listed = urls.map((url) => new URL(url).hostname);
    const leaf = certificatesIn(decoded(await secretOf(stage, "peer"))["peer.crt"] ?? "")?.[0];
    assert.ok(leaf && listed.some((host) => host.endsWith(".example.org")));
    assert.deepEqual(namesNotCovered(leaf, listed), []);
  }
  assert.notEqual(leafIn(await secretOf(stage, "peer"), "peer"), before, "it was renewed");
});

test("a paused cluster gets back its peer Service and its labels, and what people may want to be without stays away", async () => {
  await using stage = new Stage();
  stage.startOperator();
  await stage.createWhole(3);
  await stage.edit({ paused: true });
  const [name = ""] = await stage.podNames();
  const pods = await uids(stage);
  await stage.api.delete(Service, key);
  await stage.api.delete(Service, { ...key, name: `${key.name}-client` });
  await stage.api.delete(PodDisruptionBudget, key);
  await stage.api.mergePatch(Pod, { ...key, name }, { metadata: { labels: null } });
  await stage.pass(60_000);
  const services = (await stage.api.list(Service)).items.map(({ metadata }) => metadata?.name);
  assert.deepEqual(services, [key.name]);
  assert.deepEqual((await stage.api.list(PodDisruptionBudget)).items, []);
  const { metadata } = await stage.api.get(Pod, { ...key, name });
  assert.equal(metadata?.labels?.["etcd_cluster"], key.name);
  assert.deepEqual(await uids(stage), pods);
});
