// Certificates as they are found: in the Secrets that a person names, and in those that the operator keeps.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ApiError } from "../../kube/client/errors.ts";
import type { Secret } from "../../kube/objects/kinds.ts";
import { makeAuthority, makeLeaf } from "../../tls/make.ts";
import { type Bundle, writeBundle } from "../../tls/pem.ts";
import { leafSecret } from "../objects/secrets.ts";
import { secretName } from "../objects/tls.ts";
import { sampleCluster, sampleNow } from "../testing/sample-world.ts";
import { observedTls } from "./tls.ts";

const ca = await makeAuthority("ca", sampleNow);
const pair = await makeLeaf(ca, { commonName: "root", names: [], use: "client" }, sampleNow);
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

  test("counts for nothing when it belongs to somebody else, or cannot be read", async () => {
    const foreign = { ...written, metadata: { ...written.metadata, ownerReferences: [] } };
    assert.equal((await found({ auto: true }, {}, [foreign])).kept.client, undefined);
    assert.equal((await found({ auto: true }, {}, [{ ...written, data: {} }])).kept.client, undefined);
    assert.equal((await found({ auto: true }, {}, undefined)).readable, false);
    assert.equal(secretName(cluster, "client"), written.metadata?.name);
  });
});
