// EtcdMember over the network: one gRPC call per method, and a login where etcd asks for one. Comments mark the few calls
// that need more than that.
import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { TransportError } from "../transport/errors.ts";
import { Blocks } from "./blocks.ts";
import { valueBytes } from "./bounds.ts";
import { refuseDowngradeOfOldServers } from "./downgrade-guard.ts";
import { EtcdError } from "./errors.ts";
import {
  AlarmRequest_AlarmAction,
  Cluster,
  Compare_CompareResult,
  Compare_CompareTarget,
  DowngradeRequest_DowngradeAction,
  KV,
  Maintenance,
} from "./gen/etcdserverpb/rpc_pb.ts";
import { type Carrier, type CallOptions, serverStream, unary, withToken } from "./grpc.ts";
import { clusterId, type MemberId, wireId } from "./ids.ts";
import { refuseLearnerOnOldServers } from "./learner-guard.ts";
import { asksForLogin, isAccessRefusal, isSilence, type Session } from "./login.ts";
import type {
  AddedMember,
  Alarm,
  Authentication,
  BeforeSend,
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
} from "./member.ts";
import { SnapshotCheck } from "./snapshot.ts";
import { SnapshotMessages } from "./snapshot-messages.ts";
import { has } from "./versions/features.ts";
import { parseVersion } from "./versions/version.ts";
import {
  alarms,
  bytes,
  headerOf,
  keyValue,
  member,
  memberList,
  memberStatus,
  prefixEnd,
  requestOp,
  wireAlarm,
} from "./wire.ts";

/** Milliseconds. A server gives up on a request that needs quorum after 7 s. */
const deadlines = {
  read: 3000,
  change: 8000,
  compact: 30_000,
  hash: 30_000,
  defragment: 300_000,
  snapshotStart: 10_000,
} as const;

export class ConnectedMember implements EtcdMember {
  readonly endpoint: string;
  readonly #carrier: Carrier;
  readonly #session: Session | undefined;

  /** `session`: who to log in as, where that is asked for. */
  constructor(endpoint: string, carrier: Carrier, session?: Session) {
    this.endpoint = endpoint;
    this.#carrier = carrier;
    this.#session = session;
  }

  async status(call?: Call): Promise<MemberStatus> {
    return memberStatus(await this.#ask(Maintenance.method.status, {}, within(deadlines.read, call)));
  }

  async health(call?: Call): Promise<MemberHealth> {
    try {
      const refused = await this.#readThroughQuorum(call);
      return { t: "healthy", ...(refused && { refused }) };
    } catch (error) {
      if (error instanceof EtcdError || error instanceof TransportError) return { t: "unhealthy", error };
      throw error;
    }
  }

  async authentication(call?: Call): Promise<Authentication> {
    const mayRead = async (token?: string): Promise<boolean> => {
      const request = { key: bytes("\0"), serializable: true, limit: 1n, keysOnly: true };
      try {
        await unary(withToken(this.#carrier, token), KV.method.range, request, within(deadlines.read, call));
        return true;
      } catch (error) {
        if (isAccessRefusal(error)) return false;
        throw error;
      }
    };
    if (!(await mayRead())) return "on";
    // A client certificate may be a login, and a token goes before it: a server that checks tokens refuses this one.
    if (await mayRead("nobody.0")) return "off";
    // Before 3.5 tokens are checked in any case.
    const { version } = await this.status(call);
    const running = parseVersion(version);
    return running && has(running, "tokensIgnoredWithoutAuth") ? "on" : undefined;
  }

  async memberList({ linearizable }: { readonly linearizable: boolean }, call?: Call): Promise<Membership> {
    // Servers before 3.5 ignore `linearizable` and answer from local state, with or without quorum. After a linearizable
    // read the local state is recent enough, on any version.
    if (linearizable) await this.#readThroughQuorum(call);
    const answer = await this.#ask(
      Cluster.method.memberList,
      { linearizable },
      within(linearizable ? deadlines.change : deadlines.read, call),
    );
    const header = headerOf("MemberList", answer.header);
    return { clusterId: clusterId(header.clusterId), members: memberList("MemberList", answer.members) };
  }

  async memberAdd(wanted: NewMember, call?: Call): Promise<AddedMember> {
    refuseLearnerOnOldServers(wanted);
    const isLearner = wanted.as === "learner";
    const answer = await this.#ask(
      Cluster.method.memberAdd,
      { peerURLs: [...wanted.peerUrls], isLearner },
      within(deadlines.change, call),
    );
    if (!answer.member) throw new TransportError("broken", "the answer to MemberAdd has no member");
    const added = member("MemberAdd", answer.member);
    if (isLearner && !added.learner)
      throw new EtcdError("addedAsVoter", "MemberAdd", `${added.id} was added as a voter instead of a learner`);
    return { member: added, members: memberList("MemberAdd", answer.members) };
  }

  async memberPromote(id: MemberId, call?: Call): Promise<readonly Member[]> {
    const answer = await this.#ask(Cluster.method.memberPromote, { ID: wireId(id) }, within(deadlines.change, call));
    return memberList("MemberPromote", answer.members);
  }

  async memberRemove(id: MemberId, call?: Call): Promise<readonly Member[]> {
    const answer = await this.#ask(Cluster.method.memberRemove, { ID: wireId(id) }, within(deadlines.change, call));
    return memberList("MemberRemove", answer.members);
  }

  async memberUpdate(id: MemberId, peerUrls: readonly string[], call?: Call): Promise<readonly Member[]> {
    const answer = await this.#ask(
      Cluster.method.memberUpdate,
      { ID: wireId(id), peerURLs: [...peerUrls] },
      within(deadlines.change, call),
    );
    return memberList("MemberUpdate", answer.members);
  }

  async moveLeader(to: MemberId, call?: Call): Promise<void> {
    await this.#ask(Maintenance.method.moveLeader, { targetID: wireId(to) }, within(deadlines.change, call));
  }

  async downgrade(step: DowngradeStep, call?: Call): Promise<void> {
    refuseDowngradeOfOldServers(step);
    const { VALIDATE, ENABLE, CANCEL } = DowngradeRequest_DowngradeAction;
    const request =
      step.do === "cancel"
        ? { action: CANCEL }
        : { action: step.do === "enable" ? ENABLE : VALIDATE, version: step.version };
    await this.#ask(Maintenance.method.downgrade, request, within(deadlines.change, call));
  }

  async alarms(call?: Call): Promise<readonly Alarm[]> {
    const answer = await this.#ask(
      Maintenance.method.alarm,
      { action: AlarmRequest_AlarmAction.GET },
      within(deadlines.change, call),
    );
    return alarms(answer.alarms);
  }

  /** Disarms one alarm: etcd answers a request for "all alarms of all members" with success and disarms nothing. */
  async disarm({ member, type }: Alarm, call?: Call): Promise<void> {
    await this.#ask(
      Maintenance.method.alarm,
      { action: AlarmRequest_AlarmAction.DEACTIVATE, memberID: wireId(member), alarm: wireAlarm(type) },
      within(deadlines.change, call),
    );
  }

  async defragment(call?: Call): Promise<void> {
    await this.#ask(Maintenance.method.defragment, {}, within(deadlines.defragment, call));
  }

  async compact(revision: number, call?: Call): Promise<void> {
    // Physical: etcd answers once the space is free, so that a defragmentation right after it can reclaim it.
    const request = { revision: BigInt(revision), physical: true };
    await this.#ask(KV.method.compact, request, within(deadlines.compact, call));
  }

  async hashKv(revision: number, call?: Call): Promise<KvHash> {
    const request = { revision: BigInt(revision) };
    const answer = await this.#ask(Maintenance.method.hashKV, request, within(deadlines.hash, call));
    const hashed = Number(answer.hashRevision); // since 3.6; before, the one that was asked for or the newest
    const newest = Number(headerOf("HashKV", answer.header).revision);
    return {
      hash: answer.hash,
      revision: hashed === 0 ? revision || newest : hashed,
      compactRevision: Number(answer.compactRevision),
    };
  }

  async snapshot(onChunk: (chunk: Uint8Array) => void | Promise<void>, call: SnapshotCall = {}): Promise<Snapshot> {
    const check = new SnapshotCheck();
    let version: string | undefined;
    const blocks = new Blocks((block) => {
      check.add(block);
      return onChunk(block);
    });
    const messages = new SnapshotMessages({
      onPiece: (piece) => blocks.add(piece),
      onMessage(says) {
        check.announce(says);
        if (says.version !== "") version = says.version;
      },
    });
    const options = { ...call, answerWithin: call.answerWithin ?? deadlines.snapshotStart };
    await this.#loggedIn(call, (carrier) => serverStream(carrier, Maintenance.method.snapshot, {}, messages, options));
    await blocks.flush();
    return { ...check.finish(), version };
  }

  async get(key: string, options?: ReadOptions, call?: Call): Promise<KeyValue | undefined> {
    const request = { key: bytes(key), ...readRequest(options) };
    const answer = await this.#ask(KV.method.range, request, withValues(call));
    return answer.kvs.map(keyValue)[0];
  }

  async list(prefix: string, options?: ReadOptions, call?: Call): Promise<KeyRange> {
    const request = { key: prefix === "" ? bytes("\0") : bytes(prefix), rangeEnd: prefixEnd(prefix) };
    const answer = await this.#ask(KV.method.range, { ...request, ...readRequest(options) }, withValues(call));
    const revision = Number(headerOf("Range", answer.header).revision);
    return { revision, keys: answer.kvs.map(keyValue), more: answer.more };
  }

  async put(key: string, value: string | Uint8Array, call?: Call): Promise<Written> {
    const request = { key: bytes(key), value: bytes(value) };
    const answer = await this.#ask(KV.method.put, request, within(deadlines.change, call));
    return { revision: Number(headerOf("Put", answer.header).revision) };
  }

  async delete(key: string, call?: Call): Promise<Deleted> {
    const request = { key: bytes(key) };
    const answer = await this.#ask(KV.method.deleteRange, request, within(deadlines.change, call));
    return { revision: Number(headerOf("DeleteRange", answer.header).revision), deleted: answer.deleted > 0n };
  }

  async txn({ when, andThen, otherwise = [] }: Txn, call?: Call): Promise<TxnResult> {
    const compare = when.map(({ key, modRevision }) => ({
      result: Compare_CompareResult.EQUAL,
      target: Compare_CompareTarget.MOD,
      key: bytes(key),
      targetUnion: { case: "modRevision" as const, value: BigInt(modRevision) },
    }));
    const answer = await this.#ask(
      KV.method.txn,
      { compare, success: andThen.map(requestOp), failure: otherwise.map(requestOp) },
      within(deadlines.change, call),
    );
    return { revision: Number(headerOf("Txn", answer.header).revision), succeeded: answer.succeeded };
  }

  /** The error with which the read was refused, if it was. */
  async #readThroughQuorum(call: Call | undefined): Promise<EtcdError | undefined> {
    try {
      const request = { key: bytes("health"), keysOnly: true };
      await this.#ask(KV.method.range, request, within(deadlines.read, call));
    } catch (error) {
      // etcd checks who asks after the quorum read: these errors show that there is a quorum.
      if (isAccessRefusal(error)) return error;
      throw error;
    }
    return undefined;
  }

  #ask<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    options: CallOptions,
  ): Promise<MessageShape<O>> {
    return this.#loggedIn(options, (carrier) => unary(carrier, method, request, options));
  }

  /** Sends it again, once, if it was refused for lack of a login and has done nothing. A login has a time of its own. */
  async #loggedIn<T>(
    { beforeSend }: { readonly beforeSend?: BeforeSend | undefined },
    send: (carrier: Carrier) => Promise<T>,
  ): Promise<T> {
    const { token, answered = 0 } = this.#session ?? {};
    try {
      const answer = await send(withToken(this.#carrier, token));
      this.#session?.noteAnswer(token);
      return answer;
    } catch (error) {
      if (isSilence(error)) this.#session?.noteSilence(token, answered);
      if (this.#session === undefined || !asksForLogin(error, token)) throw error;
      beforeSend?.();
      const renewed = await this.#session.renewed(token, this.endpoint, this.#carrier);
      return await send(withToken(this.#carrier, renewed));
    }
  }
}

function within(deadline: number, call: Call | undefined): CallOptions {
  return { ...call, deadline: call?.deadline ?? deadline };
}

function withValues(call: Call | undefined): CallOptions {
  return { ...within(deadlines.change, call), atMost: valueBytes };
}

function readRequest(options: ReadOptions = {}): { serializable: boolean; limit: bigint; revision: bigint } {
  const { serializable = false, limit = 0, revision = 0 } = options;
  return { serializable, limit: BigInt(limit), revision: BigInt(revision) };
}
