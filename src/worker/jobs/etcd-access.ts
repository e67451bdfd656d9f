// How a worker reaches etcd: addresses as people write them, and the mounted Secrets with a certificate or a login.
import { readdir, readFile } from "node:fs/promises";
import * as path from "node:path";
import { Login } from "../../etcd/login.ts";
import type { Endpoint } from "../../etcd/members.ts";
import { type Credential, Recipient, refusalOf } from "../../recipients/recipients.ts";
import { readBundle } from "../../tls/pem.ts";
import { hasCode, WorkerFailure } from "../program/failure.ts";
import type { EtcdSource } from "../job.ts";

export async function endpointsOf(source: EtcdSource): Promise<readonly Endpoint[]> {
  const { endpoints, tlsFolder, loginFolder, loginOverHttp = false } = source;
  const tls = tlsFolder === undefined ? undefined : await clientTls(tlsFolder);
  const login = loginFolder === undefined ? undefined : await loginIn(loginFolder);
  const urls = new Set(endpoints.map((endpoint) => urlOf(endpoint, tls || login ? "https" : "http")));
  if (urls.size === 0) throw new WorkerFailure("misconfigured", "No endpoint of etcd is named.");
  if (login) checkRecipients({ t: "login", overHttp: loginOverHttp }, urls);
  return [...urls].map((url) => ({
    url,
    // Its key stays here, whoever asks for it.
    ...(tls && url.startsWith("https:") && { tls }),
    ...(login && { login }),
  }));
}

function checkRecipients(credential: Credential, urls: Iterable<string>): void {
  for (const url of urls)
    if (!Recipient.of(credential, new URL(url)))
      throw new WorkerFailure("misconfigured", `The endpoint ${url} of etcd: ${refusalOf(credential)}`);
}

/** etcd's own tools take addresses without a scheme, so that manifests have them. */
function urlOf(endpoint: string, scheme: "http" | "https"): string {
  const text = endpoint.includes("://") ? endpoint : `${scheme}://${endpoint}`;
  if (!/^https?:/.test(text) || !URL.canParse(text))
    throw new WorkerFailure("misconfigured", `${endpoint} is not an endpoint of etcd, as in https://10.0.0.1:2379.`);
  return new URL(text).origin;
}

async function clientTls(folder: string): Promise<NonNullable<Endpoint["tls"]>> {
  const bundle = readBundle("etcd-client", await entriesOf(folder, "client certificate"));
  if ("sentence" in bundle)
    throw new WorkerFailure("misconfigured", `The Secret with the client certificate: ${bundle.sentence}`);
  return { ca: bundle.ca, identity: bundle.pair };
}

async function loginIn(folder: string): Promise<Login> {
  const { username = "", password = "" } = await entriesOf(folder, "login");
  const missing = Object.entries({ username, password }).flatMap(([name, value]) => (value === "" ? [name] : []));
  if (missing.length > 0)
    throw new WorkerFailure("misconfigured", `The Secret with the login for etcd has no ${missing.join(" and no ")}.`);
  return new Login(username, password);
}

/** The entries of a mounted Secret, as text. A kubelet keeps its own names beside them, which begin with two dots. */
async function entriesOf(folder: string, what: string): Promise<Record<string, string>> {
  try {
    const names = (await readdir(folder)).filter((name) => !name.startsWith(".."));
    const read = names.map(async (name) => [name, await readFile(path.join(folder, name), "utf8")] as const);
    return Object.fromEntries(await Promise.all(read));
  } catch (error) {
    if (!hasCode(error, "ENOENT", "EACCES", "ENOTDIR")) throw error;
    throw new WorkerFailure("misconfigured", `The Secret with the ${what} is not mounted at ${folder}.`, {
      cause: error,
    });
  }
}
