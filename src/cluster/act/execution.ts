// One plan being carried out: the assessment that it rests on, what the actions have changed since, and the writes that they share.
import { type CompleteEtcdCluster, EtcdCluster, type EtcdClusterStatus } from "../../api/etcd-cluster/etcd-cluster.ts";
import type { MemberId } from "../../etcd/ids.ts";
import type { Call, EtcdMember, Member } from "../../etcd/member.ts";
import type { ReconcileContext } from "../../kube/controller/run-reconcile.ts";
import type { Assessment } from "../assess/assess.ts";
import { quotaToMake } from "../assess/space.ts";
import type { ClusterContext } from "../context.ts";
import { fieldManager } from "../../api/field-manager.ts";
import { Pod } from "../../kube/objects/kinds.ts";
import { keyOf } from "../../kube/objects/objects.ts";
import { endpointOf } from "../objects/endpoints.ts";
import { type MemberName, memberOfPeerUrl } from "../objects/names.ts";
import type { PodTls } from "../objects/tls.ts";
import { reachableAt } from "../observe/tls.ts";
import { Live } from "./live.ts";
import { delays } from "../../controllers/delays.ts";
import { NotYet } from "../../controllers/obstacle.ts";
import { patchStatus } from "../../controllers/report-status.ts";

export interface ClusterExecution {
  readonly assessment: Assessment;
  readonly reconcile: ReconcileContext;
  readonly context: ClusterContext;
  /** As it is followed: what pods, Services and the budget are made from. */
  readonly cluster: CompleteEtcdCluster;
  /** As etcd listed them last. */
  members: readonly Member[];
  /** The object as it was written last, if it was. */
  written: EtcdCluster | undefined;
  /** What the API server says in the decision that is carried out. */
  live: Live;
}

export function executionOf(
  assessment: Assessment,
  reconcile: ReconcileContext,
  context: ClusterContext,
): ClusterExecution {
  const { world, desired } = assessment;
  const members = "members" in world.etcd ? world.etcd.members : [];
  const { cluster } = desired;
  return {
    assessment,
    reconcile,
    context,
    cluster,
    members,
    written: undefined,
    live: new Live(reconcile.api, keyOf(cluster)),
  };
}

/** Another decision: what was read for the last one counts for nothing in it. */
export function forgetReads(execution: ClusterExecution): void {
  execution.live = new Live(execution.reconcile.api, keyOf(execution.cluster));
}

/** What a pod that is made now speaks: what it would mount must be there. */
export function tlsToMake({ assessment: { certificates, desired } }: ClusterExecution): PodTls {
  if (desired.tls === undefined)
    throw new NotYet(certificates.blocked ?? "there are no certificates yet", delays.cacheIsBehind);
  return desired.tls;
}

/** For a member whose database may have to hold what the others have, or nothing yet. */
export const quotaOfNew = ({ assessment: { world }, cluster }: ClusterExecution): number | undefined =>
  quotaToMake(cluster, world);

/** Undefined: etcd does not list it, as far as it could be asked. */
export function listedUrlOf({ cluster, members }: ClusterExecution, name: MemberName): string | undefined {
  return members.flatMap(({ peerUrls }) => peerUrls).find((url) => memberOfPeerUrl(cluster, url) === name);
}

type Texts = Readonly<Record<string, string | null>>;

/** Of this very pod: with another uid the server refuses. */
export async function patchPod(
  { cluster, reconcile }: ClusterExecution,
  { name, uid }: { readonly name: string; readonly uid: string },
  change: { readonly labels?: Texts; readonly annotations?: Texts },
): Promise<void> {
  const key = { namespace: cluster.metadata.namespace, name };
  await reconcile.api.mergePatch(Pod, key, { metadata: { uid, ...change } }, { fieldManager });
}

/** Nothing else would stop a former leader from changing members: it is asked when the request goes out. */
export function fenced({ reconcile }: ClusterExecution): Call {
  return { signal: reconcile.signal, beforeSend: () => reconcile.fence.check() };
}

/** The leader if it can be, since some versions are wrong about promotion elsewhere; never the one that shall go. */
export function voterToAsk(execution: ClusterExecution, without?: MemberId): EtcdMember {
  const [first] = votersToAsk(execution, without);
  return first;
}

/** At least one, the leader first. */
export function votersToAsk(execution: ClusterExecution, without?: MemberId): readonly [EtcdMember, ...EtcdMember[]] {
  const { leader, voters, world } = execution.assessment;
  if (world.etcd.t !== "quorum")
    throw new NotYet("the members cannot be changed without a quorum", delays.untilAccepted);
  const candidates = voters.filter(({ alive, member }) => alive && member.id !== without);
  const leading = candidates.filter(({ member }) => member.id === leader);
  const others = candidates.filter(({ member }) => member.id !== leader);
  const [first, ...rest] = [...leading, ...others].flatMap(({ member }) => portTo(execution, member) ?? []);
  if (first === undefined) throw new NotYet("no healthy voter can be asked", delays.untilAccepted);
  return [first, ...rest];
}

export function portTo({ assessment, context }: ClusterExecution, { id }: Member): EtcdMember | undefined {
  const pod = assessment.instances.find(({ member }) => member.id === id)?.pod;
  if (pod?.address === undefined) return undefined;
  const { cluster, tls } = assessment.world;
  const reachable = reachableAt(pod.address, pod, cluster, tls.identity);
  return context.members.at(endpointOf({ ...reachable, login: context.logins.known(cluster) }));
}

/** `null`: the field goes. What is not named stays. */
type Patch = {
  readonly [name in keyof EtcdClusterStatus]: EtcdClusterStatus[name] | (name extends "restore" ? RestorePatch : null);
};

type Restore = NonNullable<EtcdClusterStatus["restore"]>;
type RestorePatch = { readonly [name in keyof Restore]?: Restore[name] | null };

export async function writeStatus(execution: ClusterExecution, status: Patch): Promise<void> {
  const { cluster, reconcile, written } = execution;
  execution.written = await patchStatus(EtcdCluster, written ?? cluster, status, reconcile);
}
