// The process' own HTTP endpoints: health, readiness and metrics on one plain server.
import type { Server } from "node:http";
import type { ListenAddress } from "./listen-address.ts";

export interface Endpoint {
  status: number;
  contentType: string;
  body: string;
}

export interface Check {
  readonly name: string;
  readonly holds: () => true | string;
}

interface Endpoints {
  /** Undefined when nothing is served. */
  readonly port: number | undefined;
  close(): Promise<void>;
}

/** Paths that the kubelet asks get one line a check, and 503 when one does not hold. */
export function checked(checks: () => readonly Check[]): () => Endpoint {
  return () => {
    const results = checks().map(({ name, holds }) => ({ name, result: holds() }));
    const lines = results.map(({ name, result }) => (result === true ? `ok ${name}` : `not ok ${name}: ${result}`));
    const status = results.every(({ result }) => result === true) ? 200 : 503;
    return plain(status, lines.join("\n") || "ok");
  };
}

export async function serveEndpoints(
  address: ListenAddress,
  endpoints: Readonly<Record<string, () => Endpoint>>,
): Promise<Endpoints> {
  if (address.t === "nowhere") return { port: undefined, close: () => Promise.resolve() };
  // Not by import: that runs every getter of the module, one of which loads the whole of undici.
  const { createServer } = process.getBuiltinModule("node:http");
  const server = createServer({ requestTimeout: 10_000, keepAliveTimeout: 5_000 }, ({ method, url = "" }, response) => {
    const path = url.split("?")[0] ?? "";
    const { status, contentType, body } = answer(method, Object.hasOwn(endpoints, path) ? endpoints[path] : undefined);
    const headers = { "content-type": contentType, "content-length": Buffer.byteLength(body) };
    response.writeHead(status, headers).end(method === "HEAD" ? undefined : body);
  });
  server.maxConnections = 64;
  await listening(server, address.host, address.port);
  const bound = server.address();
  return { port: typeof bound === "object" ? bound?.port : undefined, close: () => closed(server) };
}

function answer(method: string | undefined, endpoint: (() => Endpoint) | undefined): Endpoint {
  if (endpoint === undefined) return plain(404, "not found");
  if (method !== "GET" && method !== "HEAD") return plain(405, "only GET and HEAD");
  try {
    return endpoint();
  } catch (error) {
    return plain(500, String(error));
  }
}

function plain(status: number, text: string): Endpoint {
  return { status, contentType: "text/plain; charset=utf-8", body: `${text}\n` };
}

function listening(server: Server, host: string | undefined, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, ...(host === undefined ? {} : { host }) }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
