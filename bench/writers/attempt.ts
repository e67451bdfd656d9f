// One try of one write at one member. That a member says no, or nothing, is what these benchmarks are about; any other
// error is a mistake of theirs.
import { EtcdError } from "../../src/etcd/errors.ts";
import type { EtcdMember } from "../../src/etcd/member.ts";
import { TransportError } from "../../src/transport/errors.ts";

export type Writable = Pick<EtcdMember, "put">;

/** Why it was not acknowledged; undefined: it was. */
export async function attempt(member: Writable, value: string, withinMs: number): Promise<string | undefined> {
  try {
    await member.put("bench", value, { deadline: withinMs });
    return undefined;
  } catch (error) {
    if (error instanceof EtcdError || error instanceof TransportError) return error.message;
    throw error;
  }
}

/** Round and round. */
export function memberOf<T>(members: readonly T[], turn: number): T {
  const member = members[turn % members.length];
  if (member === undefined) throw new RangeError("there is no member to write through");
  return member;
}
