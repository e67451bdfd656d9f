// Pods that speak TLS: their flags, files, URLs and probes, in every combination; and that they are read back as they are.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type EtcdClusterSpec, withDefaults } from "../../api/etcd-cluster/etcd-cluster.ts";
import { has } from "../../etcd/versions/features.ts";
import { parseVersion, version as parse } from "../../etcd/versions/version.ts";
import { leanPod, observedPod } from "../observe/pods.ts";
import { endpointOf } from "./endpoints.ts";
import { memberPod } from "./member-pod.ts";
import { memberName } from "./names.ts";
import {
  namesToMake,
  plainText,
  type PodTls,
  requiredNames,
  secretName,
  servingGate,
  tlsOf,
  wouldAskDns,
} from "./tls.ts";

const clusterOf = (spec: Partial<EtcdClusterSpec> = {}) =>
  withDefaults({ metadata: { name: "c", namespace: "ns", uid: "u" }, spec: { size: 3, version: "3.6.16", ...spec } });

const podOf = (tls: PodTls, version = "3.6.16") =>
  memberPod(clusterOf({ version }), memberName("c-a"), { as: "seed" }, tls);
const commandIn = (pod: ReturnType<typeof memberPod>): readonly string[] => pod.spec?.containers[0]?.command ?? [];

const both: PodTls = {
  peer: "tls",
  client: true,
  trusts: { peer: "p", client: "q" },
  anchors: { peer: "t", client: "u" },
  presents: { peer: "r", client: "s" },
  made: true,
};

describe("what the spec asks for", () => {
  const plain = { peer: false, client: false, made: false };
  const table: [string, EtcdClusterSpec["TLS"], object][] = [
    ["nothing", undefined, { peer: false, client: false, made: false }],
    ["certificates of the operator", { auto: true }, { peer: true, client: true, made: true }],
    ["peers only", { static: { member: { peerSecret: "p" } } }, { peer: true, client: false, made: false }],
    [
      "clients only",
      { static: { member: { serverSecret: "s" }, operatorSecret: "o" } },
      { peer: false, client: true, made: false },
    ],
    ["servers without the operator", { static: { member: { serverSecret: "s" } } }, plain],
    ["the operator without servers", { static: { operatorSecret: "o" } }, plain],
    [
      "the empty fields of etcd-operator 0.9",
      { static: { member: { peerSecret: "", serverSecret: "" }, operatorSecret: "" } },
      { peer: false, client: false, made: false },
    ],
  ];
  for (const [what, TLS, wanted] of table)
    test(what, () => assert.deepEqual(tlsOf(clusterOf(TLS === undefined ? {} : { TLS })), wanted));
});

test("flags and files are those of etcd-operator 0.9, and the Secrets are the operator's", () => {
  const pod = podOf(both);
  assert.deepEqual(commandIn(pod).slice(3, 15), [
    "--initial-advertise-peer-urls=https://c-a.c.ns.svc:2380",
    "--listen-peer-urls=https://0.0.0.0:2380",
    "--listen-client-urls=https://0.0.0.0:2379",
    "--advertise-client-urls=https://c-a.c.ns.svc:2379",
    "--peer-client-cert-auth=true",
    "--peer-trusted-ca-file=/etc/etcdtls/member/peer-tls/peer-ca.crt",
    "--peer-cert-file=/etc/etcdtls/member/peer-tls/peer.crt",
    "--peer-key-file=/etc/etcdtls/member/peer-tls/peer.key",
    "--client-cert-auth=true",
    "--trusted-ca-file=/etc/etcdtls/member/server-tls/server-ca.crt",
    "--cert-file=/etc/etcdtls/member/server-tls/server.crt",
    "--key-file=/etc/etcdtls/member/server-tls/server.key",
  ]);
  const secrets = pod.spec?.volumes?.map(({ name, secret }) => [name, secret?.secretName]);
  assert.deepEqual(secrets, [
    ["member-peer-tls", "c-peer-tls"],
    ["member-server-tls", "c-server-tls"],
    ["etcd-data", undefined],
  ]);
  assert.ok(pod.spec?.containers[0]?.volumeMounts?.every(({ subPath }) => subPath === undefined));
  assert.equal(
    pod.metadata?.annotations?.["etcd.database.coreos.com/initial-cluster"],
    "c-a=https://c-a.c.ns.svc:2380",
  );
});

describe("peer and client TLS are independent, and a pod is read back as it was made", () => {
  for (const peer of ["plain", "ready", "tls"] as const)
    for (const client of [false, true])
      test(`peer: ${peer}, client: ${client}`, () => {
        const tls = { ...both, peer, client };
        const pod = podOf(tls);
        const seen = observedPod(leanPod(pod), undefined);
        assert.deepEqual(seen.tls, { ...tls, made: peer !== "plain" });
        assert.equal(seen.servingGate, client ? "closed" : undefined);
        assert.ok(commandIn(pod).includes(`--listen-peer-urls=${peer === "tls" ? "https" : "http"}://0.0.0.0:2380`));
        assert.equal(pod.spec?.volumes?.length, 1 + Number(peer !== "plain") + Number(client));
      });
});

describe("probes need no client certificate", () => {
  for (const version of ["3.2.13", "3.3.27", "3.4.23", "3.4.43", "3.5.10", "3.5.35", "3.6.16", "3.7.3"])
    test(version, () => {
      const pod = podOf(both, version);
      const [container] = pod.spec?.containers ?? [];
      const probes = [container?.startupProbe, container?.readinessProbe, container?.livenessProbe];
      const parsed = parseVersion(version);
      for (const probe of probes)
        if (probe?.httpGet === undefined) assert.equal(probe?.tcpSocket?.port, 2379);
        else {
          assert.deepEqual([probe.httpGet.port, probe.httpGet.scheme], [2381, "HTTP"]);
          assert.ok(parsed && has(parsed, "metricsListener"));
          assert.notEqual(probe.httpGet.path, "/version", "the metrics listener does not know it");
        }
      assert.deepEqual(pod.spec?.readinessGates, [{ conditionType: servingGate }]);
    });
  test("without TLS nobody waits for the operator", () =>
    assert.equal(podOf(plainText).spec?.readinessGates, undefined));
});

describe("a new member is known to its peers before DNS knows it, where etcd can be told so", () => {
  const [experimental, stable] = [
    "EXPERIMENTAL_PEER_SKIP_CLIENT_SAN_VERIFICATION",
    "PEER_SKIP_CLIENT_SAN_VERIFICATION",
  ];
  const byName = "PEER_CERT_ALLOWED_HOSTNAME=c-a.c.ns.svc";
  const given = { ...both, made: false };
  const table: [string, PodTls, string, string[]][] = [
    ["by the signature of a CA that is theirs alone", both, "3.7.3", [`${stable}=true`]],
    ["by the signature of a CA that is theirs alone", both, "3.5.35", [`${experimental}=true`]],
    ["by the signature of a CA that is theirs alone", both, "3.3.27", [`${experimental}=true`]],
    ["by nothing that 3.2 had", both, "3.2.13", []],
    ["by the names in a given certificate", given, "3.7.3", [`${stable}=true`, byName]],
    ["by the names in a given certificate", given, "3.6.16", [`${stable}=true`, byName]],
    ["by the names in a given certificate", given, "3.5.35", [`${experimental}=true`, byName]],
    ["by the names in a given certificate", given, "3.4.23", [`${experimental}=true`, byName]],
    ["by nothing: to 3.3 any certificate of the CA would be a peer's", given, "3.3.27", []],
    ["by nothing that 3.2 had", given, "3.2.13", []],
    ["by nothing, where they speak plain text", { ...given, peer: "plain" }, "3.6.16", []],
    ["by the names, while TLS is being turned on", { ...given, peer: "ready" }, "3.6.16", [`${stable}=true`, byName]],
  ];
  const peerVariables = (pod: ReturnType<typeof memberPod>): string[] =>
    (pod.spec?.containers[0]?.env ?? [])
      .filter(({ name }) => /CLIENT_SAN|PEER_CERT/.test(name))
      .map(({ name, value }) => `${name.slice("ETCD_".length)}=${value}`);
  for (const [what, tls, version, wanted] of table)
    test(`${version}: ${what}`, () => assert.deepEqual(peerVariables(podOf(tls, version)), wanted));

  test("a person who says who is a peer is not contradicted: etcd does not start with two of these settings", () => {
    const podWith = (spec: Partial<EtcdClusterSpec>) =>
      memberPod(clusterOf(spec), memberName("c-a"), { as: "seed" }, given);
    for (const name of ["peer-cert-allowed-cn", "peer-cert-allowed-hostname"]) {
      const asVariable = `ETCD_${name.toUpperCase().replaceAll("-", "_")}`;
      const seen = peerVariables(podWith({ pod: { etcdEnv: [{ name: asVariable, value: "x" }] } }));
      assert.deepEqual(seen, [`${asVariable.slice("ETCD_".length)}=x`]);
      assert.equal(peerVariables(podWith({ etcd: { extraArgs: [`--${name}=x`] } })).length, 1);
    }
    const skips = "--experimental-peer-skip-client-san-verification=false";
    assert.deepEqual(peerVariables(podWith({ etcd: { extraArgs: [skips] } })), [`${stable}=false`]);
  });

  test("a pod with given certificates is not taken for one with made ones", () => {
    for (const made of [true, false])
      assert.equal(observedPod(leanPod(podOf({ ...both, made })), undefined).tls.made, made);
  });

  test("a version that knows the setting by another name would ask DNS, and is not put into the pod", () => {
    const variablesIn = (version: string) => observedPod(leanPod(podOf(given, version)), undefined).variables;
    const asks = (from: string, to: string) => wouldAskDns(variablesIn(from), parse(to));
    assert.deepEqual(
      [asks("3.5.35", "3.6.16"), asks("3.6.16", "3.7.3"), asks("3.5.35", "3.7.3")],
      [false, false, true],
    );
    assert.equal(asks("3.2.13", "3.7.3"), false, "it does so already");
  });
});

test("names: what certificates must cover, and what those that are made do", () => {
  assert.deepEqual(requiredNames(clusterOf(), "peer"), ["*.c.ns.svc"]);
  assert.deepEqual(requiredNames(clusterOf({ pod: { ClusterDomain: ".d" } }), "peer"), ["*.c.ns.svc.d"]);
  assert.deepEqual(requiredNames(clusterOf({ pod: { ClusterDomain: ".d" } }), "server"), ["*.c.ns.svc"]);
  assert.deepEqual(requiredNames(clusterOf(), "operator"), []);
  const made = namesToMake(clusterOf({ pod: { ClusterDomain: ".d" } }), "server");
  for (const name of ["*.c.ns.svc", "*.c.ns.svc.d", "c-client.ns.svc", "c-client", "c-client.ns", "localhost"])
    assert.ok(made.includes(name), name);
  assert.ok(namesToMake(clusterOf(), "peer").includes("*.c.ns.svc.cluster.local"), "what DNS calls an address");
  assert.deepEqual(
    (["peer", "server", "operator", "client", "peer-ca", "client-ca"] as const).map((use) =>
      secretName(clusterOf(), use),
    ),
    ["c-peer-tls", "c-server-tls", "c-operator-tls", "c-client-tls", "c-peer-ca", "c-client-ca"],
  );
});

test("a member that speaks TLS is reached at its address, under its name, with the operator's certificate", () => {
  const identity = { ca: "CA" };
  assert.deepEqual(endpointOf({ address: "10.0.0.1", tls: { serverName: "c-a.c.ns.svc", identity } }), {
    url: "https://10.0.0.1:2379",
    serverName: "c-a.c.ns.svc",
    tls: identity,
  });
  assert.deepEqual(endpointOf({ address: "fd00::1" }), { url: "http://[fd00::1]:2379" });
});
