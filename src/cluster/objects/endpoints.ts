// How the operator reaches a member: at its pod's address, which is there before DNS knows its name. The one place that
// says so: encryption and server names belong here, too.
import type { Login } from "../../etcd/login.ts";
import type { Endpoint } from "../../etcd/members.ts";
import { ports } from "./labels.ts";

/** What the operator has to show at the members of one cluster. */
export interface Access {
  readonly login?: Login | undefined;
}

export function endpointOf({ address }: { readonly address: string }, { login }: Access): Endpoint {
  return { url: memberUrl(address), ...(login && { login }) };
}

export function memberUrl(address: string): string {
  return `http://${address.includes(":") ? `[${address}]` : address}:${ports.client}`;
}
