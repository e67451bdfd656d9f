import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "../../kube/objects/kinds.ts";
import { endpointOf, execWords, inMember, type Input, listedMembers, readsInput, speaksTls } from "./words.ts";

function pod(version: string, ...command: readonly string[]): Pod {
  return {
    metadata: { name: "web-1", namespace: "prod", annotations: { "etcd.version": version } },
    spec: { containers: [{ name: "etcd", command: ["/usr/local/bin/etcd", ...command] }] },
  };
}

test("etcdctl runs in the member, at the endpoint that it was started with", () => {
  const member = pod("3.6.16", "--advertise-client-urls=http://web-1.web.prod.svc:2379");
  assert.deepEqual(execWords(inMember(member), [endpointOf(member)], ["get", "a"], "none"), [
    "exec",
    "--namespace=prod",
    "web-1",
    "--container=etcd",
    "--",
    "etcdctl",
    "--endpoints=http://web-1.web.prod.svc:2379",
    "get",
    "a",
  ]);
  assert.equal(speaksTls(member), false);
  assert.equal(speaksTls(pod("3.6.16", "--advertise-client-urls=https://web-1.web.prod.svc:2379")), true);
});

test("an old etcdctl is asked for the new API", () => {
  const words = execWords(inMember(pod("3.3.27")), ["http://x:2379", "http://y:2379"], ["get", "a"], "none");
  const expected = ["env", "ETCDCTL_API=3", "etcdctl", "--endpoints=http://x:2379,http://y:2379", "get", "a"];
  assert.deepEqual(words.slice(words.indexOf("--") + 1), expected);
});

test("somebody at a terminal shares it with etcdctl, and a file is passed on", () => {
  const words = (input: Input): string[] => execWords(inMember(pod("3.6.16")), ["http://x:2379"], ["txn"], input);
  assert.deepEqual(words("terminal").slice(2, 5), ["--stdin", "--tty", "web-1"]);
  assert.deepEqual(words("stream").slice(2, 4), ["--stdin", "web-1"]);
  assert.equal(words("none").includes("--stdin"), false);
});

test("etcdctl is given standard input only where it reads it, so that a loop keeps its list", () => {
  const reads: readonly (readonly [string, boolean])[] = [
    ["put key", true],
    ["put --lease 7b key", true],
    ["-w json put key", true],
    ["put key value", false],
    ["put --lease=7b key value", false],
    ["put key --ignore-value", false],
    ["put", false],
    ["txn", true],
    ["watch -i", true],
    ["watch key", false],
    ["user add ada --interactive=false", true],
    ["user passwd ada", true],
    ["user list", false],
    ["get key", false],
    ["del key", false],
  ];
  for (const [line, expected] of reads) assert.equal(readsInput(line.split(" ")), expected, line);
});

test("ids of members are read as they are printed, for they do not fit into numbers", () => {
  const printed =
    "8aedce0d333c42ad, started, web-1, http://p, http://c, false\n7b54399ef38ca1, unstarted, , http://p, , true\n";
  assert.deepEqual(listedMembers(printed), [
    { id: "8aedce0d333c42ad", started: true, name: "web-1", isLearner: false },
    { id: "7b54399ef38ca1", started: false, name: "", isLearner: true },
  ]);
  assert.throws(() => listedMembers("Error: x"), /did not print a list of members/);
});
