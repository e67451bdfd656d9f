// Why the operator would not put a new member in the place of one that is gone, as far as can be seen: what takes a member
// away must know it before.
import { conditionTypes, conditionOf } from "../../api/conditions.ts";
import { withDefaults } from "../../api/etcd-cluster/etcd-cluster.ts";
import { type Observed, valueOr } from "../observe/observe.ts";
import { activeRestoreOf } from "./activity.ts";
import { noOperatorSentence } from "./cluster-view.ts";

type Reason = keyof typeof conditionTypes.EtcdCluster.Ready.reasons.False;

/**
 * Whether the operator, while a cluster is not ready for this reason, puts a new member in the place of one that is taken away.
 * Where it does not, a person, or time, has to fix something first.
 */
const replacesWhile: Readonly<Record<Reason, boolean>> = {
  Joining: true,
  MemberCannotStart: true,
  MembersLeaving: true,
  MembersUnhealthy: true,
  Scaling: true,
  ServiceNotReady: true,
  UpdateOnDelete: true,
  Updating: true,
  VersionDiffers: true,
  VolumesDoomed: true,
  AuthRequired: false,
  CertificatesInvalid: false,
  Corrupt: false,
  Creating: false,
  DataLost: false,
  Electing: false,
  ForeignCluster: false,
  InvalidSpec: false,
  LeadersDisagree: false,
  LoginRefused: false,
  MembersApart: false,
  MembersUnreachable: false,
  NoSpace: false,
  QuorumLost: false,
  Refused: false,
  Restoring: false,
  UpdateStopped: false,
  VolumesForeign: false,
  VolumesLeft: false,
};
const standingStill: ReadonlySet<string> = new Set(
  Object.entries(replacesWhile).flatMap(([reason, does]) => (does ? [] : [reason])),
);

/** A sentence with what to do; undefined: nothing speaks against it. */
export function whyNobodyReplaces(observed: Observed): string | undefined {
  const { metadata, spec, status } = withDefaults(observed.cluster);
  const { name } = metadata;
  if (metadata.deletionTimestamp !== undefined) return `${name} is being deleted.`;
  if (spec.paused)
    return `${name} is paused, so nothing would create a new member: run \`kubectl etcd resume ${name}\` first.`;
  const noOperator = noOperatorSentence(valueOr(observed.operator, { t: "unknown" }));
  if (noOperator !== undefined) return `Nothing would create a new member. ${noOperator}`;
  const restore = activeRestoreOf(observed);
  if (restore !== undefined) return `The EtcdRestore ${restore} replaces the data of ${name}: wait until it is over.`;
  const ready = conditionOf(status.conditions, "Ready");
  if (ready === undefined) return `No operator has reconciled ${name} yet, so nothing would create a new member.`;
  if (metadata.generation !== undefined && (status.observedGeneration ?? 0) < metadata.generation)
    return `The operator has not acted on the last edit of ${name} yet: wait for it, or check that it runs with \`kubectl etcd doctor ${name}\`.`;
  if (ready.status !== "True" && standingStill.has(ready.reason))
    return `${name} is not ready (${ready.reason}), so a new member might not join: ${ready.message} \`kubectl etcd doctor ${name}\` says what to do.`;
  return undefined;
}
