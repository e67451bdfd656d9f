// Every manifest that a person applies is valid for the oldest and the newest supported Kubernetes, by kubeconform and the schemas
// of those versions.
import assert from "node:assert/strict";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, before, describe, test } from "node:test";
import { crdManifests } from "../../install/installation.ts";
import { type Manifest, yamlOf } from "../../install/manifest.ts";
import { ensureOpenApi, ensureProgram } from "../../lab/build/checks/programs.ts";
import { ensureMonitoringCrds } from "../../lab/build/prometheus.ts";
import { validatedKubernetes } from "../../release/support/kubernetes.ts";
import { root } from "../suites.ts";
import { exitOf } from "../support/exit.ts";
import { chart, helms } from "./helm.ts";
import { manifestsIn } from "./rendered.ts";
import { schemaLocation, writeCrdSchemas, writeKubernetesSchemas } from "./schemas.ts";

const folder = mkdtempSync(path.join(tmpdir(), "etcd-operator-manifests-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const documentsIn = (file: string): Manifest[] => manifestsIn(readFileSync(path.join(root, file), "utf8"));

/** What is applied as it is; files for kustomize, Flux, k9s and Prometheus itself are not objects of Kubernetes. */
const files = globSync(
  ["install/*.yaml", "install/namespace/*.yaml", "example/**/*.{yaml,json}", "observability/*.yaml"],
  { cwd: root },
)
  .filter((file) => !/kustomization\.yaml$|^observability\/(prometheus|rules)\.yaml$/.test(file))
  .toSorted();

const kubeconform = await ensureProgram("kubeconform");
const crds = path.join(folder, "crds");

/** What kubeconform says of objects that are wrong. */
async function invalid(manifests: readonly Manifest[], version: string): Promise<string[]> {
  const locations = [path.join(folder, version), crds].flatMap((one) => ["-schema-location", schemaLocation(one)]);
  const args = ["-strict", "-output=json", "-summary", ...locations, "-"];
  const { stdout: said } = await exitOf(kubeconform, args, manifests.map(yamlOf).join("---\n"));
  const answer = JSON.parse(said) as {
    resources?: { kind: string; name: string; status: string; msg: string }[];
    summary: { valid: number };
  };
  const wrong = (answer.resources ?? []).map(({ kind, name, status, msg }) => `${kind} ${name}: ${status}: ${msg}`);
  assert.equal(answer.summary.valid + wrong.length, manifests.length, said);
  return wrong;
}

before(async () => {
  const monitoring = await ensureMonitoringCrds();
  const ofOthers = globSync("*.yaml", { cwd: monitoring }).flatMap((file) =>
    manifestsIn(readFileSync(path.join(monitoring, file), "utf8")),
  );
  await writeCrdSchemas(crds, [...crdManifests, ...ofOthers]);
  const kinds = new Set([...files.flatMap(documentsIn), ...(await rendered())].map(({ kind }) => kind));
  for (const version of validatedKubernetes)
    await writeKubernetesSchemas(path.join(folder, version), await ensureOpenApi(version), kinds);
});

/** With everything that is off by default. */
const everything = [
  "podDisruptionBudget.enabled",
  "networkPolicy.enabled",
  "podMonitor.enabled",
  "prometheusRule.enabled",
  "grafanaDashboard.enabled",
];

async function rendered(): Promise<Manifest[]> {
  const [helm] = helms;
  const settings = [[], everything.map((value) => `--set=${value}=true`), ["--set=clusterWide=false"]];
  const texts = await Promise.all(
    settings.map((one) => helm!.run("template", "etcd-operator", chart, "--namespace=etcd-operator", ...one)),
  );
  return texts.flatMap(manifestsIn);
}

for (const version of validatedKubernetes)
  describe(`for Kubernetes ${version}`, () => {
    for (const file of files)
      test(`${file} is valid`, async () => {
        assert.deepEqual(await invalid(documentsIn(file), version), []);
      });

    test("what the chart renders is valid", async () => {
      assert.deepEqual(await invalid(await rendered(), version), []);
    });
  });

describe("a manifest is not valid", () => {
  const version = validatedKubernetes[0]!;
  const deployment = documentsIn("install/install.yaml").find(({ kind }) => kind === "Deployment")!;
  const cluster = documentsIn("example/example-etcd-cluster-3.6.yaml")[0]!;
  const cases: readonly (readonly [why: string, manifest: Manifest, says: RegExp])[] = [
    [
      "with a field that nobody knows",
      { ...deployment, spec: { ...(deployment["spec"] as object), replica: 1 } },
      /replica/,
    ],
    ["without a field that is required", { ...deployment, spec: { replicas: 1 } }, /selector/],
    ["with another type", { ...cluster, spec: { size: "three" } }, /size/],
    ["with a field that the CRD does not have", { ...cluster, spec: { size: 3, sise: 3 } }, /sise/],
    ["of a kind that there is not", { ...cluster, kind: "EtcdClusters" }, /schema/],
  ];
  for (const [why, manifest, says] of cases)
    test(why, async () => {
      const wrong = await invalid([manifest], version);
      assert.equal(wrong.length, 1, wrong.join("\n"));
      assert.match(wrong[0]!, says);
    });
});
