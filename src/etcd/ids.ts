// Ids of members and clusters. On the wire they are unsigned 64-bit integers; here they are lower-case hexadecimal, as
// in etcd's log and etcdctl, for logs, comparison and status.
import type { Brand } from "../brand.ts";

export type MemberId = Brand<string, "member">;
export type ClusterId = Brand<string, "cluster">;

const pattern = /^[0-9a-f]{1,16}$/;

export function memberId(wire: bigint): MemberId {
  return wire.toString(16) as MemberId;
}

export function clusterId(wire: bigint): ClusterId {
  return wire.toString(16) as ClusterId;
}

/** Parses an id that was stored earlier, for example in a status. */
export function parseClusterId(text: string): ClusterId | undefined {
  return isId(text) ? (text as ClusterId) : undefined;
}

export function wireId(id: MemberId | ClusterId): bigint {
  return BigInt(`0x${id}`);
}

/** 0 means "none", and ids have no leading zeros. */
function isId(text: string): boolean {
  return pattern.test(text) && !text.startsWith("0");
}
