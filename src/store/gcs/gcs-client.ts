// The way to a bucket of Google's Cloud Storage: where it is, and who we are.
import type { Credential } from "../../recipients/recipients.ts";
import { type Agents, storeAgents } from "../agents.ts";
import { recipientOf, urlOf } from "../endpoint.ts";
import { StoreError } from "../errors.ts";
import { needEntry, readCa, readEntry } from "../secret-folder.ts";
import type { StoreTarget } from "../store.ts";
import { exchange, type GcsAnswer, GcsRefusal, type GcsRequest, withRetries } from "./gcs-http.ts";
import { clientOf, type KeyFile, scopes } from "./key-file.ts";

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

export async function connectGcs(target: GcsTarget): Promise<GcsConnection> {
  const name = `gs://${target.bucket}`;
  const url = urlOf(target.endpoint ?? google, name, "https://storage.example.com");
  const { credential, identity } = await identify(target, url, name);
  const base = (credential ? recipientOf(credential, url, name).url : url).href.replace(/\/+$/, "");
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

interface Identified {
  /** What `identity` sends. Absent: nothing. */
  readonly credential?: Credential;
  readonly identity: GcsConnection["identity"];
}

const ofGoogle: Credential = { t: "identity", of: "google" };

async function identify({ secretFolder }: GcsTarget, url: URL, name: string): Promise<Identified> {
  if (secretFolder !== undefined) {
    // Read at each request: whoever writes such a token writes the next one, too.
    if ((await readEntry(secretFolder, "access-token")) !== undefined)
      return {
        credential: { t: "token" },
        identity: async () => ({ authorization: `Bearer ${await needEntry(secretFolder, "access-token", name)}` }),
      };
    const json = await readEntry(secretFolder, "credentials.json");
    if (json !== undefined) {
      const client = await clientOf(parseKeyFile(json, name)).catch((error: unknown) => {
        throw new StoreError(
          "badCredentials",
          `${name}: the entry credentials.json of the Secret cannot be used. Put the key file there as Google made it. It says: ${error instanceof Error ? error.message : ""}.`,
        );
      });
      return { credential: ofGoogle, identity: async () => Object.fromEntries(await client.getRequestHeaders()) };
    }
    throw new StoreError(
      "badCredentials",
      `${name}: the Secret with the credentials has neither an entry access-token nor an entry credentials.json. Add one to the Secret.`,
    );
  }
  // Another's server gets no token of Google's, and needs no question to Google's metadata server.
  if (!/(^|\.)googleapis\.com$/.test(url.hostname)) return { identity: () => Promise.resolve({}) };
  const { GoogleAuth } = await import("google-auth-library");
  const auth = new GoogleAuth({ scopes });
  return { credential: ofGoogle, identity: async () => Object.fromEntries(await auth.getRequestHeaders()) };
}

function parseKeyFile(json: string, name: string): KeyFile {
  try {
    const parsed: unknown = JSON.parse(json);
    if (typeof parsed === "object" && parsed !== null) return parsed;
  } catch {
    // Reported below, without the text: it is a secret.
  }
  throw new StoreError(
    "badCredentials",
    `${name}: the entry credentials.json of the Secret is not JSON. Put the key file there as Google made it.`,
  );
}
