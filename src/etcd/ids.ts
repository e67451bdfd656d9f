// etcd's ids of members and clusters. On the wire they are 64 bits without sign; here they are lower-case hexadecimal,
// as etcd's own log and etcdctl write them, so that they can be logged, compared and put into a status.

declare const brand: unique symbol;
export type MemberId = string & { readonly [brand]: "member" };
export type ClusterId = string & { readonly [brand]: "cluster" };

const pattern = /^[0-9a-f]{1,16}$/;

export function memberId(wire: bigint): MemberId {
  return wire.toString(16) as MemberId;
}

export function clusterId(wire: bigint): ClusterId {
  return wire.toString(16) as ClusterId;
}

/** Reads what was written earlier, into a status for example. */
export function parseMemberId(text: string): MemberId | undefined {
  return isId(text) ? (text as MemberId) : undefined;
}

export function parseClusterId(text: string): ClusterId | undefined {
  return isId(text) ? (text as ClusterId) : undefined;
}

export function wireId(id: MemberId | ClusterId): bigint {
  return BigInt(`0x${id}`);
}

/** 0 means "none", and no member has leading zeros. */
function isId(text: string): boolean {
  return pattern.test(text) && !text.startsWith("0");
}
