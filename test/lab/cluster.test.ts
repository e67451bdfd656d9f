// The lab is a Kubernetes like any other: nodes, workloads, network, names, storage, images.
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { before, describe, test } from "node:test";
import type {
  NodeList,
  PersistentVolumeClaim,
  PersistentVolumeList,
  Pod,
  PodList,
  Service,
} from "kubernetes-types/core/v1.js";
import { waitFor } from "../../lab/progress.ts";
import { loadOperatorImage } from "../../lab/image.ts";
import { operatorImageTag } from "../../lab/images/operator.ts";
import { diskFolder } from "../../lab/storage/disk.ts";
import { apply, exec, kubectl, kubectlJson, ownNamespace, ready } from "../support/kubectl.ts";
import { testLab } from "../support/lab.ts";
import { triedVersions } from "../support/matrix.ts";

const lab = testLab();
const restricted = {
  runAsNonRoot: true,
  runAsUser: 65532,
  fsGroup: 65532,
  seccompProfile: { type: "RuntimeDefault" },
};
const container = (command: string[], extra: object = {}): object => ({
  name: "main",
  image: "lab.local/probe:1",
  command: ["/usr/local/bin/probe", ...command],
  securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
  ...extra,
});
const pod = (name: string, spec: object, labels: Record<string, string> = {}): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, labels },
  spec: { terminationGracePeriodSeconds: 0, securityContext: restricted, ...spec },
});

describe("workloads and network", () => {
  let namespace = "";
  let pods: Pod[] = [];
  before(async () => {
    // Every pod of this file passes the strictest profile; one that did not would be refused here.
    namespace = await ownNamespace("workloads", { "pod-security.kubernetes.io/enforce": "restricted" });
    const labels = { app: "web" };
    await apply(
      {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "web", namespace },
        spec: {
          replicas: 3,
          selector: { matchLabels: labels },
          template: {
            metadata: { labels },
            spec: {
              terminationGracePeriodSeconds: 0,
              securityContext: restricted,
              topologySpreadConstraints: [
                {
                  maxSkew: 1,
                  topologyKey: "topology.kubernetes.io/zone",
                  whenUnsatisfiable: "DoNotSchedule",
                  labelSelector: { matchLabels: labels },
                },
              ],
              containers: [container(["serve"], { readinessProbe: { httpGet: { port: 8080 }, periodSeconds: 1 } })],
            },
          },
        },
      },
      {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "web", namespace },
        spec: { selector: labels, ports: [{ port: 80, targetPort: 8080 }] },
      },
    );
    await kubectl("rollout", "status", "deployment/web", `--namespace=${namespace}`, "--timeout=180s");
    pods = (await kubectlJson<PodList>("get", "pods", `--namespace=${namespace}`, "--selector=app=web")).items;
  });
  const nameOf = (index: number): string => pods[index]?.metadata?.name ?? "";
  const addressOf = (index: number): string => pods[index]?.status?.podIP ?? "";

  test("all nodes are Ready, each in a zone of its own", async () => {
    const nodes = (await kubectlJson<NodeList>("get", "nodes")).items;
    assert.equal(nodes.length, lab.nodes);
    for (const node of nodes)
      assert.equal(node.status?.conditions?.find((condition) => condition.type === "Ready")?.status, "True");
    const zones = nodes.map((node) => node.metadata?.labels?.["topology.kubernetes.io/zone"]);
    assert.equal(new Set(zones).size, lab.nodes);
    assert.ok(nodes.every((node) => node.status?.nodeInfo?.kubeletVersion === `v${lab.kubernetes}`));
  });

  test("a deployment runs on all nodes", () => {
    assert.equal(new Set(pods.map((pod) => pod.spec?.nodeName)).size, 3);
  });

  test("pods on different nodes reach each other under their own addresses", async () => {
    for (const [from, to] of [
      [0, 1],
      [1, 2],
      [2, 0],
    ] as const) {
      const answer = await exec(
        namespace,
        nameOf(from),
        "/usr/local/bin/probe",
        "get",
        `http://${addressOf(to)}:8080/`,
      );
      assert.equal(answer.trim(), `${nameOf(to)} ${addressOf(from)}`);
    }
  });

  test("a service is reached from a pod by name and from the host by address", async () => {
    const names = new Set(pods.map((pod) => pod.metadata?.name));
    const url = `http://web.${namespace}.svc/`;
    // Pods are ready before every kube-proxy knows it.
    const answered = (from: string, ask: () => Promise<string>): Promise<string> =>
      waitFor(`an answer of the service to ${from}`, ask, { timeoutMs: 60_000 });
    const fromPod = await answered("a pod", () => exec(namespace, nameOf(0), "/usr/local/bin/probe", "get", url));
    assert.ok(names.has(fromPod.split(" ")[0]), fromPod);
    const service = await kubectlJson<Service>("get", "service", "web", `--namespace=${namespace}`);
    const fromHost = await answered("the host", async () =>
      (await fetch(`http://${service.spec?.clusterIP}/`, { signal: AbortSignal.timeout(10_000) })).text(),
    );
    assert.ok(names.has(fromHost.split(" ")[0]), fromHost);
  });

  test("the host reaches a pod by its address", async () => {
    const answer = await fetch(`http://${addressOf(1)}:8080/`, { signal: AbortSignal.timeout(10_000) });
    assert.equal((await answer.text()).split(" ")[0], nameOf(1));
  });

  test("exec and logs work", async () => {
    assert.match(
      await exec(namespace, nameOf(2), "/usr/local/bin/probe", "read", "/etc/hostname"),
      new RegExp(nameOf(2)),
    );
    assert.match(await kubectl("logs", nameOf(2), `--namespace=${namespace}`), /listening on/);
  });

  test("a headless service names its pods, also those that are not ready", async () => {
    const labels = { app: "named" };
    const named = (name: string, readinessProbe: object): object =>
      pod(name, { hostname: name, subdomain: "named", containers: [container(["serve"], { readinessProbe })] }, labels);
    const healthy = { httpGet: { port: 8080 }, periodSeconds: 1 };
    const never = { httpGet: { port: 1 }, periodSeconds: 1 };
    await apply(
      {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "named", namespace },
        spec: { clusterIP: "None", publishNotReadyAddresses: true, selector: labels, ports: [{ port: 8080 }] },
      },
      ...[named("ready", healthy), named("unready", never)].map((item) => inNamespace(item, namespace)),
    );
    await ready(namespace, "pod/ready");
    for (const name of ["ready", "unready"]) {
      const wanted = await waitFor(
        `an address for ${name}`,
        async () => (await kubectlJson<Pod>("get", "pod", name, `--namespace=${namespace}`)).status?.podIP,
        { timeoutMs: 60_000 },
      );
      const found = await waitFor(
        `the name of ${name}`,
        async () =>
          (await exec(namespace, nameOf(0), "/usr/local/bin/probe", "lookup", `${name}.named.${namespace}.svc`)).trim(),
        { timeoutMs: 60_000 },
      );
      assert.equal(found, wanted);
    }
    const unready = await kubectlJson<Pod>("get", "pod", "unready", `--namespace=${namespace}`);
    assert.equal(unready.status?.conditions?.find((condition) => condition.type === "Ready")?.status, "False");
  });
});

describe("storage", { concurrency: true }, () => {
  let namespace = "";
  before(async () => {
    namespace = await ownNamespace("storage");
  });
  const claim = (name: string): object => ({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name, namespace },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "320Mi" } } },
  });
  const user = (name: string, claimName: string, extra: object = {}): object =>
    inNamespace(
      pod(name, {
        containers: [container(["sleep"], { volumeMounts: [{ name: "data", mountPath: "/data" }], ...extra })],
        volumes: [{ name: "data", persistentVolumeClaim: { claimName } }],
      }),
      namespace,
    );
  const volumeOf = async (name: string): Promise<string> => {
    const bound = await kubectlJson<PersistentVolumeClaim>("get", "pvc", name, `--namespace=${namespace}`);
    assert.equal(bound.status?.phase, "Bound");
    return bound.spec?.volumeName ?? "";
  };

  test("a claim of the default class binds, its data survives the pod and goes with the claim", async () => {
    await apply(claim("kept"), user("first", "kept"));
    await ready(namespace, "pod/first");
    await exec(namespace, "first", "/usr/local/bin/probe", "write", "/data/note", "still here");
    await kubectl("delete", "pod", "first", `--namespace=${namespace}`);
    await apply(user("second", "kept"));
    await ready(namespace, "pod/second");
    assert.equal(await exec(namespace, "second", "/usr/local/bin/probe", "read", "/data/note"), "still here");

    const volume = await volumeOf("kept");
    const diskFiles = (): string[] => fs.readdirSync(diskFolder(lab)).filter((file) => file.includes(volume));
    assert.equal(diskFiles().length, 1);
    await kubectl("delete", "pod/second", "pvc/kept", `--namespace=${namespace}`);
    let left: string[] = [];
    await waitFor(
      "the volume to go",
      async () => {
        const volumes = (await kubectlJson<PersistentVolumeList>("get", "pv")).items;
        left = [...volumes.map((item) => item.metadata?.name ?? ""), ...diskFiles()].filter((name) =>
          name.includes(volume),
        );
        return left.length === 0 || undefined;
      },
      { timeoutMs: 60_000, lastSeen: () => left.join(", ") },
    );
  });

  test("a volume holds no more than was asked for, and grows while it is in use", async () => {
    const shell = { image: "docker.io/library/busybox:1.35", command: ["/bin/sleep", "3600"] };
    await apply(claim("growing"), user("grower", "growing", shell));
    await ready(namespace, "pod/grower");
    const before = await sizeInMiB("grower");
    assert.ok(before > 200 && before <= 320, `${before} MiB before`);
    await kubectl(
      "patch",
      "pvc",
      "growing",
      `--namespace=${namespace}`,
      "--type=merge",
      `--patch={"spec":{"resources":{"requests":{"storage":"640Mi"}}}}`,
    );
    let seen = "";
    await waitFor(
      "the claim to have grown",
      async () => {
        const grown = await kubectlJson<PersistentVolumeClaim>("get", "pvc", "growing", `--namespace=${namespace}`);
        seen = JSON.stringify(grown.status);
        return grown.status?.capacity?.["storage"] === "640Mi" || undefined;
      },
      { timeoutMs: 240_000, everyMs: 1000, lastSeen: () => seen },
    );
    const after = await sizeInMiB("grower");
    assert.ok(after > 500 && after <= 640, `${after} MiB after`);
    const grower = await kubectlJson<Pod>("get", "pod", "grower", `--namespace=${namespace}`);
    assert.equal(grower.status?.containerStatuses?.[0]?.restartCount, 0);
  });

  /** As the pod itself sees it. */
  const sizeInMiB = async (name: string): Promise<number> => {
    const lines = (await exec(namespace, name, "/bin/df", "-m", "/data")).trim().split("\n");
    return Number(lines.at(-1)?.split(/\s+/)[1]);
  };
});

describe("images", { concurrency: true }, () => {
  let namespace = "";
  before(async () => {
    namespace = await ownNamespace("images", { "pod-security.kubernetes.io/enforce": "restricted" });
    await loadOperatorImage(lab);
  });
  const outcome = async (name: string): Promise<string> => {
    await kubectl(
      "wait",
      "pod",
      name,
      `--namespace=${namespace}`,
      "--for=jsonpath={.status.phase}=Succeeded",
      "--timeout=180s",
    );
    return kubectl("logs", name, `--namespace=${namespace}`);
  };

  for (const name of ["etcd-operator", "etcd-backup-operator", "etcd-restore-operator"])
    test(`the operator image answers as ${name}, without root and without a writable disk`, async () => {
      const version = container([], {
        image: operatorImageTag,
        command: [`/usr/local/bin/${name}`, "--version"],
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        },
      });
      await apply(inNamespace(pod(name, { restartPolicy: "Never", containers: [version] }), namespace));
      assert.match(await outcome(name), new RegExp(`^${name} \\d+\\.\\d+\\.\\d+`));
    });

  for (const version of triedVersions)
    for (const repository of ["quay.io/coreos/etcd", "gcr.io/etcd-development/etcd"])
      test(`${repository}:v${version} runs in the lab as upstream ships it`, async () => {
        const name = `etcd-${version.replaceAll(".", "-")}-${repository.length}`;
        const etcd = container([], {
          image: `${repository}:v${version}`,
          command: ["/usr/local/bin/etcd", "--data-dir=/data/etcd"],
          env: [{ name: "ETCDCTL_API", value: "3" }],
          volumeMounts: [{ name: "data", mountPath: "/data" }],
        });
        await apply(
          inNamespace(pod(name, { containers: [etcd], volumes: [{ name: "data", emptyDir: {} }] }), namespace),
        );
        await ready(namespace, `pod/${name}`);
        const etcdctl = (...args: string[]): Promise<string> =>
          exec(namespace, name, "/usr/local/bin/etcdctl", ...args);
        await waitFor(`etcd ${version} to take a write`, () => etcdctl("put", "greeting", "hello"), {
          timeoutMs: 60_000,
          everyMs: 300,
        });
        assert.equal((await etcdctl("get", "greeting", "--print-value-only")).trim(), "hello");
        assert.match(await etcdctl("version"), new RegExp(`etcdctl version: ${version.replaceAll(".", "\\.")}`));
      });
});

function inNamespace(object: object, namespace: string): object {
  const { metadata, ...rest } = object as { metadata: object };
  return { ...rest, metadata: { ...metadata, namespace } };
}
