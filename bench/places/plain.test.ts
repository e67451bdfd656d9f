import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "../../src/kube/objects/kinds.ts";
import { etcdVersion } from "./operated.ts";
import { plainCluster, plainInVersion, plainJoiner } from "./plain.ts";

const key = { namespace: "n", name: "p" };
const { service, pods } = plainCluster(key, ["p-0", "p-1", "p-2"]);
const peerUrl = (member: string): string => `http://${member}.p.n.svc:2380`;
const listOf = (...members: string[]): string => members.map((member) => `${member}=${peerUrl(member)}`).join(",");

/** What etcd gets from a kubelet, which puts the annotation in the place of its name. */
function variable(pod: Pod, name: string): string | undefined {
  const env = pod.spec?.containers[0]?.env?.find((each) => each.name === name);
  const annotation = /^metadata\.annotations\['(.*)'\]$/.exec(env?.valueFrom?.fieldRef?.fieldPath ?? "")?.[1];
  return annotation === undefined ? env?.value : pod.metadata?.annotations?.[annotation];
}

test("every plain pod starts a new cluster and knows all members of it", () => {
  for (const pod of pods) {
    assert.equal(variable(pod, "ETCD_INITIAL_CLUSTER_STATE"), "new");
    assert.equal(variable(pod, "ETCD_INITIAL_CLUSTER"), listOf("p-0", "p-1", "p-2"));
  }
});

test("a plain pod that joins a running cluster has the list that it was given", () => {
  const list = ["p-1", "p-2", "p-3"].map((name) => ({ name, peerUrls: [peerUrl(name)] }));
  const joiner = plainJoiner(key, "p-3", list);
  assert.equal(variable(joiner, "ETCD_INITIAL_CLUSTER_STATE"), "existing");
  assert.equal(variable(joiner, "ETCD_INITIAL_CLUSTER"), listOf("p-1", "p-2", "p-3"));
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

test("a plain pod in another version differs in its image alone, which is all that Kubernetes lets a person change", () => {
  const [pod = {}] = pods;
  const changed = plainInVersion(pod, "3.7.3");
  assert.deepEqual(
    changed.spec?.containers.map(({ image }) => image),
    ["quay.io/coreos/etcd:v3.7.3"],
  );
  assert.deepEqual(plainInVersion(changed, etcdVersion), pod);
});
