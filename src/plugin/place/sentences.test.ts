import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../../kube/client/errors.ts";
import { CredentialsError } from "../../kube/credentials/credentials.ts";
import { TransportError } from "../../transport/errors.ts";
import { sentenceOf } from "./sentences.ts";

const rows: readonly (readonly [string, unknown, RegExp])[] = [
  [
    "a missing permission in a namespace",
    new ApiError(
      403,
      "Forbidden",
      'etcdclusters.etcd.database.coreos.com is forbidden: User "ada" cannot list resource "etcdclusters" in API group "etcd.database.coreos.com" in the namespace "prod"',
    ),
    /^You are ada and cannot list etcdclusters\.etcd\.database\.coreos\.com in the namespace prod\. .*Role.*kubectl auth can-i --list -n prod/,
  ],
  [
    "a missing permission on the whole cluster",
    new ApiError(
      403,
      "Forbidden",
      'nodes is forbidden: User "ada" cannot list resource "nodes" in API group "" at the cluster scope',
    ),
    /cannot list nodes at the cluster scope\. .*ClusterRole/,
  ],
  [
    "a webhook that says no",
    new ApiError(403, "Forbidden", "admission webhook denied the request: no"),
    /^Admission webhook denied the request: no\.$/,
  ],
  [
    "a cluster that is not there",
    new ApiError(404, "NotFound", 'etcdclusters.etcd.database.coreos.com "web" not found'),
    /^There is no EtcdCluster web in this namespace: `kubectl etcd status` lists/,
  ],
  [
    "another object that is not there",
    new ApiError(404, "NotFound", 'pods "web-1" not found'),
    /^There is no pod web-1 in this namespace: `kubectl get pods`/,
  ],
  [
    "a Kubernetes without the CRDs",
    new ApiError(404, "NotFound", "GET /apis/… was answered with 404: 404 page not found"),
    /has no EtcdCluster CRD: install the operator/,
  ],
  ["a login that expired", new ApiError(401, "Unauthorized", "Unauthorized"), /log in again/],
  [
    "an API server that is down",
    new TransportError("unreachable", "connect ECONNREFUSED 10.0.0.1:6443"),
    /^The API server does not answer: Connect ECONNREFUSED 10\.0\.0\.1:6443\. Check that it runs/,
  ],
  [
    "a kubeconfig that cannot be used",
    new CredentialsError("no kubeconfig at /x"),
    /^No kubeconfig at \/x\. --kubeconfig and --context choose another\.$/,
  ],
  [
    "anything else",
    new TypeError("x is not a function"),
    /^X is not a function\. This is unexpected: please report it/,
  ],
];

for (const [what, error, says] of rows)
  test(`${what} is a sentence that says what to do`, () => {
    assert.match(sentenceOf(error), says);
    assert.doesNotMatch(sentenceOf(error), /\n|\bat .*\.ts/);
  });
