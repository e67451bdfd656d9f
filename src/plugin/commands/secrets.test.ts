// No secret is printed, written or made part of an argument. Each test plants one and looks for it everywhere.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { settingsAnnotation } from "../../cluster/objects/member-pod.ts";
import { Deployment, Pod, Secret } from "../../kube/objects/kinds.ts";
import { leader, members, speakTls, staged } from "../testing/sample-cluster.ts";
import type { Stage } from "../testing/stage.ts";

const planted = "hush-7261";
const base64 = (text: string): string => Buffer.from(text).toString("base64");
const namespace = "default";
const [first] = members;

async function withLogin(password = planted): Promise<Stage> {
  const stage = await staged("healthy", (one) => ({
    ...one,
    spec: { ...one.spec, auth: { operatorSecret: "login" } },
  }));
  const data = { username: base64("root\n"), password: base64(password) };
  await stage.add(Secret, { metadata: { namespace, name: "login" }, data });
  return stage;
}

const usesOfLogin = [
  ["ctl", "--login", "my-etcd", "get", "a"],
  ["defrag", "my-etcd", "--login", "--yes"],
  ["move-leader", "my-etcd", first, "--login"],
] as const;

describe("the operator's login", () => {
  for (const words of usesOfLogin) {
    test(`is in no argument of ${words[0]}, and in no message when etcd refuses it`, async () => {
      const stage = await withLogin();
      const pods: Pod[] = [];
      stage.startPods((pod) => pods.push(pod));
      stage.kubectl = () => undefined;
      const { code, out, err } = await stage.run(...words);
      assert.equal(code, 1);
      assert.ok(stage.calls.length > 0 && pods.length === 1, "etcdctl was run, in a pod of its own");
      assert.doesNotMatch(JSON.stringify([out, err, stage.calls, pods]), new RegExp(planted));
    });
  }

  test("is given to etcdctl as the operator reads it, without the line end that echo adds", async () => {
    const stage = await withLogin(`${planted}\n`);
    const given: string[] = [];
    stage.startPods((pod, secrets) => {
      const env = pod.spec?.containers[0]?.env ?? [];
      const { name = "", key = "" } = env.find((one) => one.name === "ETCDCTL_USER")?.valueFrom?.secretKeyRef ?? {};
      const data = secrets.find(({ metadata }) => metadata?.name === name)?.data?.[key] ?? "";
      given.push(Buffer.from(data, "base64").toString("utf8"));
    });
    assert.equal((await stage.run("ctl", "--login", "my-etcd", "get", "a")).code, 0);
    assert.deepEqual(given, [`root:${planted}`]);
  });

  test("and the pod that had it are gone afterwards, whatever came of it", async () => {
    for (const answer of ["", undefined]) {
      const stage = await withLogin();
      stage.startPods();
      stage.kubectl = () => answer;
      await stage.run("ctl", "--login", "my-etcd", "get", "a");
      assert.deepEqual(
        (await stage.api.list(Secret)).items.map(({ metadata }) => metadata?.name),
        ["login"],
      );
      assert.equal((await stage.api.list(Pod)).items.length, members.length);
    }
  });

  test("that was typed by hand is not repeated when the command fails", async () => {
    const stage = await staged();
    const refused = await stage.run(`--user=root:${planted}`, "ctl", "my-etcd", "get", "a");
    assert.equal(refused.code, 2);
    assert.doesNotMatch(refused.err, new RegExp(planted));
  });
});

describe("with TLS", () => {
  test("etcdctl shows a client's certificate: that of applications, or with --login the operator's", async () => {
    for (const [flags, clientSecret, expected] of [
      [[], "my-etcd-client-tls", "my-etcd-client-tls"],
      [[], "", "my-etcd-operator-tls"],
      [["--login"], "my-etcd-client-tls", "my-etcd-operator-tls"],
    ] as const) {
      const stage = await staged("healthy", (one) => ({ ...one, status: { ...one.status, clientSecret } }));
      await speakTls(stage);
      const mounted: (string | undefined)[] = [];
      stage.startPods((pod) => mounted.push(pod.spec?.volumes?.[0]?.secret?.secretName));
      for (const words of [
        ["ctl", ...flags, "my-etcd", "get", "a"],
        ["defrag", "my-etcd", "--yes", ...flags],
        ["move-leader", "my-etcd", first, ...flags],
      ])
        assert.equal((await stage.run(...words)).code, 0, words.join(" "));
      assert.deepEqual(mounted, [expected, expected, expected]);
      for (const args of stage.calls) {
        assert.ok(args.includes("--cert=/etc/etcdctl/etcd-client.crt"), args.join(" "));
        assert.doesNotMatch(args.join(" "), /server\.crt/);
      }
    }
  });

  test("a pod that does not start is a sentence, and is deleted", async () => {
    const stage = await staged();
    await speakTls(stage);
    const create = stage.api.create.bind(stage.api);
    stage.api.create = async (kind, object, options) => {
      const made = await create(kind, object, options);
      const { namespace = "", name = "" } = made.metadata ?? {};
      const status = { phase: "Failed", reason: "Evicted", message: "The node was low on memory." };
      if (kind.kind === Pod.kind)
        await stage.api.mergePatch(Pod, { namespace, name }, { status }, { subresource: "status" });
      return made;
    };
    const { code, err } = await stage.run("ctl", "my-etcd", "get", "a");
    assert.equal(code, 1);
    assert.match(err, /does not start \(Evicted: The node was low on memory\.\)\. It mounts the Secret my-etcd-/);
    assert.equal((await stage.api.list(Pod)).items.length, members.length);
  });
});

describe("report", () => {
  const variable = [{ name: "ETCD_AUTH_TOKEN", value: planted }];

  async function reported(stage: Stage, ...flags: readonly string[]): Promise<Map<string, string>> {
    const folder = mkdtempSync(join(tmpdir(), "report-"));
    try {
      const printed = await stage.run("report", "my-etcd", `--file=${join(folder, "r")}`, ...flags);
      assert.equal(printed.code, 0, printed.err);
      const files = readdirSync(join(folder, "r"), { recursive: true, encoding: "utf8" });
      return new Map([
        ["out", printed.out],
        ["err", printed.err],
        ...files
          .filter((file) => /\.\w+$/.test(file))
          .map((file) => [file, readFileSync(join(folder, "r", file), "utf8")] as const),
      ]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  function assertNowhere(files: ReadonlyMap<string, string>): void {
    for (const [name, text] of files) assert.doesNotMatch(text, new RegExp(`${planted}|${base64(planted)}`), name);
  }

  test("has no value of a variable: not of the spec, of a pod, nor in an annotation that an older release wrote", async () => {
    const change = (one: EtcdCluster): EtcdCluster => ({
      ...one,
      metadata: { ...one.metadata, annotations: { "example.org/copy": JSON.stringify({ etcdEnv: variable }) } },
      spec: { ...one.spec, pod: { ...one.spec.pod, etcdEnv: variable } },
    });
    const stage = await staged("healthy", change);
    const settings = JSON.stringify({ etcdEnv: variable, size: 3 });
    const last = JSON.stringify({ spec: { pod: { etcdEnv: variable } } });
    await stage.api.mergePatch(
      Pod,
      { namespace, name: leader },
      {
        metadata: {
          annotations: { [settingsAnnotation]: settings, "kubectl.kubernetes.io/last-applied-configuration": last },
        },
      },
    );
    await stage.add(Pod, {
      metadata: { namespace, name: "my-etcd-gone", labels: { app: "etcd", etcd_cluster: "my-etcd" } },
      spec: { containers: [{ name: "etcd", env: variable }] },
    });
    stage.log = (pod) => `{"msg":"recognized and used environment variable","variable-value":"${planted}"} ${pod}\n`;
    const files = await reported(stage);
    assertNowhere(files);
    assert.match(files.get("pods.yaml") ?? "", /ETCD_AUTH_TOKEN/);
  });

  test("has no value of a variable that is in the spec no more, and in an annotation of an older release still", async () => {
    const stage = await staged("healthy");
    const annotations = { [settingsAnnotation]: JSON.stringify({ pod: { etcdEnv: variable } }) };
    await stage.api.mergePatch(Pod, { namespace, name: leader }, { metadata: { annotations } });
    const files = await reported(stage);
    assertNowhere(files);
    assert.match(files.get("pods.yaml") ?? "", /ETCD_AUTH_TOKEN/);
  });

  test("has no value of a Secret, and no password in the arguments of a container", async () => {
    const stage = await withLogin();
    await stage.add(Secret, {
      metadata: { namespace, name: "mine", labels: { app: "etcd", etcd_cluster: "my-etcd" } },
      data: { password: base64(planted) },
      stringData: { other: planted },
    });
    assertNowhere(await reported(stage));
  });

  test("has the operator's own Deployment, and none of its neighbours", async () => {
    const stage = await staged();
    const deployment = (name: string, labels: Record<string, string>, args: readonly string[]): Deployment => ({
      metadata: { namespace: "ops", name, labels },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name, args: [...args], env: variable }] } },
      },
    });
    await stage.add(
      Deployment,
      deployment("etcd-operator", { "app.kubernetes.io/name": "etcd-operator", name: "etcd-operator" }, [
        "-cluster-wide",
      ]),
      deployment("billing", { app: "billing" }, [`--api-key=${planted}`]),
    );
    const files = await reported(stage, "--operator-namespace=ops");
    assertNowhere(files);
    assert.match(files.get("operator/deployment.yaml") ?? "", /-cluster-wide/);
    assert.doesNotMatch(files.get("operator/deployment.yaml") ?? "", /billing/);
  });
});
