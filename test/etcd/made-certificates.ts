// Certificates for etcd processes on loopback, as the operator makes them for clusters, and a reader of what is served.
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:tls";
import { type Authority, makeAuthority, makeLeaf } from "../../src/tls/make.ts";
import type { Bundle, KeyPair } from "../../src/tls/pem.ts";
import type { ServerTls } from "./real-etcd.ts";

const { now } = Date;

export const newAuthority = (name: string): Promise<Authority> => makeAuthority(name, now());

/** For a member that is dialled at 127.0.0.1, also as localhost, or at this address only. */
export function memberLeaf(authority: Authority, ip = "127.0.0.1"): Promise<KeyPair> {
  const names = ["*.c.ns.svc", ...(ip === "127.0.0.1" ? ["localhost"] : [])];
  return makeLeaf(authority, { commonName: "c", names, ips: [ip], use: "both" }, now());
}

export async function peerBundle(authority: Authority, ip?: string): Promise<Bundle> {
  return { ca: authority.cert, pair: await memberLeaf(authority, ip) };
}

export async function clientTls(authority: Authority): Promise<ServerTls> {
  return {
    server: { ...(await memberLeaf(authority)), clientCa: authority.cert },
    client: {
      ca: authority.cert,
      identity: await makeLeaf(authority, { commonName: "root", names: [], use: "client" }, now()),
    },
  };
}

/**
 * The leaf that is presented there to the next one who connects with this certificate. PEM. Asked for by name, as members
 * and operator do: etcd 3.2.13 presents the leaf that it started with to who names nobody.
 */
export async function servedLeaf(url: string, identity: KeyPair): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect({
    host: hostname,
    port: Number(port),
    servername: "m.c.ns.svc",
    rejectUnauthorized: false,
    ...identity,
  });
  try {
    await once(socket, "secureConnect", { signal: AbortSignal.timeout(30_000) });
    return new X509Certificate(socket.getPeerCertificate().raw).toString();
  } finally {
    socket.destroy();
  }
}

export const isSame = (a: string, b: string): boolean =>
  new X509Certificate(a).fingerprint256 === new X509Certificate(b).fingerprint256;
