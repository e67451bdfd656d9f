// How a Secret of the operator is written: over what was read, and never over what is somebody else's.
import assert from "node:assert/strict";
import { test } from "node:test";
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { ApiError } from "../../kube/client/errors.ts";
import type { Secret } from "../../kube/objects/kinds.ts";
import type { Kind, KubeObject } from "../../kube/objects/objects.ts";
import { ownerReference } from "../../kube/objects/owners.ts";
import { assess } from "../assess/assess.ts";
import { secretName } from "../objects/tls.ts";
import { three } from "../testing/plan-table.ts";
import { sampleNow, sampleWorld } from "../testing/sample-world.ts";
import { carryOut } from "./actions.ts";
import { executionOf } from "./execution.ts";

const world = sampleWorld({ members: three });
const bundle = { ca: "ca", pair: { cert: "cert", key: "key" } };
const name = secretName(world.cluster, "peer");
const own: Secret = {
  metadata: { name, resourceVersion: "7", ownerReferences: [ownerReference(EtcdCluster, world.cluster)] },
  data: { keystore: "c3RvcmU=" },
};
const foreign: Secret = { metadata: { name } };

interface There {
  readonly cached?: Secret;
  readonly live?: Secret;
  /** What the API server says instead. */
  readonly says?: Error;
}

/** What is written, or the error that it ends with. */
async function written({ cached, live, says }: There): Promise<unknown> {
  const writes: unknown[] = [];
  const api = {
    get: (kind: Kind<KubeObject>) => Promise.resolve(kind.kind === EtcdCluster.kind ? world.cluster : live),
    create: (_kind: unknown, { data }: Secret) =>
      says === undefined ? Promise.resolve(writes.push("create", Object.keys(data ?? {}))) : Promise.reject(says),
    replace: (_kind: unknown, { metadata, data }: Secret) =>
      Promise.resolve(writes.push(`replace ${metadata?.resourceVersion}`, Object.keys(data ?? {}))),
  };
  const context = { caches: () => ({ secrets: { get: () => cached } }), now: () => sampleNow };
  const assessment = assess(world, sampleNow);
  const writesNow = new Map([["peer", { bundle, graceFrom: undefined, because: "a test" }]] as const);
  const execution = executionOf(
    { ...assessment, certificates: { ...assessment.certificates, writes: writesNow } },
    { api } as never,
    context as never,
  );
  try {
    await carryOut({ do: "writeCertificate", use: "peer", because: "a test" }, execution);
  } catch (error) {
    assert.ok(error instanceof Error);
    return error.name;
  }
  return writes;
}

const files = ["peer.crt", "peer.key", "peer-ca.crt"];
const isThere = new ApiError(409, "AlreadyExists", "");

test("one that is missing is created", async () => assert.deepEqual(await written({}), ["create", files]));

test("one that was read is written over as it was read, and keeps what others put there", async () =>
  assert.deepEqual(await written({ cached: own }), ["replace 7", ["keystore", ...files]]));

test("one that is in no cache yet is waited for", async () =>
  assert.equal(await written({ live: own, says: isThere }), "NotYet"));

test("one of somebody else is left alone, whether it was read or not", async () => {
  assert.equal(await written({ live: foreign, says: isThere }), "Refused");
  assert.equal(await written({ cached: foreign, live: foreign, says: isThere }), "Refused");
});

test("what the API server says besides is passed on", async () =>
  assert.equal(await written({ says: new ApiError(403, "Forbidden", "exceeded quota") }), "ApiError"));
