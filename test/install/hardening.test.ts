// The operator's pod keeps to kube-score's rules, but for those that the table gives a reason against, and, in `make matrix`, to the
// restricted profile of Pod Security by Kubernetes' own code. The suites with a lab install it in a namespace that enforces the profile.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import * as path from "node:path";
import { describe, test } from "node:test";
import type { Manifest } from "../../install/manifest.ts";
import { yamlOf } from "../../install/manifest.ts";
import { ensureChecks, ensureProgram } from "../../lab/build/checks/programs.ts";
import { oldestKubernetes } from "../../release/support/kubernetes.ts";
import { root } from "../suites.ts";
import { exitOf } from "../support/exit.ts";
import { matrixTest } from "../support/matrix.ts";
import { chart, helms } from "./helm.ts";
import { manifestsIn, titleOf } from "./rendered.ts";

const documentsIn = (file: string): Manifest[] => manifestsIn(readFileSync(path.join(root, file), "utf8"));

interface PodTemplate {
  readonly metadata?: object;
  readonly spec: object;
}

/** Those in a Deployment, Job or CronJob, at any depth; `spec.pod` of an EtcdCluster is not one. */
function podTemplates(value: unknown): PodTemplate[] {
  if (typeof value !== "object" || value === null) return [];
  const inside = Object.values(value).flatMap(podTemplates);
  if (!("template" in value) || !isTemplate(value.template)) return inside;
  return [value.template, ...inside];
}

const isTemplate = (value: unknown): value is PodTemplate =>
  typeof value === "object" && value !== null && "spec" in value && "containers" in (value.spec as object);

const rendered = async (...args: string[]): Promise<Manifest[]> =>
  manifestsIn(await helms[0]!.run("template", "etcd-operator", chart, "--namespace=etcd-operator", ...args));

const installed: readonly (readonly [name: string, manifests: () => Promise<Manifest[]>])[] = [
  ["install/install.yaml", async () => documentsIn("install/install.yaml")],
  ["install/install-namespace.yaml", async () => documentsIn("install/install-namespace.yaml")],
  ["the chart", () => rendered()],
  ["the chart with two replicas", () => rendered("--set=replicaCount=2,podDisruptionBudget.enabled=true")],
];

describe("the restricted profile of Pod Security", () => {
  const restricted = async (manifests: readonly Manifest[]): Promise<string[]> => {
    const pods = manifests.flatMap((manifest) =>
      podTemplates(manifest).map(({ metadata = {}, spec }) => ({ name: titleOf(manifest), metadata, spec })),
    );
    assert.ok(pods.length > 0, "no pod");
    const { code, stdout, stderr } = await exitOf(await ensureChecks(), ["pods", "restricted"], JSON.stringify(pods));
    assert.ok(code === 0 || code === 1, stderr);
    return stdout.split("\n").filter((line) => line !== "");
  };

  for (const [name, manifests] of installed)
    matrixTest(`admits the pods of ${name}`, async () => {
      assert.deepEqual(await restricted(await manifests()), []);
    });

  const examples = globSync("example/**/*.yaml", { cwd: root }).filter((file) =>
    documentsIn(file).some((one) => podTemplates(one).length > 0),
  );
  for (const file of examples)
    matrixTest(`admits the pods of ${file}`, async () => {
      assert.deepEqual(await restricted(documentsIn(file)), []);
    });

  matrixTest("does not admit a pod that may become root", async () => {
    const deployment = documentsIn("install/install.yaml").find(({ kind }) => kind === "Deployment");
    const worse = JSON.parse(JSON.stringify(deployment).replace('"runAsNonRoot":true', '"runAsNonRoot":false'));
    const found = await restricted([worse as Manifest]);
    assert.equal(found.length, 1);
    assert.match(found[0]!, /runAsNonRoot/);
  });
});

/** Rules of kube-score that the operator does not keep, and why. */
const against: Readonly<Record<string, string>> = {
  "container-ephemeral-storage-request-and-limit": "the root filesystem is read-only and nothing else is mounted",
  "container-image-pull-policy": "the image is named by version or digest, and may have been loaded into the nodes",
  "pod-networkpolicy": "the chart has one (networkPolicy.enabled); which endpoints are allowed differs by cluster",
};

/** A limit of CPU would slow down healing just when much has to be healed. */
const flags = ["--ignore-container-cpu-limit", "--enable-optional-test=container-seccomp-profile"];

describe("kube-score", async () => {
  const program = await ensureProgram("kube-score");
  interface Scored {
    readonly object_name: string;
    readonly checks: readonly {
      readonly check: { readonly id: string };
      readonly grade: number;
      readonly skipped: boolean;
    }[];
  }
  const best = 10;
  const poor = async (manifests: readonly Manifest[]): Promise<Set<string>> => {
    const args = ["score", "--output-format=json", `--kubernetes-version=v${oldestKubernetes}`, ...flags, "-"];
    const { stdout } = await exitOf(program, args, manifests.map(yamlOf).join("---\n"));
    const scored = JSON.parse(stdout) as Scored[];
    return new Set(
      scored.flatMap(({ checks }) =>
        checks.filter((one) => !one.skipped && one.grade < best).map(({ check }) => check.id),
      ),
    );
  };

  for (const [name, manifests] of installed)
    test(`finds nothing in ${name} but what has a reason`, async () => {
      assert.deepEqual([...(await poor(await manifests()))].filter((id) => !(id in against)).toSorted(), []);
    });

  test("finds all that has a reason, so that no reason is left over", async () => {
    const found = await poor(documentsIn("install/install.yaml"));
    assert.deepEqual(
      Object.keys(against).filter((id) => !found.has(id)),
      [],
    );
  });
});
