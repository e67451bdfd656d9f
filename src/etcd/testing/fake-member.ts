// One member of an in-memory cluster behind the same port as a real one: whether it can be reached, whether it may
// serve the call, and whether it has the quorum that the call needs.
import { createHash } from "node:crypto";
import { TransportError } from "../../transport/errors.ts";
import { answerBytes, tooManyBytes } from "../bounds.ts";
import { refuseDowngradeOfOldServers } from "../downgrade-guard.ts";
import { EtcdError } from "../errors.ts";
import type { MemberId } from "../ids.ts";
import { refuseLearnerOnOldServers } from "../learner-guard.ts";
import { isAccessRefusal, type Login } from "../login.ts";
import type {
  AddedMember,
  Alarm,
  Authentication,
  Call,
  Deleted,
  DowngradeStep,
  EtcdMember,
  KeyRange,
  KeyValue,
  KvHash,
  Member,
  MemberHealth,
  Membership,
  MemberStatus,
  NewMember,
  ReadOptions,
  Snapshot,
  SnapshotCall,
  Txn,
  TxnResult,
  Written,
} from "../member.ts";
import { has } from "../versions/features.ts";
import { formatVersion } from "../versions/version.ts";
import { type FakeCluster, type FakeProcess, refusal } from "./fake-cluster.ts";

type Need =
  | "nothing" // served by whoever runs
  | "voter" // refused by a learner
  | "quorum"; // by a voter that reaches enough others

export class FakeMember implements EtcdMember {
  readonly endpoint: string;
  readonly #find: () => FakeCluster;
  readonly #login: Login | undefined;

  /** `find`: the cluster that whoever listens there takes itself for a member of. */
  constructor(find: () => FakeCluster, endpoint: string, login?: Login) {
    this.#find = find;
    this.endpoint = endpoint;
    this.#login = login;
  }

  get #etcd(): FakeCluster {
    return this.#find();
  }

  status = async (call?: Call): Promise<MemberStatus> => {
    const process = this.#serve("Status", "nothing", call);
    this.#etcd.flush();
    const { store, clusterId, term, alarms } = this.#etcd;
    const modern = has(process.version, "learners");
    const size = 20_480 + store.changes * 100 + this.#etcd.ballast;
    return {
      clusterId,
      memberId: process.member,
      version: formatVersion(process.version),
      learner: this.#etcd.memberOf(process).learner,
      leader: this.#etcd.leaderSeenBy(process),
      revision: store.revision,
      raftTerm: term,
      raftIndex: process.held + 4,
      raftAppliedIndex: modern ? process.held + 4 : undefined,
      dbSize: size,
      dbSizeInUse: modern ? size : undefined,
      dbSizeQuota: has(process.version, "statusQuota") ? process.quota : undefined,
      storageVersion: has(process.version, "statusQuota") ? this.#etcd.storageOf(process) : undefined,
      downgrade: has(process.version, "statusQuota") ? this.#etcd.downgradeTarget : undefined,
      alarms: modern ? alarms : [],
    };
  };

  health = async (call?: Call): Promise<MemberHealth> => {
    try {
      this.#serve("Range", "quorum", call);
      return { t: "healthy" };
    } catch (error) {
      if (isAccessRefusal(error)) return { t: "healthy", refused: error };
      if (error instanceof EtcdError || error instanceof TransportError) return { t: "unhealthy", error };
      throw error;
    }
  };

  authentication = async (call?: Call): Promise<Authentication> => {
    const process = this.#serve("Range", "nothing", call, "whoeverAsks");
    if (this.#etcd.auth.isOn) return "on";
    return has(process.version, "tokensIgnoredWithoutAuth") ? "off" : undefined;
  };

  memberList = async ({ linearizable }: { readonly linearizable: boolean }, call?: Call): Promise<Membership> => {
    this.#serve("MemberList", linearizable ? "quorum" : "voter", call);
    return { clusterId: this.#etcd.clusterId, members: this.#etcd.members };
  };

  memberAdd = async (wanted: NewMember, call?: Call): Promise<AddedMember> => {
    refuseLearnerOnOldServers(wanted);
    const process = this.#serve("MemberAdd", "voter", call);
    const member = this.#etcd.add(process, wanted.peerUrls, wanted.as === "learner");
    return { member, members: this.#etcd.members };
  };

  memberPromote = async (id: MemberId, call?: Call): Promise<readonly Member[]> => {
    const process = this.#serve("MemberPromote", "voter", call);
    if (!has(process.version, "learners")) throw unimplemented("MemberPromote");
    this.#etcd.promote(process, id);
    return this.#etcd.members;
  };

  memberRemove = async (id: MemberId, call?: Call): Promise<readonly Member[]> => {
    this.#etcd.remove(this.#serve("MemberRemove", "voter", call), id);
    return this.#etcd.members;
  };

  memberUpdate = async (id: MemberId, peerUrls: readonly string[], call?: Call): Promise<readonly Member[]> => {
    this.#etcd.update(this.#serve("MemberUpdate", "voter", call), id, peerUrls);
    return this.#etcd.members;
  };

  moveLeader = async (to: MemberId, call?: Call): Promise<void> => {
    const process = this.#serve("MoveLeader", "voter", call);
    if (!has(process.version, "moveLeader")) throw unimplemented("MoveLeader");
    this.#etcd.moveLeader(process, to);
  };

  downgrade = async (step: DowngradeStep, call?: Call): Promise<void> => {
    refuseDowngradeOfOldServers(step);
    const process = this.#serve("Downgrade", "voter", call);
    if (!has(process.version, "downgradeCall")) throw unimplemented("Downgrade");
    this.#etcd.downgrade(process, step);
  };

  alarms = async (call?: Call): Promise<readonly Alarm[]> => {
    this.#serve("Alarm", "quorum", call);
    return this.#etcd.alarms;
  };

  disarm = async (alarm: Alarm, call?: Call): Promise<void> => {
    this.#serve("Alarm", "quorum", call);
    this.#etcd.disarm(alarm);
  };

  defragment = async (call?: Call): Promise<void> => {
    this.#serve("Defragment", "voter", call);
  };

  compact = async (revision: number, call?: Call): Promise<void> => {
    this.#serve("Compact", "quorum", call);
    this.#etcd.store.compact(revision);
  };

  hashKv = async (revision: number, call?: Call): Promise<KvHash> => {
    const process = this.#serve("HashKV", "voter", call);
    if (!has(process.version, "hashKv")) throw unimplemented("HashKV");
    return this.#etcd.store.hash(revision);
  };

  snapshot = async (onChunk: (chunk: Uint8Array) => void | Promise<void>, call?: SnapshotCall): Promise<Snapshot> => {
    const process = this.#serve("Snapshot", "nothing", call);
    if (!has(process.version, "linearizableMemberList") && this.#etcd.memberOf(process).learner)
      throw notServedByLearner("Snapshot"); // 3.5 began to serve it
    const keys = this.#etcd.store.list("").keys.map(({ key, value }) => [key, Buffer.from(value).toString("base64")]);
    const text = Buffer.from(JSON.stringify(keys));
    const pages = Buffer.alloc(Math.ceil((text.length + 1) / 512) * 512);
    text.copy(pages);
    const digest = createHash("sha256").update(pages).digest();
    await onChunk(pages);
    await onChunk(digest);
    return {
      bytes: pages.length + digest.length,
      sha256: createHash("sha256").update(pages).update(digest).digest("hex"),
      version: has(process.version, "statusQuota") ? this.#etcd.storageOf(process) : undefined,
    };
  };

  get = async (key: string, options: ReadOptions = {}, call?: Call): Promise<KeyValue | undefined> => {
    this.#serve("Range", options.serializable ? "nothing" : "quorum", call);
    return this.#etcd.store.get(key, options);
  };

  list = async (prefix: string, options: ReadOptions = {}, call?: Call): Promise<KeyRange> => {
    this.#serve("Range", options.serializable ? "nothing" : "quorum", call);
    return this.#etcd.store.list(prefix, options);
  };

  put = async (key: string, value: string | Uint8Array, call?: Call): Promise<Written> => {
    this.#serve("Put", "quorum", call);
    this.#requireRoom("Put");
    this.#etcd.commit();
    return this.#etcd.store.put(key, value);
  };

  delete = async (key: string, call?: Call): Promise<Deleted> => {
    this.#serve("DeleteRange", "quorum", call);
    this.#etcd.commit();
    return this.#etcd.store.delete(key);
  };

  txn = async (txn: Txn, call?: Call): Promise<TxnResult> => {
    this.#serve("Txn", "quorum", call);
    if ([...txn.andThen, ...(txn.otherwise ?? [])].some((write) => "put" in write)) this.#requireRoom("Txn");
    this.#etcd.commit();
    return this.#etcd.store.txn(txn);
  };

  #serve(
    method: string,
    need: Need,
    call: Pick<Call, "beforeSend"> | undefined,
    whom: "users" | "whoeverAsks" = "users",
  ): FakeProcess {
    const process = this.#etcd.processAt(this.endpoint);
    const at = `${method} at ${this.endpoint}`;
    if (!process || process.state === "stopped") throw new TransportError("unreachable", `${at}: connection refused`);
    if (process.state === "isolated") throw new TransportError("connectTimeout", `${at}: no connection in time`);
    call?.beforeSend?.();
    if (!this.#etcd.listens(process)) throw new TransportError("deadline", `${at} had no answer in time`);
    if (process.state === "frozen") throw new TransportError("deadline", `${at} had no answer in time`);
    if (process.state === "endless") throw tooManyBytes(method, answerBytes);
    const { learner } = this.#etcd.memberOf(process);
    const hasQuorum = this.#etcd.hasQuorum(process);
    if (need !== "nothing" && learner) throw notServedByLearner(method);
    if (need === "quorum" && !hasQuorum) throw refusal("timeout", method, "request timed out");
    const server = { version: process.version, learner, hasQuorum };
    if (whom === "users") this.#etcd.auth.check({ method, login: this.#login, server });
    return process;
  }

  #requireRoom(method: string): void {
    const armed = new Set(this.#etcd.alarms.map((alarm) => alarm.type));
    if (armed.has("corrupt")) throw refusal("corrupt", method, "corrupt cluster");
    if (armed.has("noSpace")) throw refusal("noSpace", method, "mvcc: database space exceeded");
  }
}

const unimplemented = (method: string): EtcdError => new EtcdError("unimplemented", method, `unknown method ${method}`);
const notServedByLearner = (method: string): EtcdError =>
  refusal("notServedByLearner", method, "rpc not supported for learner");
