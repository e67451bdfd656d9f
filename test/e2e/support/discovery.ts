// Finds pods for a Prometheus by Prometheus' own discovery of Kubernetes, with a ServiceAccount that may list and watch pods and
// nothing else.
import { writeFile } from "node:fs/promises";
import * as path from "node:path";
import { stringify } from "yaml";
import { ensureDiscovery } from "../../../lab/build/prometheus.ts";
import { apiUrl } from "../../../lab/control-plane/kubeconfig.ts";
import { pkiPath } from "../../../lab/control-plane/pki.ts";
import { apply, kubectl } from "../../support/kubectl.ts";
import { lab } from "./environment.ts";
import { Program } from "./program.ts";

const name = "prometheus";
const rbac = "rbac.authorization.k8s.io";

/**
 * Keeps the targets in a file for `file_sd_configs`. `asked`: an entry of `kubernetes_sd_configs`, as people use it in a pod. It is
 * kept to the namespaces of the test, because others may use the lab, and gets the address of the API server.
 */
export async function discover(
  asked: object,
  namespaces: readonly [string, ...string[]],
  folder: string,
  targets: string,
): Promise<Program> {
  const kubeconfig = path.join(folder, "kubeconfig");
  await writeFile(kubeconfig, JSON.stringify(await account(namespaces)), { mode: 0o600 });
  const config = path.join(folder, "discovery.yaml");
  await writeFile(config, stringify({ ...asked, kubeconfig_file: kubeconfig, namespaces: { names: namespaces } }));
  return new Program(path.join(folder, "discovery.log"), await ensureDiscovery(), config, targets);
}

/** A kubeconfig with a token of it. */
async function account(namespaces: readonly [string, ...string[]]): Promise<object> {
  const [home] = namespaces;
  const subjects = [{ kind: "ServiceAccount", namespace: home, name }];
  await apply(
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { namespace: home, name } },
    ...namespaces.flatMap((namespace) => [
      {
        apiVersion: `${rbac}/v1`,
        kind: "Role",
        metadata: { namespace, name },
        rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["list", "watch"] }],
      },
      {
        apiVersion: `${rbac}/v1`,
        kind: "RoleBinding",
        metadata: { namespace, name },
        roleRef: { apiGroup: rbac, kind: "Role", name },
        subjects,
      },
    ]),
  );
  const token = (await kubectl("create", "token", name, `--namespace=${home}`, "--duration=6h")).trim();
  return {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server: apiUrl(lab), "certificate-authority": pkiPath(lab, "ca.crt") } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    "current-context": name,
  };
}
