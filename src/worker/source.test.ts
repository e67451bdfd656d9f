import assert from "node:assert/strict";
import { test } from "node:test";
import { type EtcdCluster, withDefaults } from "../api/etcd-cluster/etcd-cluster.ts";
import { sourceOf } from "./source.ts";

const reached = (spec: Partial<EtcdCluster["spec"]>, ...clientEndpoints: string[]) =>
  sourceOf(
    withDefaults({
      metadata: { namespace: "n", name: "demo" },
      spec: { size: 3, ...spec },
      status: { clientEndpoints },
    }),
  );

test("a cluster whose members have never served cannot be reached", () => {
  assert.equal(reached({}), undefined);
});

test("members without TLS and login are reached at their URLs, with nothing mounted", () => {
  const url = "http://demo-a.demo.n.svc.cluster.local:2379";
  assert.deepEqual(reached({ pod: { ClusterDomain: "cluster.local" } }, url), {
    source: { endpoints: [url] },
    mounts: [],
  });
});

test("as soon as one member speaks TLS the operator's certificate is mounted, and names are those that it covers", () => {
  const urls = ["http://demo-a.demo.n.svc.cluster.local:2379", "https://demo-b.demo.n.svc.cluster.local:2379"];
  assert.deepEqual(reached({ pod: { ClusterDomain: ".cluster.local" } }, ...urls), {
    source: {
      endpoints: [urls[0], "https://demo-b.demo.n.svc:2379"],
      tlsFolder: "/etc/etcd-worker/tls",
    },
    mounts: [{ folder: "/etc/etcd-worker/tls", secret: "demo-operator-tls" }],
  });
});

test("where etcd asks for a login the operator's is mounted", () => {
  const url = "http://demo-a.demo.n.svc:2379";
  assert.deepEqual(reached({ auth: { operatorSecret: "root-login" } }, url), {
    source: { endpoints: [url], loginFolder: "/etc/etcd-worker/login", loginOverHttp: true },
    mounts: [{ folder: "/etc/etcd-worker/login", secret: "root-login" }],
  });
});

test("members are reached at the names that the status has, also after the domain was changed in the spec", () => {
  const url = "http://demo-a.demo.n.svc.cluster.local:2379";
  assert.deepEqual(reached({ pod: { ClusterDomain: ".example" } }, url)?.source.endpoints, [url]);
});

test("what is in the status and is not a member of the cluster gets nothing", () => {
  const member = "http://demo-a.demo.n.svc:2379";
  for (const url of [
    "http://collector.example.com:2379",
    "http://demo-a.demo.other.svc:2379",
    "http://demo-a.demo.n.svc.example.com:2379/.demo.n.svc:2379",
    "http://demo-a.demo.n.svc@example.com:2379",
    "http://demo-a.demo.n.svc:80",
    "http://a.b.demo.n.svc:2379",
    "nonsense",
  ]) {
    assert.equal(reached({}, url), undefined, url);
    assert.deepEqual(reached({}, url, member)?.source.endpoints, [member]);
  }
});
