// The chart gives what the plain manifests give, has a value for everything that differs between installations, and refuses
// nonsense with a sentence. By both majors of Helm.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { cp, mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, describe, test } from "node:test";
import { defaultOf } from "../../install/chart/values-files.ts";
import { flatten } from "../../install/chart/value.ts";
import { values } from "../../install/chart/values.ts";
import { installationOf } from "../../install/installation.ts";
import type { Manifest } from "../../install/manifest.ts";
import { ruleFile } from "../../observability/rules.ts";
import { chart, helms } from "./helm.ts";
import { comparable, manifestsIn, titleOf } from "./rendered.ts";

const folder = mkdtempSync(path.join(tmpdir(), "etcd-operator-chart-"));
after(() => rmSync(folder, { recursive: true, force: true }));

interface Container {
  image: string;
  args: string[];
  [field: string]: unknown;
}
interface Deployed extends Manifest {
  spec: {
    replicas: number;
    template: {
      metadata: { labels: Record<string, string>; annotations?: Record<string, string> };
      spec: { containers: [Container]; [field: string]: unknown };
    };
    [field: string]: unknown;
  };
}

for (const helm of helms)
  describe(helm.title, { concurrency: 2 }, () => {
    const render = async (...args: string[]): Promise<Manifest[]> =>
      manifestsIn(await helm.run("template", "etcd-operator", chart, "--namespace=etcd-operator", ...args));
    const deployed = async (...args: string[]): Promise<Deployed> => {
      const found = (await render(...args)).find(({ kind }) => kind === "Deployment");
      assert.ok(found);
      return found as Deployed;
    };
    const titles = async (...args: string[]): Promise<string[]> => (await render(...args)).map(titleOf);

    test("default values give the objects of install.yaml", async () => {
      assert.deepEqual(
        comparable(await render()),
        comparable(installationOf({ scope: "clusterwide", namespace: "etcd-operator" })),
      );
    });

    test("clusterWide=false gives the objects of install-namespace.yaml", async () => {
      assert.deepEqual(
        comparable(await render("--set=clusterWide=false")),
        comparable(installationOf({ scope: "namespace", namespace: "etcd-operator" })),
      );
    });

    test("helm lint finds nothing", async () => {
      assert.match(await helm.run("lint", "--strict", chart), /1 chart\(s\) linted, 0 chart\(s\) failed/);
    });

    test("the CRDs are kept when the release is uninstalled", async () => {
      const crds = (await render()).filter(({ kind }) => kind === "CustomResourceDefinition");
      assert.deepEqual(
        crds.map(({ metadata }) => metadata.annotations?.["helm.sh/resource-policy"]),
        ["keep", "keep", "keep"],
      );
      assert.ok(!(await titles("--set=crds.create=false")).some((title) => title.startsWith("CustomResource")));
    });

    const refusals: readonly (readonly [string, string, RegExp])[] = [
      ["a misspelled value", "--set=replicas=2", /additional properties 'replicas' not allowed/],
      ["a misspelled value in a group", "--set=image.tags=1", /at '\/image': additional properties 'tags' not allowed/],
      ["words for a number", "--set=replicaCount=two", /at '\/replicaCount': got string, want integer/],
      ["a negative number", "--set=replicaCount=-1", /at '\/replicaCount': minimum: got -1, want 0/],
      [
        "a pull policy that Kubernetes does not have",
        "--set=image.pullPolicy=Sometimes",
        /at '\/image\/pullPolicy': value must be one of 'Always', 'IfNotPresent', 'Never'/,
      ],
      ["a word for a truth", "--set-string=clusterWide=yes", /at '\/clusterWide': got string, want boolean/],
      [
        "a scope that is two",
        "--set=watchNamespaces={a}",
        /clusterWide and watchNamespaces are mutually exclusive: set/,
      ],
      [
        "a flag that has a value",
        "--set=extraArgs={-cluster-wide}",
        /-cluster-wide has a value of its own: clusterWide/,
      ],
    ];
    for (const [what, given, says] of refusals)
      test(`${what} is refused with a sentence`, async () => {
        assert.match(await helm.refuses("template", "etcd-operator", chart, given), says);
      });

    test("global values of a chart around it are accepted", async () => {
      assert.ok((await render("--set=global.imageRegistry=example.org")).length > 0);
    });

    test("the image is named by repository, tag and digest", async () => {
      const imageBy = async (...sets: string[]): Promise<string | undefined> =>
        (await deployed(...sets)).spec.template.spec.containers[0].image;
      assert.equal(await imageBy("--set=image.repository=example.org/op"), "example.org/op:0.1.0");
      assert.equal(await imageBy("--set=image.tag=v9"), "etcd-operator.invalid/etcd-operator:v9");
      const digest = `sha256:${"0".repeat(64)}`;
      assert.equal(
        await imageBy(`--set=image.digest=${digest},image.tag=v9`),
        `etcd-operator.invalid/etcd-operator@${digest}`,
      );
    });

    test("flags follow from values", async () => {
      const argsBy = async (set: string): Promise<string[] | undefined> =>
        (await deployed(`--set=${set}`)).spec.template.spec.containers[0].args;
      assert.deepEqual(await argsBy("clusterWide=false,watchNamespaces={a,b}"), [
        "-namespaces=a,b",
        "-create-crd=false",
      ]);
      assert.deepEqual(await argsBy("backup=false,restore=false,workerImage=w,port=9090,extraArgs={-chaos-level=1}"), [
        "-cluster-wide",
        "-create-crd=false",
        "-backup=false",
        "-restore=false",
        "-worker-image=w",
        "-listen-addr=0.0.0.0:9090",
        "-chaos-level=1",
      ]);
    });

    test("each watched namespace gets the permissions, and no other, and the lease is at home", async () => {
      const permissions = (await titles("--set=clusterWide=false,watchNamespaces={a,b}")).filter((title) =>
        /Role/.test(title),
      );
      assert.deepEqual(permissions.sort(), [
        "Role a/etcd-operator",
        "Role b/etcd-operator",
        "Role etcd-operator/etcd-operator-lease",
        "RoleBinding a/etcd-operator",
        "RoleBinding b/etcd-operator",
        "RoleBinding etcd-operator/etcd-operator-lease",
      ]);
    });

    test("permissions can be left to somebody else, and Secrets left out", async () => {
      assert.ok(!(await titles("--set=rbac.create=false")).some((title) => /Role/.test(title)));
      assert.ok(!(await titles("--set=rbac.aggregateClusterRoles=false")).some((title) => /-(view|edit)$/.test(title)));
      const rules = JSON.stringify(
        (await render("--set=rbac.secrets=false")).filter(({ kind }) => kind === "ClusterRole"),
      );
      assert.doesNotMatch(rules, /"secrets"/);
      assert.match(rules, /"pods"/);
    });

    test("a release of another name, or with names of its own, has no object of this one", async () => {
      const others = manifestsIn(await helm.run("template", "blue", chart, "--namespace=n", "--set=crds.create=false"));
      assert.deepEqual(
        new Set(others.map(({ metadata }) => metadata.name.replace(/-(lease|view|edit)$/, ""))),
        new Set(["blue-etcd-operator"]),
      );
      const named = await titles("--set=fullnameOverride=mine,namespaceOverride=there,crds.create=false");
      assert.ok(named.includes("Deployment there/mine"), named.join());
      assert.ok(!named.some((title) => title.includes("etcd-operator")), named.join());
    });

    test("settings of the pod reach the pod", async () => {
      const settings = {
        imagePullSecrets: [{ name: "s" }],
        nodeSelector: { zone: "a" },
        affinity: { nodeAffinity: {} },
        tolerations: [{ operator: "Exists" }],
        topologySpreadConstraints: [{ maxSkew: 1, topologyKey: "z", whenUnsatisfiable: "DoNotSchedule" }],
        priorityClassName: "high",
      };
      const own = {
        podSecurityContext: { fsGroup: 1 },
        securityContext: { privileged: false },
        resources: { limits: { cpu: "1" } },
        extraEnv: [{ name: "A", value: "b" }],
        extraVolumes: [{ name: "v", emptyDir: {} }],
        extraVolumeMounts: [{ name: "v", mountPath: "/v" }],
        podLabels: { team: "x" },
        podAnnotations: { note: "y" },
        deploymentAnnotations: { note: "z" },
        commonLabels: { owner: "w" },
        strategy: { type: "Recreate" },
        replicaCount: 2,
        serviceAccount: { automount: false, name: "who", annotations: { role: "r" } },
        readinessProbe: { periodSeconds: 7 },
        livenessProbe: { periodSeconds: 8 },
      };
      const json = Object.entries({ ...settings, ...own }).map(
        ([name, value]) => `--set-json=${name}=${JSON.stringify(value)}`,
      );
      const { metadata, spec } = await deployed(...json);
      const { template } = spec;
      for (const [name, value] of Object.entries(settings)) assert.deepEqual(template.spec[name], value, name);
      const [container] = template.spec.containers;
      assert.deepEqual(
        [metadata.annotations, metadata.labels?.["owner"], spec["strategy"], spec.replicas],
        [{ note: "z" }, "w", { type: "Recreate" }, 2],
      );
      assert.deepEqual(
        [template.metadata.annotations, template.metadata.labels["team"], template.spec["volumes"]],
        [{ note: "y" }, "x", own.extraVolumes],
      );
      assert.deepEqual(
        [template.spec["serviceAccountName"], template.spec["automountServiceAccountToken"]],
        ["who", false],
      );
      assert.deepEqual((template.spec["securityContext"] as Record<string, unknown>)["fsGroup"], 1);
      assert.deepEqual((container["securityContext"] as Record<string, unknown>)["privileged"], false);
      assert.deepEqual((container["resources"] as { limits: unknown }).limits, { cpu: "1", memory: "256Mi" });
      assert.deepEqual(container["volumeMounts"], own.extraVolumeMounts);
      assert.deepEqual((container["env"] as unknown[]).at(-1), own.extraEnv[0]);
      for (const [probe, seconds] of [
        ["readinessProbe", 7],
        ["livenessProbe", 8],
      ] as const)
        assert.equal((container[probe] as { periodSeconds: number }).periodSeconds, seconds);
    });

    test("budget, network policy, PodMonitor and other objects are made when they are asked for", async () => {
      const asked = await render(
        "--set=podDisruptionBudget.enabled=true,networkPolicy.enabled=true,podMonitor.enabled=true",
        "--set=podMonitor.interval=30s,podMonitor.labels.release=prometheus",
        '--set-json=networkPolicy.from=[{"podSelector":{}}]',
        "--set-json=networkPolicy.egress=[{}]",
        '--set-json=extraObjects=[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"{{ .Release.Name }}-more"}}]',
      );
      const find = (kind: string): Manifest => {
        const found = asked.find((one) => one.kind === kind);
        assert.ok(found, kind);
        return found;
      };
      assert.equal((find("PodDisruptionBudget")["spec"] as { maxUnavailable: number }).maxUnavailable, 1);
      assert.deepEqual((find("NetworkPolicy")["spec"] as { ingress: unknown }).ingress, [
        { from: [{ podSelector: {} }], ports: [{ port: "http" }] },
      ]);
      assert.deepEqual((find("NetworkPolicy")["spec"] as { policyTypes: unknown }).policyTypes, ["Ingress", "Egress"]);
      assert.equal(find("PodMonitor").metadata.labels?.["release"], "prometheus");
      assert.equal(find("ConfigMap").metadata.name, "etcd-operator-more");
      const least = await render("--set=podDisruptionBudget.enabled=true,podDisruptionBudget.minAvailable=50%");
      const budget = least.find(({ kind }) => kind === "PodDisruptionBudget")?.["spec"] as Record<string, unknown>;
      assert.deepEqual([budget["minAvailable"], budget["maxUnavailable"]], ["50%", undefined]);
    });

    test("rules, dashboards and the members' PodMonitor are made from the files that the chart was packaged with", async () => {
      const copy = path.join(folder, helm.name);
      await cp(chart, copy, { recursive: true });
      const asked = [
        "--set=prometheusRule.enabled=true",
        "--set=grafanaDashboard.enabled=true",
        "--set=podMonitor.enabled=true",
      ];
      for (const file of ["prometheus-rules.yaml", "dashboards", "pod-monitors"])
        await rm(path.join(copy, "files", file), { recursive: true, force: true });
      for (const toggle of asked.slice(0, 2))
        assert.match(await helm.refuses("template", "etcd-operator", copy, toggle), /this package of the chart has no/);
      await mkdir(path.join(copy, "files/dashboards"));
      await mkdir(path.join(copy, "files/pod-monitors"));
      const rules = {
        spec: { groups: [{ name: "g", rules: [{ alert: "A", annotations: { summary: "{{ $labels.x }}" } }] }] },
      };
      await writeFile(path.join(copy, "files/prometheus-rules.yaml"), JSON.stringify(rules));
      await writeFile(path.join(copy, "files/dashboards/fleet.json"), '{\n  "title": "{{ x }}"\n}\n');
      await writeFile(path.join(copy, "files/pod-monitors/members.yaml"), JSON.stringify({ spec: { selector: {} } }));
      const made = comparable(
        manifestsIn(await helm.run("template", "etcd-operator", copy, "--namespace=n", ...asked)),
      );
      assert.deepEqual(made["PrometheusRule n/etcd-operator"]?.["spec"], rules.spec);
      assert.deepEqual(made["ConfigMap n/etcd-operator-fleet"]?.["data"], {
        "fleet.json": '{\n  "title": "{{ x }}"\n}\n',
      });
      assert.equal(made["ConfigMap n/etcd-operator-fleet"]?.metadata.labels?.["grafana_dashboard"], "1");
      // An alert without a runbook stays without.
      const base = ["--set=prometheusRule.enabled=true", "--set=prometheusRule.runbookBaseURL=https://x.example/docs/"];
      const same = comparable(manifestsIn(await helm.run("template", "etcd-operator", copy, "--namespace=n", ...base)));
      assert.deepEqual(same["PrometheusRule n/etcd-operator"]?.["spec"], rules.spec);
      assert.deepEqual(made["PodMonitor n/etcd-operator-members"]?.["spec"], { selector: {} });
    });

    test("runbook_url of the alerts is below the URL that is given, or a path", async () => {
      const urlsWith = async (...set: string[]): Promise<string[]> => {
        const rule = (await render("--set=prometheusRule.enabled=true", ...set)).find(
          (one) => one.kind === "PrometheusRule",
        );
        assert.ok(rule);
        const { groups } = rule["spec"] as ReturnType<typeof ruleFile>;
        return groups.flatMap(({ rules }) => rules.map(({ annotations }) => annotations["runbook_url"] ?? ""));
      };
      const paths = ruleFile().groups.flatMap(({ rules }) =>
        rules.map(({ annotations }) => annotations["runbook_url"]),
      );
      assert.deepEqual(await urlsWith(), paths);
      for (const base of ["https://git.example.com/main", "https://git.example.com/main/"])
        assert.deepEqual(
          await urlsWith(`--set=prometheusRule.runbookBaseURL=${base}`),
          paths.map((one) => `https://git.example.com/main/${one}`),
        );
    });

    test("the values that helm shows are those of the table", async () => {
      const shown = manifestsIn(await helm.run("show", "values", chart))[0] as unknown as Record<string, unknown>;
      for (const { path: name, value } of flatten(values)) {
        const given = name.split(".").reduce<unknown>((at, part) => (at as Record<string, unknown>)[part], shown);
        assert.deepEqual(given, defaultOf(value), name);
      }
    });
  });
