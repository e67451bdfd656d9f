// Converts between etcd's protobuf messages and the types of the port.
import {
  type AlarmMember,
  AlarmType as WireAlarmType,
  type Member as WireMember,
  type RequestOp,
  RequestOpSchema,
  type ResponseHeader,
  type StatusResponse,
} from "./gen/etcdserverpb/rpc_pb.ts";
import type { KeyValue as WireKeyValue } from "./gen/mvccpb/kv_pb.ts";
import { create } from "@bufbuild/protobuf";
import { TransportError } from "../transport/errors.ts";
import * as most from "./bounds.ts";
import { clusterId, memberId } from "./ids.ts";
import type { Alarm, AlarmType, KeyValue, Member, MemberStatus, Write } from "./member.ts";

export function bytes(text: string | Uint8Array): Uint8Array {
  return typeof text === "string" ? Buffer.from(text) : text;
}

/** Every etcd sends a header; an answer without one is not etcd's. */
export function headerOf(method: string, header: ResponseHeader | undefined): ResponseHeader {
  if (header) return header;
  throw new TransportError("broken", `the answer to ${method} has no header`);
}

export function memberList(method: string, wire: readonly WireMember[]): Member[] {
  most.checkCount(method, "members", wire.length, most.members);
  return wire.map((one) => member(method, one));
}

export function member(method: string, { ID, name, peerURLs, clientURLs, isLearner }: WireMember): Member {
  most.checkLength(method, "the name of a member", name, most.nameLength);
  for (const urls of [peerURLs, clientURLs]) {
    most.checkCount(method, "URLs of a member", urls.length, most.urls);
    for (const url of urls) most.checkLength(method, "a URL", url, most.nameLength);
  }
  return { id: memberId(ID), name, peerUrls: peerURLs, clientUrls: clientURLs, learner: isLearner };
}

export function keyValue({ key, value, createRevision, modRevision, version }: WireKeyValue): KeyValue {
  return {
    key: Buffer.from(key).toString(),
    value,
    createRevision: Number(createRevision),
    modRevision: Number(modRevision),
    version: Number(version),
  };
}

export function memberStatus(status: StatusResponse): MemberStatus {
  const header = headerOf("Status", status.header);
  const target = status.downgradeInfo?.targetVersion ?? "";
  for (const version of [status.version, status.storageVersion, target])
    most.checkLength("Status", "a version", version, most.versionLength);
  most.checkCount("Status", "errors", status.errors.length, most.alarms);
  return {
    clusterId: clusterId(header.clusterId),
    memberId: memberId(header.memberId),
    version: status.version,
    learner: status.isLearner,
    leader: status.leader === 0n ? undefined : memberId(status.leader),
    revision: Number(header.revision),
    raftTerm: Number(status.raftTerm),
    raftIndex: Number(status.raftIndex),
    raftAppliedIndex: known(status.raftAppliedIndex),
    dbSize: Number(status.dbSize),
    dbSizeInUse: known(status.dbSizeInUse),
    dbSizeQuota: known(status.dbSizeQuota),
    storageVersion: status.storageVersion === "" ? undefined : status.storageVersion,
    downgrade: status.downgradeInfo?.enabled ? target : undefined,
    alarms: status.errors.flatMap(alarmInText),
  };
}

/** A server that does not have a field leaves it out, which decodes as 0. */
function known(value: bigint): number | undefined {
  return value === 0n ? undefined : Number(value);
}

const alarmNames: ReadonlyMap<string, AlarmType> = new Map([
  ["NOSPACE", "noSpace"],
  ["CORRUPT", "corrupt"],
]);

/** Status reports alarms only as the text of an alarm message, as in `memberID:10501334649042878790 alarm:NOSPACE`. */
function alarmInText(text: string): Alarm[] {
  const match = /^memberID:\s*(\d{1,20})\s+alarm:\s*([A-Z]+)\s*$/.exec(text);
  const type = alarmNames.get(match?.[2] ?? "");
  return match?.[1] === undefined || type === undefined ? [] : [{ member: memberId(BigInt(match[1])), type }];
}

export function alarms(wire: readonly AlarmMember[]): Alarm[] {
  most.checkCount("Alarm", "alarms", wire.length, most.alarms);
  return wire.flatMap(({ memberID, alarm }) => {
    const type = alarm === WireAlarmType.NOSPACE ? "noSpace" : alarm === WireAlarmType.CORRUPT ? "corrupt" : undefined;
    return type === undefined ? [] : [{ member: memberId(memberID), type }];
  });
}

export function wireAlarm(type: AlarmType): WireAlarmType {
  return type === "noSpace" ? WireAlarmType.NOSPACE : WireAlarmType.CORRUPT;
}

export function requestOp(write: Write): RequestOp {
  return create(RequestOpSchema, {
    request:
      "put" in write
        ? { case: "requestPut", value: { key: bytes(write.put), value: bytes(write.value) } }
        : { case: "requestDeleteRange", value: { key: bytes(write.delete) } },
  });
}

/** The first key after all keys with the prefix: the end of a range is exclusive in etcd. */
export function prefixEnd(prefix: string): Uint8Array {
  const end = Buffer.from(prefix);
  for (let at = end.length - 1; at >= 0; at -= 1) {
    const byte = end.readUInt8(at);
    if (byte === 0xff) continue;
    end.writeUInt8(byte + 1, at);
    return end.subarray(0, at + 1);
  }
  return Buffer.from([0]); // all keys from the start of the range on
}
