// A member for tests on real servers of a busy machine: a call that names no deadline gets a long one, and is sent again where
// etcd says that it decided nothing, because another member came to lead or the quorum was slow, and where the login before it
// took too long. A call that names its deadline is sent once, as it is.
import { setTimeout as delay } from "node:timers/promises";
import { EtcdError } from "../../src/etcd/errors.ts";
import type { Call, EtcdMember } from "../../src/etcd/member.ts";
import { TransportError } from "../../src/transport/errors.ts";

const deadline = 60_000;
const patienceMs = 180_000;

/** How many arguments stand before the options of a call. */
const argumentsOf = {
  status: 0,
  health: 0,
  authentication: 0,
  memberList: 1,
  memberAdd: 1,
  memberPromote: 1,
  memberRemove: 1,
  memberUpdate: 2,
  moveLeader: 1,
  downgrade: 1,
  alarms: 0,
  disarm: 1,
  compact: 1,
  hashKv: 1,
  get: 2,
  list: 2,
  put: 2,
  delete: 1,
  txn: 1,
} as const satisfies Partial<Record<keyof EtcdMember, number>>;

type Unary = keyof typeof argumentsOf;
const isUnary = (name: string | symbol): name is Unary => Object.hasOwn(argumentsOf, name);

const mayPass = (error: unknown): boolean =>
  error instanceof EtcdError
    ? ["timeout", "noLeader", "leaderChanged"].includes(error.reason)
    : error instanceof TransportError && error.failure === "deadline";

export function patient(member: EtcdMember): EtcdMember {
  return new Proxy(member, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      const bound = value.bind(target) as (...args: unknown[]) => Promise<unknown>;
      return isUnary(name) ? patiently(bound, argumentsOf[name]) : bound;
    },
  });
}

function patiently(send: (...args: unknown[]) => Promise<unknown>, before: number) {
  return async (...args: unknown[]): Promise<unknown> => {
    const call = (args[before] ?? {}) as Call;
    if (call.deadline !== undefined) return send(...args);
    const first = Array.from({ length: before }, (_, at) => args[at]);
    for (const until = performance.now() + patienceMs; ; )
      try {
        return await send(...first, { ...call, deadline });
      } catch (error) {
        if (performance.now() > until || !mayPass(error)) throw error;
        await delay(200);
      }
  };
}
