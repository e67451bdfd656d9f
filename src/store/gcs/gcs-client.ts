// The way to a bucket of Google's Cloud Storage: where it is, and who we are.
import type { AuthClient, ExternalAccountClient } from "google-auth-library";
import { type Agents, storeAgents } from "../agents.ts";
import { StoreError } from "../errors.ts";
import { needEntry, readCa, readEntry } from "../secret-folder.ts";
import type { StoreTarget } from "../store.ts";
import { exchange, type GcsAnswer, GcsRefusal, type GcsRequest, withRetries } from "./gcs-http.ts";

export type GcsTarget = Extract<StoreTarget, { type: "GCS" }>;

type Query = Readonly<Record<string, string | undefined>>;

export interface GcsConnection {
  readonly name: string;
  readonly agents: Agents;
  /** The address of an object, or of all. */
  object(key: string | undefined, query?: Query): string;
  /** Where uploads begin. */
  upload(query: Query): string;
  /** Who we are, in headers. Asks for a token where one is needed, which is cached until it ends. */
  identity(): Promise<Record<string, string>>;
  /** With our identity, and with retries; an answer that is no success is thrown. */
  call(request: GcsRequest): Promise<GcsAnswer>;
  close(): void;
}

const google = "https://storage.googleapis.com";
const scopes = ["https://www.googleapis.com/auth/devstorage.full_control"];

export async function connectGcs(target: GcsTarget): Promise<GcsConnection> {
  const name = `gs://${target.bucket}`;
  const base = baseUrl(target.endpoint, name);
  const identity = await identify(target, base, name);
  const agents = storeAgents(await readCa(target.caFolder, name));
  const objects = `/storage/v1/b/${encodeURIComponent(target.bucket)}/o`;
  return {
    name,
    agents,
    identity,
    object: (key, query = {}) =>
      `${base}${objects}${key === undefined ? "" : `/${encodeURIComponent(key)}`}${queryOf(query)}`,
    upload: (query) => `${base}/upload${objects}${queryOf(query)}`,
    call: (request) =>
      withRetries(async () => {
        const headers = { ...request.headers, ...(await identity()) };
        const answer = await exchange(agents, { ...request, headers });
        if (answer.status >= 200 && answer.status < 300) return answer;
        throw new GcsRefusal(answer.status, answer.text);
      }, request.signal),
    close: () => agents.destroy(),
  };
}

function queryOf(query: Query): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.length === 0 ? "" : `?${new URLSearchParams(given).toString()}`;
}

function baseUrl(endpoint: string | undefined, name: string): string {
  if (endpoint === undefined) return google;
  const url = URL.parse(/^https?:\/\//i.test(endpoint) ? endpoint : `https://${endpoint}`);
  if (url) return url.href.replace(/\/+$/, "");
  throw new StoreError(
    "refused",
    `${name}: the endpoint ${JSON.stringify(endpoint)} is not a URL. Write one as in https://storage.example.com.`,
  );
}

type Identify = () => Promise<Record<string, string>>;

async function identify({ secretFolder }: GcsTarget, base: string, name: string): Promise<Identify> {
  if (secretFolder !== undefined) {
    // Read at each request: whoever writes such a token writes the next one, too.
    if ((await readEntry(secretFolder, "access-token")) !== undefined)
      return async () => ({ authorization: `Bearer ${await needEntry(secretFolder, "access-token", name)}` });
    const json = await readEntry(secretFolder, "credentials.json");
    if (json !== undefined)
      return googleIdentity(parseCredentials(json, name)).catch((error: unknown) => {
        throw new StoreError(
          "badCredentials",
          `${name}: the entry credentials.json of the Secret cannot be used. Put the key file there as Google made it. It says: ${error instanceof Error ? error.message : ""}.`,
        );
      });
    throw new StoreError(
      "badCredentials",
      `${name}: the Secret with the credentials has neither an entry access-token nor an entry credentials.json. Add one to the Secret.`,
    );
  }
  // Another's server gets no token of Google's, and needs no question to Google's metadata server.
  const isGoogle = /(^|\.)googleapis\.com$/.test(new URL(base).hostname);
  return isGoogle ? googleIdentity(undefined) : () => Promise.resolve({});
}

function parseCredentials(json: string, name: string): Credentials {
  try {
    const parsed: unknown = JSON.parse(json);
    if (typeof parsed === "object" && parsed !== null) return parsed;
  } catch {
    // Told below, without the text: it is a secret.
  }
  throw new StoreError(
    "badCredentials",
    `${name}: the entry credentials.json of the Secret is not JSON. Put the key file there as Google made it.`,
  );
}

/** Each kind of file by its own client: the one for all kinds warns that it does not look at what it is given. */
async function googleIdentity(credentials: Credentials | undefined): Promise<Identify> {
  const { ExternalAccountClient, GoogleAuth, JWT, UserRefreshClient } = await import("google-auth-library");
  const { type, client_email: email, private_key: key } = credentials ?? {};
  const client = (): Pick<AuthClient, "getRequestHeaders"> | null => {
    if (!credentials) return new GoogleAuth({ scopes });
    if (type === "service_account" && email !== undefined && key !== undefined) return new JWT({ email, key, scopes });
    if (type === "external_account")
      return ExternalAccountClient.fromJSON({ scopes, ...credentials } as unknown as ExternalAccount);
    if (type === "authorized_user") return UserRefreshClient.fromJSON(credentials);
    return new GoogleAuth({ scopes, credentials });
  };
  const chosen = client();
  if (!chosen) throw new Error("its type is not known");
  return async () => Object.fromEntries(await chosen.getRequestHeaders());
}

type ExternalAccount = Parameters<typeof ExternalAccountClient.fromJSON>[0];

interface Credentials {
  readonly type?: string;
  readonly client_email?: string;
  readonly private_key?: string;
}
