// Certificates as they are found: in the Secrets that a person names, and in those that the operator keeps.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ApiError } from "../../kube/client/errors.ts";
import type { Secret } from "../../kube/objects/kinds.ts";
import { makeAuthority, makeLeaf } from "../../tls/make.ts";
import { type Bundle, certificatesIn, writeBundle } from "../../tls/pem.ts";
import { authoritySecret, leafSecret } from "../objects/secrets.ts";
import { plainText, secretName } from "../objects/tls.ts";
import { sampleCluster, sampleNow, samplePod } from "../testing/sample-world.ts";
import { leafFingerprint, observedTls, reachableAt, wireSides } from "./tls.ts";

const ca = await makeAuthority("ca", sampleNow);
const pair = await makeLeaf(ca, { commonName: "root", names: [], use: "client" }, sampleNow);
const other = await makeLeaf(ca, { commonName: "root", names: [], use: "client" }, sampleNow);
const bundle: Bundle = { ca: ca.cert, pair };
const base64 = (data: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString("base64")]));

/** `named`: by name, or the error in its place. `kept`: undefined while Secrets cannot be listed. */
async function found(
  TLS: object,
  named: Readonly<Record<string, Secret | Error>>,
  kept: readonly Secret[] | undefined,
) {
  const asked: string[] = [];
  const read = ({ name }: { name: string }): Promise<Secret | undefined> => {
    asked.push(name);
    const there = named[name];
    return there instanceof Error ? Promise.reject(there) : Promise.resolve(there);
  };
  const get = ({ name }: { name: string }) => kept?.find(({ metadata }) => metadata?.name === name);
  const caches = { secrets: kept && { get }, given: { read } };
  const cluster = sampleCluster({ spec: { TLS } });
  const view = await observedTls(cluster, caches as never, {} as never, new AbortController().signal);
  return { ...view, asked };
}

describe("a Secret that a person names", () => {
  const forClients = { static: { member: { peerSecret: "", serverSecret: "servers" }, operatorSecret: "operator" } };
  const operator: Secret = { data: base64(writeBundle("etcd-client", bundle)) };

  test("is read, is missing, or may not be read; what is not named is not asked for", async () => {
    const { given, asked } = await found(forClients, { operator }, []);
    assert.deepEqual(asked, ["servers", "operator"]);
    assert.deepEqual(given.server, { t: "absent", name: "servers" });
    assert.equal(given.operator?.t, "there");
    assert.equal(given.peer, undefined);
    const forbidden = new ApiError(403, "Forbidden", "");
    assert.equal((await found(forClients, { servers: forbidden }, [])).given.server?.t, "forbidden");
    const broken = new ApiError(500, "InternalError", "cannot be decrypted");
    assert.equal((await found(forClients, { servers: broken }, [])).given.server?.t, "unread");
    await assert.rejects(found(forClients, { servers: new RangeError("a fault of ours") }, []));
  });

  test("is not asked for where certificates are made", async () =>
    assert.deepEqual((await found({ ...forClients, auto: true }, {}, [])).asked, []));

  test("is not how the operator presents itself where its key is another's", async () => {
    const mixed: Secret = {
      data: base64(writeBundle("etcd-client", { ca: ca.cert, pair: { ...pair, key: other.key } })),
    };
    assert.equal((await found(forClients, { operator: mixed }, [])).identity, undefined);
  });

  test("is how the operator presents itself until it has a copy of its own", async () => {
    assert.deepEqual((await found(forClients, { operator }, [])).identity, { ca: ca.cert, identity: pair });
    assert.equal((await found(forClients, { operator: {} }, [])).identity, undefined);
  });
});

describe("a Secret that the operator keeps", () => {
  const cluster = sampleCluster({ spec: { TLS: { auto: true } } });
  const written = leafSecret(cluster, "client", bundle, sampleNow);

  test("holds a certificate, and since when applications have had time to read it", async () => {
    const { kept, readable } = await found({ auto: true }, {}, [written]);
    assert.equal(readable, true);
    assert.deepEqual(kept.client, { bundle, graceFrom: sampleNow });
    const { annotations: _, ...metadata } = written.metadata ?? {};
    assert.equal((await found({ auto: true }, {}, [{ ...written, metadata }])).kept.client?.graceFrom, 0);
  });

  test("was damaged, in one way or another, and keeps the CAs that can still be read", async () => {
    const damageOf = async (data: Readonly<Record<string, string | undefined>>): Promise<unknown> => {
      const all = Object.fromEntries(
        Object.entries({ ...written.data, ...base64OfKnown(data) }).filter(([, text]) => text !== ""),
      );
      const { damaged, kept } = await found({ auto: true }, {}, [{ ...written, data: all }]);
      assert.equal(kept.client === undefined, damaged.client !== undefined);
      return (
        damaged.client && [
          damaged.client.why,
          damaged.client.ca === undefined ? 0 : certificatesIn(damaged.client.ca)?.length,
        ]
      );
    };
    const base64OfKnown = (data: Readonly<Record<string, string | undefined>>): Record<string, string> =>
      Object.fromEntries(
        Object.entries(data).map(([name, text]) => [
          name,
          text === undefined ? "" : Buffer.from(text).toString("base64"),
        ]),
      );
    assert.equal(await damageOf({}), undefined);
    assert.equal(await damageOf({ keystore: "of somebody else" }), undefined);
    assert.deepEqual(await damageOf({ "etcd-client.key": other.key }), [
      "its key does not belong to its certificate",
      1,
    ]);
    assert.deepEqual(await damageOf({ "etcd-client.key": undefined }), ["a part of it is missing", 1]);
    assert.deepEqual(await damageOf({ "etcd-client.crt": undefined, "etcd-client.key": undefined }), [
      "a part of it is missing",
      1,
    ]);
    assert.deepEqual(await damageOf({ "etcd-client.crt": "hello" }), ["it cannot be read", 1]);
    const halves = `${ca.cert}-----BEGIN CERTIFICATE-----\nhello\n-----END CERTIFICATE-----\n${ca.cert}`;
    assert.deepEqual(await damageOf({ "etcd-client-ca.crt": halves }), ["it cannot be read", 1]);
    assert.deepEqual(await damageOf({ "etcd-client-ca.crt": "hello" }), ["it cannot be read", 0]);
    const unlike = "tls.crt, tls.key and ca.crt are not those that the operator wrote";
    for (const name of ["tls.crt", "tls.key", "ca.crt"])
      assert.deepEqual(await damageOf({ [name]: "other" }), [unlike, 1]);
  });

  test("holds a CA, the one before it, and what both have signed", async () => {
    const authority = { cert: ca.cert, key: ca.key };
    const content = { authority, leaves: { operator: pair, client: { ...pair, key: other.key } } };
    const authorityWith = async (
      more: object,
      change: (secret: Secret) => Secret = (secret) => secret,
    ): Promise<Awaited<ReturnType<typeof found>>> =>
      found({ auto: true }, {}, [
        change(authoritySecret(cluster, "client-ca", { ...content, previous: undefined, rotated: undefined, ...more })),
      ]);
    const alone = await authorityWith({});
    assert.deepEqual(alone.authorities, { "client-ca": { cert: ca.cert, leaves: { operator: pair } } });
    assert.deepEqual(
      alone.identity,
      { ca: ca.cert, identity: pair },
      "what it has signed is good enough to begin with",
    );
    const both = await authorityWith({ previous: content, rotated: "now" });
    assert.deepEqual(both.authorities["client-ca"]?.previous, { cert: ca.cert, leaves: { operator: pair } });
    assert.equal(both.authorities["client-ca"]?.rotated, "now");
    const without =
      (...names: string[]) =>
      (secret: Secret): Secret => ({
        ...secret,
        data: Object.fromEntries(Object.entries(secret.data ?? {}).filter(([name]) => !names.includes(name))),
      });
    const broken = await authorityWith({}, without("ca.crt"));
    assert.deepEqual([broken.authorities, broken.damaged["client-ca"]?.why], [{}, "its certificate is missing"]);
    const unreadable = await authorityWith({ authority: { ...authority, cert: "hello" } });
    assert.equal(unreadable.damaged["client-ca"]?.why, "its certificate cannot be read");
  });

  test("counts for nothing when it belongs to somebody else, or cannot be read", async () => {
    const foreign = { ...written, metadata: { ...written.metadata, ownerReferences: [] } };
    assert.equal((await found({ auto: true }, {}, [foreign])).kept.client, undefined);
    assert.equal((await found({ auto: true }, {}, [{ ...written, data: {} }])).kept.client, undefined);
    assert.equal((await found({ auto: true }, {}, undefined)).readable, false);
    assert.equal(secretName(cluster, "client"), written.metadata?.name);
  });
});

test("the wire is read on the sides on which there is a certificate to look for", () => {
  const identity = { ca: ca.cert, identity: pair };
  const leaf = { bundle, graceFrom: 0 };
  const expected = leafFingerprint(bundle);
  assert.deepEqual(wireSides({ kept: {}, identity }), {});
  assert.deepEqual(wireSides({ kept: { peer: leaf }, identity: undefined }), { peer: { tls: identity, expected } });
  assert.deepEqual(wireSides({ kept: { server: leaf }, identity: undefined }), {
    client: { tls: undefined, expected },
  });
  assert.equal(leafFingerprint({ ca: "", pair: { cert: "", key: "" } }), "");
});

test("a member is reached by TLS where its pod serves clients by it", () => {
  const cluster = sampleCluster({});
  const identity = { ca: ca.cert, identity: pair };
  const reached = (client: boolean) =>
    reachableAt("10.0.0.1", samplePod("demo-a", { tls: { ...plainText, peer: "tls", client } }), cluster, identity);
  assert.deepEqual(reached(false), { address: "10.0.0.1" });
  assert.deepEqual(reached(true), { address: "10.0.0.1", tls: { serverName: "demo-a.demo.shop.svc", identity } });
});
