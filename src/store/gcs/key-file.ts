// The key files of Google that a Secret may hold. They name files, addresses and programs, and Google's library warns that it
// uses them as they are; so only kinds that are known are taken, and they ask nobody but Google and the pod's own node.
import type { AuthClient, ExternalAccountClient } from "google-auth-library";
import { Recipient } from "../../recipients/recipients.ts";

export const scopes = ["https://www.googleapis.com/auth/devstorage.full_control"];

export interface KeyFile {
  readonly type?: string;
  readonly client_email?: string;
  readonly private_key?: string;
  readonly token_url?: string;
  readonly service_account_impersonation_url?: string;
  readonly universe_domain?: string;
  readonly credential_source?: {
    readonly executable?: unknown;
    readonly url?: string;
    readonly region_url?: string;
    readonly imdsv2_session_token_url?: string;
  };
}

/** Throws an error whose message holds nothing of what is secret in the file. */
export async function clientOf(file: KeyFile): Promise<Pick<AuthClient, "getRequestHeaders">> {
  const { ExternalAccountClient, JWT, UserRefreshClient } = await import("google-auth-library");
  const { type, client_email: email, private_key: key } = file;
  if (type === "service_account" && email !== undefined && key !== undefined) return new JWT({ email, key, scopes });
  if (type === "authorized_user") return UserRefreshClient.fromJSON(file);
  if (type === "external_account") {
    asksOnlyGoogle(file);
    const client = ExternalAccountClient.fromJSON({ scopes, ...file } as unknown as ExternalAccount);
    if (client) return client;
  }
  throw new Error("its type must be service_account, external_account or authorized_user, with all that belongs to it");
}

type ExternalAccount = Parameters<typeof ExternalAccountClient.fromJSON>[0];

/** Where a node answers questions about itself; what it says is sent to Google alone. */
const metadataHosts: ReadonlySet<string> = new Set(["169.254.169.254", "[fd00:ec2::254]"]);

function asksOnlyGoogle({ universe_domain: universe = "googleapis.com", ...file }: KeyFile): void {
  const { token_url: token, service_account_impersonation_url: impersonation, credential_source: source = {} } = file;
  if (universe !== "googleapis.com") throw new Error("its universe_domain must be googleapis.com");
  for (const [field, url] of Object.entries({ token_url: token, service_account_impersonation_url: impersonation }))
    if (url !== undefined && !isGoogles(url)) throw new Error(`its ${field} must be at *.googleapis.com, with https`);
  if (source.executable !== undefined) throw new Error("its credential_source must not be a program");
  for (const field of ["url", "region_url", "imdsv2_session_token_url"] as const) {
    const url = source[field];
    if (url !== undefined && !isOfNode(url))
      throw new Error(`its credential_source.${field} must be the metadata service of the node, 169.254.169.254`);
  }
}

const isGoogles = (url: unknown): boolean =>
  typeof url === "string" &&
  URL.canParse(url) &&
  Recipient.of({ t: "identity", of: "google" }, new URL(url)) !== undefined;

const isOfNode = (url: unknown): boolean =>
  typeof url === "string" && URL.canParse(url) && metadataHosts.has(new URL(url).hostname);
