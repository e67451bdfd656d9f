import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "../kube/objects/kinds.ts";
import { etcdctlWords, execWords, listedMembers } from "./etcdctl.ts";

function pod(version: string, ...command: readonly string[]): Pod {
  return {
    metadata: { name: "web-1", namespace: "prod", annotations: { "etcd.version": version } },
    spec: { containers: [{ name: "etcd", command: ["/usr/local/bin/etcd", ...command] }] },
  };
}

const tls = [
  "--advertise-client-urls=https://web-1.web.prod.svc:2379",
  "--trusted-ca-file=/tls/server-ca.crt",
  "--cert-file=/tls/server.crt",
  "--key-file=/tls/server.key",
];

test("etcdctl gets the endpoint and the certificates that its member was started with", () => {
  assert.deepEqual(etcdctlWords(pod("3.6.16", ...tls), ["get", "a"]), [
    "etcdctl",
    "--endpoints=https://web-1.web.prod.svc:2379",
    "--cacert=/tls/server-ca.crt",
    "--cert=/tls/server.crt",
    "--key=/tls/server.key",
    "get",
    "a",
  ]);
});

test("an old etcdctl is told which API to speak", () => {
  assert.deepEqual(etcdctlWords(pod("3.3.27"), ["get", "a"], ["http://x:2379", "http://y:2379"]), [
    "env",
    "ETCDCTL_API=3",
    "etcdctl",
    "--endpoints=http://x:2379,http://y:2379",
    "get",
    "a",
  ]);
});

test("somebody at a terminal shares it with etcdctl", () => {
  assert.deepEqual(execWords(pod("3.6.16"), ["etcdctl"], "terminal"), [
    "exec",
    "--namespace=prod",
    "--stdin",
    "--tty",
    "web-1",
    "--container=etcd",
    "--",
    "etcdctl",
  ]);
});

test("ids of members are read as they are printed, for they do not fit into numbers", () => {
  const printed =
    "8aedce0d333c42ad, started, web-1, http://p, http://c, false\n7b54399ef38ca1, unstarted, , http://p, , true\n";
  assert.deepEqual(listedMembers(printed), [
    { id: "8aedce0d333c42ad", started: true, name: "web-1", isLearner: false },
    { id: "7b54399ef38ca1", started: false, name: "", isLearner: true },
  ]);
  assert.throws(() => listedMembers("Error: x"), /something else than members/);
});
