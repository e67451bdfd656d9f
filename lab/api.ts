// As much of a Kubernetes client as starting a lab needs: one request at a time, as the administrator.
import * as fs from "node:fs";
import * as https from "node:https";
import { hostAddress, type LabConfig } from "./config.ts";
import { pkiPath } from "./pki.ts";

export interface Answer {
  readonly status: number;
  readonly body: string;
}

export interface LabApi {
  request(method: "GET" | "POST", path: string, body?: unknown): Promise<Answer>;
  close(): void;
}

export function labApi(lab: LabConfig): LabApi {
  const agent = new https.Agent({
    keepAlive: true,
    ca: fs.readFileSync(pkiPath(lab, "ca.crt")),
    cert: fs.readFileSync(pkiPath(lab, "admin.crt")),
    key: fs.readFileSync(pkiPath(lab, "admin.key")),
  });
  return {
    request: (method, path, body) =>
      new Promise((resolve, reject) => {
        const options = { agent, method, path, host: hostAddress(lab), port: 6443, timeout: 5_000 };
        const request = https.request({ ...options, headers: { "content-type": "application/json" } }, (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("error", reject);
          response.on("end", () =>
            resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }),
          );
        });
        request.on("timeout", () => request.destroy(new Error(`no answer to ${method} ${path} within 5 s`)));
        request.on("error", reject);
        request.end(body === undefined ? undefined : JSON.stringify(body));
      }),
    close: () => agent.destroy(),
  };
}

/** True when the API server says that it is ready; any failure to ask is a no. */
export async function isReady(api: LabApi): Promise<boolean> {
  try {
    return (await api.request("GET", "/readyz")).status === 200;
  } catch {
    return false;
  }
}

/** Creates the object; one that is already there is as good. */
export async function ensureObject(api: LabApi, path: string, object: unknown): Promise<void> {
  const { status, body } = await api.request("POST", path, object);
  if (status !== 201 && status !== 409) throw new Error(`creating ${path}: ${status} ${body.slice(0, 300)}`);
}
