// The commands of the docs act on kubectl's current namespace: here a test namespace, set in a kubeconfig of its own.
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
  /** For the environment of the commands. */
  readonly KUBECONFIG: string;
}

/** A new namespace that enforces the restricted Pod Security profile. */
export async function ownPlace(prefix: string): Promise<Place> {
  return placeIn(await ownNamespace(prefix, { "pod-security.kubernetes.io/enforce": "restricted" }));
}

export async function placeIn(namespace: string): Promise<Place> {
  const KUBECONFIG = path.join(folder, namespace);
  await writeFile(KUBECONFIG, await kubectl("config", "view", "--raw", "--minify", "--flatten"), { mode: 0o600 });
  await kubectl(`--kubeconfig=${KUBECONFIG}`, "config", "set-context", "--current", `--namespace=${namespace}`);
  return { namespace, KUBECONFIG };
}
