import assert from "node:assert/strict";
import { test } from "node:test";
import { plainCluster } from "./plain.ts";

const { service, pods } = plainCluster({ namespace: "n", name: "p" }, ["p-0", "p-1", "p-2"]);
const commands = pods.map((pod) => pod.spec?.containers[0]?.command ?? []);

test("every plain pod starts a new cluster and knows all members of it", () => {
  const url = (member: string): string => `${member}=http://${member}.p.n.svc:2380`;
  const all = ["p-0", "p-1", "p-2"].map(url).join(",");
  for (const command of commands) {
    assert.equal(command.filter((argument) => argument === "--initial-cluster-state=new").length, 1);
    assert.ok(command.includes(`--initial-cluster=${all}`), command.join(" "));
  }
});

test("nothing that is plain has an owner, which would have it deleted", () => {
  for (const { metadata } of [service, ...pods]) assert.equal(metadata?.ownerReferences, undefined);
});

test("plain pods are found before they are ready, under their own names", () => {
  assert.equal(service.spec?.publishNotReadyAddresses, true);
  assert.deepEqual(
    pods.map(({ spec }) => `${spec?.hostname}.${spec?.subdomain}`),
    ["p-0.p", "p-1.p", "p-2.p"],
  );
});
