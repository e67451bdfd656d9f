// What the documents tell people to type acts on the namespace that kubectl uses. Here that is one of the test's own, in
// a kubeconfig of its own, so that nobody else's is touched.
import { mkdtempSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after } from "node:test";
import { kubectl, ownNamespace } from "../support/kubectl.ts";

const folder = mkdtempSync(path.join(tmpdir(), "etcd-operator-e2e-"));
after(() => rmSync(folder, { recursive: true, force: true }));

export interface Place {
  readonly namespace: string;
  /** For the environment of what is run there. */
  readonly KUBECONFIG: string;
}

/** A fresh namespace in which only pods of the restricted profile may run. */
export async function ownPlace(prefix: string): Promise<Place> {
  const namespace = await ownNamespace(prefix, { "pod-security.kubernetes.io/enforce": "restricted" });
  const KUBECONFIG = path.join(folder, namespace);
  await writeFile(KUBECONFIG, await kubectl("config", "view", "--raw", "--minify", "--flatten"), { mode: 0o600 });
  await kubectl(`--kubeconfig=${KUBECONFIG}`, "config", "set-context", "--current", `--namespace=${namespace}`);
  return { namespace, KUBECONFIG };
}
