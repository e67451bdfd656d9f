// A member that is asked again where a busy machine got in the way: an election, a slow disk, a connection that broke. For the
// calls whose repetition changes nothing; what changes members or leaders is sent once.
import { waitFor } from "../../../lab/progress.ts";
import { EtcdError, type EtcdReason } from "../../../src/etcd/errors.ts";
import type { Call, EtcdMember } from "../../../src/etcd/member.ts";
import { TransportError } from "../../../src/transport/errors.ts";
import { patiently } from "./environment.ts";

/** What etcd says of itself while it elects, or is slow. */
const passing: ReadonlySet<EtcdReason> = new Set([
  "timeout",
  "stopped",
  "cancelled",
  "noLeader",
  "notLeader",
  "leaderChanged",
  "futureRevision",
  "tooManyRequests",
]);

const isPassing = (error: unknown): boolean =>
  error instanceof TransportError || (error instanceof EtcdError && passing.has(error.reason));

/** How long one that does not answer is asked. */
const timeoutMs = 60_000;

/** Default deadline of a call: patient. */
export function steady(member: EtcdMember): EtcdMember {
  async function repeated<T>(what: string, call: Call | undefined, ask: (call: Call) => Promise<T>): Promise<T> {
    const once = async (): Promise<{ answer: T } | { refused: unknown }> => {
      try {
        return { answer: await ask(call ?? patiently) };
      } catch (error) {
        if (isPassing(error) && call?.signal?.aborted !== true) throw error;
        return { refused: error };
      }
    };
    const outcome = await waitFor(`${what} by ${member.endpoint}`, once, { timeoutMs });
    if ("refused" in outcome) throw outcome.refused;
    return outcome.answer;
  }
  return {
    endpoint: member.endpoint,
    status: (call) => repeated("a status", call, (one) => member.status(one)),
    memberList: (options, call) => repeated("a list of members", call, (one) => member.memberList(options, one)),
    alarms: (call) => repeated("a list of alarms", call, (one) => member.alarms(one)),
    disarm: (alarm, call) => repeated("an alarm disarmed", call, (one) => member.disarm(alarm, one)),
    hashKv: (revision, call) => repeated("a hash", call, (one) => member.hashKv(revision, one)),
    get: (key, options, call) => repeated(`a read of ${key}`, call, (one) => member.get(key, options, one)),
    list: (prefix, options, call) => repeated(`a list of ${prefix}`, call, (one) => member.list(prefix, options, one)),
    put: (key, value, call) => repeated(`a write of ${key}`, call, (one) => member.put(key, value, one)),
    delete: (key, call) => repeated(`a deletion of ${key}`, call, (one) => member.delete(key, one)),
    compact: (revision, call) =>
      repeated("a compaction", call, (one) => member.compact(revision, one)).catch((error: unknown) => {
        // It came through at a try whose answer was lost.
        if (!(error instanceof EtcdError && error.reason === "compacted")) throw error;
      }),
    health: (call) => member.health(call),
    authentication: (call) => member.authentication(call),
    memberAdd: (added, call) => member.memberAdd(added, call ?? patiently),
    memberPromote: (id, call) => member.memberPromote(id, call ?? patiently),
    memberRemove: (id, call) => member.memberRemove(id, call ?? patiently),
    memberUpdate: (id, peerUrls, call) => member.memberUpdate(id, peerUrls, call ?? patiently),
    moveLeader: (to, call) => member.moveLeader(to, call ?? patiently),
    downgrade: (step, call) => member.downgrade(step, call ?? patiently),
    defragment: (call) => member.defragment(call),
    snapshot: (onChunk, call) => member.snapshot(onChunk, call),
    txn: (txn, call) => member.txn(txn, call ?? patiently),
  };
}
