// How the operator reaches a member: at its pod's address, which is there before DNS knows its name. The one place that
// says so: encryption and server names belong here, too.
import type { Endpoint } from "../../etcd/members.ts";
import { ports } from "./labels.ts";

export function endpointOf({ address }: { readonly address: string }): Endpoint {
  return { url: memberUrl(address) };
}

export function memberUrl(address: string): string {
  return `http://${address.includes(":") ? `[${address}]` : address}:${ports.client}`;
}
