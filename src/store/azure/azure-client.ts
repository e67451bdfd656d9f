// The client of a container of Azure's blobs: where it is, and who we are.
import {
  type AnonymousCredential,
  ContainerClient,
  newPipeline,
  type RequestPolicyFactory,
  StorageSharedKeyCredential,
} from "@azure/storage-blob";
import type { TokenCredential } from "@azure/identity";
import { isIP } from "node:net";
import type { Credential } from "../../recipients/recipients.ts";
import { type Agents, storeAgents } from "../agents.ts";
import { recipientOf, urlOf } from "../endpoint.ts";
import { StoreError } from "../errors.ts";
import { attempts } from "../retries.ts";
import { needEntry, readCa, readEntry } from "../secret-folder.ts";
import type { StoreTarget } from "../store.ts";

export type AzureTarget = Extract<StoreTarget, { type: "ABS" }>;

export interface AzureConnection {
  readonly container: ContainerClient;
  readonly name: string;
  close(): void;
}

/** The names that etcd-operator 0.9 took, and those of today's command line. */
const clouds: Readonly<Record<string, string>> = {
  azurepubliccloud: "blob.core.windows.net",
  azurecloud: "blob.core.windows.net",
  azurechinacloud: "blob.core.chinacloudapi.cn",
  azureusgovernmentcloud: "blob.core.usgovcloudapi.net",
  azureusgovernment: "blob.core.usgovcloudapi.net",
  azuregermancloud: "blob.core.cloudapi.de",
};

export async function connectAzure(target: AzureTarget): Promise<AzureConnection> {
  const name = `abs://${target.container}`;
  const { account, credential, as, cloud } = await identify(target, name);
  const { url } = recipientOf(as, serviceUrl(target.endpoint, account, cloud, name), name);
  const agents = storeAgents(await readCa(target.caFolder, name));
  const pipeline = newPipeline(credential, {
    retryOptions: { maxTries: attempts, retryDelayInMs: 400, maxRetryDelayInMs: 10_000 },
  });
  pipeline.factories.push(through(agents));
  const container = `${url.href.replace(/\/+$/, "")}/${encodeURIComponent(target.container)}`;
  return { container: new ContainerClient(container, pipeline), name, close: () => agents.destroy() };
}

interface Identity {
  readonly account: string | undefined;
  readonly credential: StorageSharedKeyCredential | TokenCredential | AnonymousCredential;
  readonly as: Credential;
  readonly cloud: string;
}

async function identify(target: AzureTarget, name: string): Promise<Identity> {
  if (target.secretFolder === undefined) {
    // A large library, and of no use where there is a key.
    const { DefaultAzureCredential } = await import("@azure/identity");
    return {
      account: target.account,
      credential: new DefaultAzureCredential(),
      as: { t: "identity", of: "azure" },
      cloud: "AzurePublicCloud",
    };
  }
  const account = await needEntry(target.secretFolder, "storage-account", name);
  const key = await needEntry(target.secretFolder, "storage-key", name);
  const cloud = (await readEntry(target.secretFolder, "cloud")) ?? "AzurePublicCloud";
  return { account, credential: new StorageSharedKeyCredential(account, key), as: { t: "signature" }, cloud };
}

const example = "https://account.blob.core.windows.net";

export function serviceUrl(
  endpoint: string | undefined,
  account: string | undefined,
  cloud: string,
  name: string,
): URL {
  if (endpoint === undefined) {
    const domain = clouds[cloud.toLowerCase()];
    if (domain === undefined)
      throw new StoreError(
        "refused",
        `${name}: the cloud ${JSON.stringify(cloud)} is not known. Use AzurePublicCloud, AzureChinaCloud or AzureUSGovernmentCloud, or set the endpoint.`,
      );
    if (account === undefined)
      throw new StoreError(
        "refused",
        `${name}: neither a Secret nor an account is named. Name the storage account, or a Secret with storage-account and storage-key.`,
      );
    return urlOf(`https://${account}.${domain}`, name, example);
  }
  const url = urlOf(endpoint, name, example);
  // Emulators have the account in the path; where the name of the host has it, or a path is given, that is meant.
  const inPath = url.pathname === "/" && (isIP(url.hostname) !== 0 || !url.hostname.includes("."));
  if (inPath && account !== undefined) url.pathname = `/${account}`;
  return url;
}

function through(agents: Agents): RequestPolicyFactory {
  return {
    create: (next) => ({
      sendRequest(request) {
        request.agent = request.url.startsWith("https:") ? agents.https : agents.http;
        return next.sendRequest(request);
      },
    }),
  };
}
