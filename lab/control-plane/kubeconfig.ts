// Kubeconfig files with embedded certificates, so that one file is enough to reach the lab.
import * as fs from "node:fs";
import { hostAddress, kubeconfigPath, type LabConfig, labNodes } from "../config.ts";
import { pkiPath } from "./pki.ts";

export const apiUrl = (lab: LabConfig): string => `https://${hostAddress(lab)}:6443`;

const embedded = (file: string): string => fs.readFileSync(file).toString("base64");

/** JSON is YAML too. */
function kubeconfigText(lab: LabConfig, identity: string): string {
  const name = lab.name;
  return JSON.stringify(
    {
      apiVersion: "v1",
      kind: "Config",
      clusters: [
        { name, cluster: { server: apiUrl(lab), "certificate-authority-data": embedded(pkiPath(lab, "ca.crt")) } },
      ],
      users: [
        {
          name: identity,
          user: {
            "client-certificate-data": embedded(pkiPath(lab, `${identity}.crt`)),
            "client-key-data": embedded(pkiPath(lab, `${identity}.key`)),
          },
        },
      ],
      contexts: [{ name, context: { cluster: name, user: identity } }],
      "current-context": name,
    },
    undefined,
    2,
  );
}

export const componentKubeconfig = (lab: LabConfig, identity: string): string => pkiPath(lab, `${identity}.kubeconfig`);

export function writeKubeconfigs(lab: LabConfig): void {
  const components = ["controller-manager", "scheduler", "kube-proxy", "coredns"];
  for (const identity of [...components, ...labNodes(lab).map((node) => node.name)])
    fs.writeFileSync(componentKubeconfig(lab, identity), kubeconfigText(lab, identity), { mode: 0o600 });
  fs.writeFileSync(kubeconfigPath(lab), kubeconfigText(lab, "admin"), { mode: 0o600 });
}
