import assert from "node:assert/strict";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { test } from "node:test";
import type { Scope } from "./api/scope.ts";
import { parseFlags } from "./flags.ts";
import { silent } from "./kube/process/log.ts";
import { leaseFor, runOperator } from "./operator.ts";
import { programs } from "./programs.ts";
import { heldAddress, startServer } from "./transport/testing/local-server.ts";

const clusterwide: Scope = { t: "clusterwide" };
const namespaces = (...names: string[]): Scope => ({ t: "namespaces", names });
const leaseName = (scope: Scope): string => leaseFor("etcd-operator", scope, "ops").name;

test("a cluster-wide and a namespaced operator in one namespace each have a lease of their own", () => {
  const scopes = [
    clusterwide,
    namespaces("ops"),
    namespaces("clusterwide"),
    namespaces("a"),
    namespaces("a", "b"),
    namespaces("a-b"),
    namespaces("ops", "a"),
  ];
  const names = scopes.map(leaseName);
  assert.equal(new Set(names).size, scopes.length, names.join(", "));
  assert.deepEqual(names.slice(0, 2), ["etcd-operator-clusterwide", "etcd-operator"]);
  assert.ok(scopes.every((scope) => leaseFor("etcd-operator", scope, "ops").namespace === "ops"));
});

test("the lease of several namespaces is the same in whatever order, and however often, they are named", () => {
  assert.equal(leaseName(namespaces("b", "a", "b")), leaseName(namespaces("a", "b")));
  assert.equal(leaseName(namespaces("ops", "ops")), "etcd-operator");
});

test("the lease of a hundred namespaces has a name that Kubernetes takes, and another than that of ninety-nine", () => {
  const names = Array.from({ length: 100 }, (_, i) => `${"n".repeat(50)}-${i}`);
  const [all, fewer] = [leaseName(namespaces(...names)), leaseName(namespaces(...names.slice(1)))];
  assert.notEqual(all, fewer);
  for (const name of [all, fewer])
    assert.match(name, /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);
});

async function statusOf({ host, port }: { host: string; port: number }, path: string): Promise<number | undefined> {
  for (const until = performance.now() + 60_000; performance.now() < until; ) {
    try {
      const [response] = (await once(get({ host, port, path, agent: false }), "response")) as [IncomingMessage];
      response.resume();
      return response.statusCode;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
  return undefined;
}

test("an API server that is away at the start is waited for, and /healthz is answered meanwhile", async () => {
  await using api = await heldAddress();
  await using own = await heldAddress();
  const end = new AbortController();
  let ended: unknown;
  const running = runOperator({
    program: "etcd-operator",
    flags: parseFlags(["-create-crd=false", `-listen-addr=${own.host}:${own.port}`], "etcd-operator"),
    identity: { namespace: "ops", pod: "operator" },
    credentials: {
      server: `http://${api.host}:${api.port}`,
      tls: () => ({}),
      authorization: () => undefined,
      forget: () => undefined,
    },
    log: silent,
    signal: end.signal,
  }).then(
    () => "wound up",
    (error: unknown) => {
      ended = error;
      return error;
    },
  );
  assert.deepEqual([await statusOf(own, "/healthz"), await statusOf(own, "/readyz")], [200, 503]);
  const asked = Promise.withResolvers<void>();
  await using _server = await startServer(
    (stream, headers) => {
      if (headers[":path"]?.includes("/etcdclusters")) asked.resolve();
      stream.respond({ ":status": 503 }, { endStream: true });
    },
    {},
    api,
  );
  await asked.promise;
  assert.equal(ended, undefined);
  assert.equal(await statusOf(own, "/healthz"), 200);
  end.abort(new Error("the test is over"));
  assert.equal(await running, "wound up");
});

test("the operators of backups and of clusters each have a Lease, so that any mix of programs is safe", () => {
  for (const scope of [clusterwide, namespaces("ops"), namespaces("a", "b")])
    assert.equal(new Set(programs.map((program) => leaseFor(program, scope, "ops").name)).size, programs.length);
});
