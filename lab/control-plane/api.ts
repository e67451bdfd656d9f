// Connects to the API server of a lab as its administrator.
import * as fs from "node:fs";
import * as https from "node:https";
import { connectKube, type KubeClient } from "../../src/kube/client/client.ts";
import { kubeconfigCredentials } from "../../src/kube/credentials/kubeconfig.ts";
import { kubeconfigPath, type LabConfig } from "../config.ts";
import { apiUrl } from "./kubeconfig.ts";
import { pkiPath } from "./pki.ts";
import { isHealthy } from "./readiness.ts";

export const labApi = (lab: LabConfig): KubeClient =>
  connectKube({ credentials: kubeconfigCredentials(kubeconfigPath(lab)), userAgent: "lab" });

export const isReady = (lab: LabConfig): Promise<boolean> => answers(lab, "/readyz");

/** Whether a request succeeds. Sent once: the client would retry while nobody listens. */
export function answers(lab: LabConfig, path: string): Promise<boolean> {
  return isHealthy(`${apiUrl(lab)}${path}`, {
    ca: fs.readFileSync(pkiPath(lab, "ca.crt")),
    cert: fs.readFileSync(pkiPath(lab, "admin.crt")),
    key: fs.readFileSync(pkiPath(lab, "admin.key")),
    timeout: 5_000,
    agent: https.globalAgent, // polled during a start, and a connection costs more than a request
  });
}
