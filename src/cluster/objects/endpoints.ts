// How the operator reaches a member: at its pod's address, which is there before DNS knows its name. The one place that
// says so. What it speaks is what its pod was started with, whatever the spec says by now.
import type { Login } from "../../etcd/login.ts";
import type { ClientTls, Endpoint } from "../../etcd/members.ts";
import { ports } from "./labels.ts";
import { type Scheme, schemeOf } from "./tls.ts";

export interface Reachable {
  readonly address: string;
  /** It speaks TLS with clients, and this is how; absent: plain text. */
  readonly tls?: { readonly serverName: string; readonly identity: ClientTls | undefined };
  /** Whom to log in as where etcd asks for it. */
  readonly login?: Login | undefined;
}

export function endpointOf({ address, tls, login }: Reachable): Endpoint {
  const url = memberUrl(address, schemeOf(tls !== undefined));
  const known = login && { login };
  if (tls === undefined) return { url, ...known };
  return { url, serverName: tls.serverName, ...(tls.identity && { tls: tls.identity }), ...known };
}

export function memberUrl(address: string, scheme: Scheme = "http"): string {
  return `${scheme}://${hostIn(address)}:${ports.client}`;
}

export const hostIn = (address: string): string => (address.includes(":") ? `[${address}]` : address);
