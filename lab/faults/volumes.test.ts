import assert from "node:assert/strict";
import { test } from "node:test";
import { labConfig, labNode, UsageError } from "../config.ts";
import type { RunningPod } from "../nodes/pods.ts";
import { volumeNamed, volumesOf } from "./volumes.ts";

const node = labNode(labConfig(), 0);
const inPod = (path: string): string => `${node.root}/kubelet/pods/u-1/${path}`;

const podWith = (...mounts: [source: string, destination: string][]): RunningPod => ({
  namespace: "ns",
  name: "etcd-0",
  uid: "u-1",
  node,
  address: "10.99.16.2",
  containers: [
    { name: "etcd", id: "c-1", pid: 1, mounts: mounts.map(([source, destination]) => ({ source, destination })) },
  ],
});

const kubelets: [string, string][] = [
  [inPod("etc-hosts"), "/etc/hosts"],
  [inPod("containers/etcd/0a1b"), "/dev/termination-log"],
  [inPod("volumes/kubernetes.io~projected/kube-api-access-x"), "/var/run/secrets/kubernetes.io/serviceaccount"],
  [inPod("volumes/kubernetes.io~secret/tls"), "/etc/tls"],
  [`${node.root}/containerd/io.containerd.grpc.v1.cri/sandboxes/x/resolv.conf`, "/etc/resolv.conf"],
  [`${node.root}/containerd-state/io.containerd.grpc.v1.cri/sandboxes/x/shm`, "/dev/shm"],
];
const data: [string, string] = [inPod("volumes/kubernetes.io~empty-dir/data"), "/var/etcd"];
const claim: [string, string] = [inPod("volumes/kubernetes.io~local-volume/pvc-1"), "/backup"];

test("only mounts with the pod's own data count as volumes", () => {
  const volumes = volumesOf(podWith(...kubelets, data, claim));
  assert.deepEqual(
    volumes.map(({ name }) => name),
    ["data", "pvc-1"],
  );
});

test("the only volume needs no name; one of several is chosen by name or path", () => {
  const one = podWith(...kubelets, data);
  assert.equal(volumeNamed(one, volumesOf(one)).source, data[0]);
  const two = podWith(...kubelets, data, claim);
  assert.equal(volumeNamed(two, volumesOf(two), "data").source, data[0]);
  assert.equal(volumeNamed(two, volumesOf(two), "/backup").source, claim[0]);
  assert.throws(() => volumeNamed(two, volumesOf(two)), UsageError);
  assert.throws(() => volumeNamed(two, volumesOf(two), "other"), UsageError);
});
