// Credentials of a pod: the service account that the kubelet mounts into it, and renews about once an hour.
import { existsSync } from "node:fs";
import { isIPv6 } from "node:net";
import type { Credentials } from "./credentials.ts";
import { FreshFile } from "./fresh-file.ts";

const usualDirectory = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Undefined outside of a pod. */
export function inClusterCredentials(
  env: NodeJS.ProcessEnv = process.env,
  directory: string = usualDirectory,
): Credentials | undefined {
  const host = env["KUBERNETES_SERVICE_HOST"];
  const port = env["KUBERNETES_SERVICE_PORT"];
  if (!host || !port || !existsSync(`${directory}/token`)) return undefined;
  const token = new FreshFile(`${directory}/token`);
  const ca = new FreshFile(`${directory}/ca.crt`);
  return {
    server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    tls: () => ({ ca: ca.read() }),
    authorization: () => `Bearer ${token.read().trim()}`,
    forget() {
      token.forget();
      ca.forget();
    },
  };
}
