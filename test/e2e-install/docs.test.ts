// docs/install.md works: every marked command is typed from top to bottom, and what other tools are given is understood by
// the API server.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, before, test } from "node:test";
import { fluxChecks } from "../../install/health/flux.ts";
import { ensureHelm } from "../../lab/build/helm.ts";
import { loadOperatorImage } from "../../lab/image.ts";
import { run } from "../../lab/machine/command.ts";
import { ownPlace } from "../e2e/own-kubeconfig.ts";
import { pageScript, typeScript } from "../support/docs.ts";
import { kubectl } from "../support/kubectl.ts";
import { testLab } from "../support/lab.ts";

const document = "docs/install.md";
const folder = mkdtempSync(path.join(tmpdir(), "etcd-operator-install-"));

before(() => loadOperatorImage(testLab()));
after(async () => {
  rmSync(folder, { recursive: true, force: true });
  // What a failure in the middle leaves behind.
  await kubectl("delete", "namespace", "etcd-operator", "--ignore-not-found", "--wait=false");
  await kubectl("delete", "clusterrole,clusterrolebinding", "--selector=app.kubernetes.io/name=etcd-operator");
});

test(`every marked command of ${document} works when typed from top to bottom`, { timeout: 900_000 }, async () => {
  const { helm4 } = await ensureHelm();
  await symlink(helm4, path.join(folder, "helm"));
  const { KUBECONFIG } = await ownPlace("install");
  const env = { KUBECONFIG, PATH: `${folder}:${process.env["PATH"] ?? ""}`, HOME: folder };
  await typeScript(await pageScript(document), { env, timeoutMs: 840_000 });
});

/** The API server compiles the expression, with the object's fields as `object`; Flux has them without. */
async function compiles(expression: string): Promise<boolean> {
  const policy = {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    metadata: { name: "health-check" },
    spec: {
      matchConstraints: {
        resourceRules: [
          { apiGroups: ["apps"], apiVersions: ["v1"], resources: ["deployments"], operations: ["CREATE"] },
        ],
      },
      validations: [{ expression: expression.replaceAll(/(?<![.\w])(status|metadata|spec)\./g, "object.$1.") }],
    },
  };
  return run("kubectl", ["create", "--dry-run=server", "--filename=-"], { input: JSON.stringify(policy) }).then(
    () => true,
    () => false,
  );
}

test("the health checks for Flux are expressions that an API server compiles", async () => {
  assert.equal(await compiles("has(status.phase) && status.phase in ['Failed'"), false, "a broken one is noticed");
  for (const { kind, failed, current } of fluxChecks)
    assert.deepEqual([await compiles(failed), await compiles(current)], [true, true], kind);
});
