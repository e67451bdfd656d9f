// What must be true at the moment of an act that takes away what cannot be had again. The caches may show the past, so each
// of these asks the API server itself; where the world is another than the decision was made from, nothing is done.
import { isDeepStrictEqual } from "node:util";
import { EtcdCluster } from "../../api/etcd-cluster/etcd-cluster.ts";
import { type CompleteEtcdRestore, withDefaults } from "../../api/etcd-restore/etcd-restore.ts";
import type { Pod } from "../../kube/objects/kinds.ts";
import { isControlledBy } from "../../kube/objects/owners.ts";
import { hasBegun, holds } from "../assess/claims.ts";
import { isKnownToHaveServed } from "../assess/health.ts";
import { isHealthy, isVoter } from "../assess/instances.ts";
import { isClaimOf } from "../objects/claims.ts";
import { firstMembersOf } from "../objects/first-members.ts";
import { isImageCheck } from "../objects/image-check.ts";
import { selectorOf } from "../objects/labels.ts";
import type { MemberName } from "../objects/names.ts";
import { type AuthorityUse, secretName } from "../objects/tls.ts";
import { isUnderWayFor } from "../observe/asking-restore.ts";
import { observedClaim } from "../observe/claims.ts";
import { observedPod } from "../observe/pods.ts";
import type { Claim, MemberPod } from "../observe/world.ts";
import type { PodSeen } from "../plan/actions.ts";
import type { ClusterExecution } from "./execution.ts";
import { delays } from "../../controllers/delays.ts";
import { NotYet, Refused } from "../../controllers/obstacle.ts";

export type Precondition =
  /** The EtcdCluster is this very one and stays, with the same spec, the same requests, and its restore as far as it was. */
  | { readonly holds: "clusterAsSeen" }
  /** No operator has ever called it running, or given it an id. */
  | { readonly holds: "neverServed" }
  /** The member's pod is the one that was read, or gone since. One that nobody knew of is another world. */
  | { readonly holds: "podAsSeen"; readonly member: MemberName; readonly pod: PodSeen }
  /** Whoever else was seen to serve, and is counted on, is there to stay. */
  | { readonly holds: "othersStay"; readonly member: MemberName }
  /** The member has a pod, and nobody deletes it. */
  | { readonly holds: "podStays"; readonly member: MemberName }
  /** This very pod is there. */
  | { readonly holds: "podThere"; readonly member: MemberName; readonly uid: string }
  /** No client was ever sent to this very pod. */
  | { readonly holds: "podNeverReady"; readonly member: MemberName; readonly uid: string }
  /** No client was ever sent to this very pod, or it has ended. */
  | { readonly holds: "podServesNobody"; readonly member: MemberName; readonly uid: string }
  /** It is the same claim, of the same cluster, in the same role, with the same data or none. */
  | { readonly holds: "claimAsSeen"; readonly member: MemberName; readonly uid: string }
  /** Every volume of the cluster's name that holds data was read. */
  | { readonly holds: "noUnseenVolume" }
  /** No pod of a member is there, and no claim that is a member's. */
  | { readonly holds: "noMemberLeft" }
  /** No pod of a member is there but those of the first members of a restored cluster, as the status has them. */
  | { readonly holds: "onlyFirstMembers" }
  /** No pod and no volume of the cluster is there that was not seen, and no client was ever sent to one of the pods. */
  | { readonly holds: "noUnseenMember" }
  /** The EtcdRestore is there, is not over, and means this very EtcdCluster. */
  | { readonly holds: "restoreUnderWay"; readonly name: string; readonly uid: string }
  /** The Secret of the CA is the one that was read. */
  | { readonly holds: "authorityAsSeen"; readonly use: AuthorityUse };

type Check<P extends Precondition> = (execution: ClusterExecution, precondition: P) => Promise<void>;

type Checks = { readonly [H in Precondition["holds"]]: Check<Extract<Precondition, { holds: H }>> };

/** Throws NotYet where one of them does not hold. */
export async function confirm(preconditions: readonly Precondition[], execution: ClusterExecution): Promise<void> {
  await Promise.all(preconditions.map((one) => checkOf(one)(execution, one)));
}

/** The one place where a precondition finds its check: the compiler cannot see that they belong together. */
function checkOf<P extends Precondition>({ holds }: P): Check<P> {
  return checks[holds] as unknown as Check<P>;
}

const checks: Checks = {
  async clusterAsSeen(execution) {
    const { assessment, live, written } = execution;
    const now = await live.cluster();
    const seen = written ?? assessment.world.cluster;
    if (now === undefined || now.metadata?.deletionTimestamp !== undefined || !isSameRequest(now, seen))
      throw other("EtcdCluster", execution);
  },
  async neverServed(execution) {
    const now = await execution.live.cluster();
    if (now?.metadata?.uid !== execution.cluster.metadata.uid || isKnownToHaveServed(now?.status ?? {}))
      throw other("EtcdCluster", execution);
  },
  async podAsSeen({ live }, { member, pod }) {
    const now = await live.pod(member);
    const seenUid = pod.t === "uid" ? pod.uid : undefined;
    if (now !== undefined && now.metadata?.uid !== seenUid) throw otherOne("pod", member);
  },
  async othersStay({ assessment: { instances }, live }, { member }) {
    const others = instances.filter((instance) => isHealthy(instance) && isVoter(instance) && instance.name !== member);
    await Promise.all(
      others.map(async ({ name, pod }) => {
        const now = pod === undefined ? undefined : await live.pod(name);
        const stays = now?.metadata?.uid === pod?.uid && now?.metadata?.deletionTimestamp === undefined;
        if (!stays && !pod?.terminating) throw otherOne("pod", name);
      }),
    );
  },
  async podStays({ live }, { member }) {
    const now = await live.pod(member);
    if (now === undefined || now.metadata?.deletionTimestamp !== undefined) throw otherOne("pod", member);
  },
  async podThere(execution, { member, uid }) {
    await podNow(execution, member, uid);
  },
  async podNeverReady(execution, { member, uid }) {
    const { ready, readyOnce } = observedPod(await podNow(execution, member, uid), undefined);
    if (ready || readyOnce === true) throw new NotYet(`the pod ${member} has served`, delays.cacheIsBehind);
  },
  async podServesNobody(execution, { member, uid }) {
    if (servesClients(observedPod(await podNow(execution, member, uid), undefined)))
      throw new NotYet(`the pod ${member} has served`, delays.cacheIsBehind);
  },
  async claimAsSeen({ assessment: { world }, live }, { member, uid }) {
    const now = await live.claim(member);
    const seen = [...world.claims, ...world.leftClaims].find((claim) => claim.uid === uid);
    if (now === undefined || seen === undefined || !isDeepStrictEqual(factsOf(observedClaim(now)), factsOf(seen)))
      throw otherOne("claim", member);
  },
  async noUnseenVolume({ assessment: { world }, cluster, live }) {
    const seen = new Set([...world.claims, ...world.leftClaims, ...world.foreignClaims].map(({ uid }) => uid));
    const claims = (await live.claims(selectorOf(cluster))).map((claim) => observedClaim(claim));
    const isOfUse = (claim: Claim): boolean => hasBegun(claim) && claim.role === "current" && !claim.terminating;
    const unseen = claims.find((claim) => isOfUse(claim) && !seen.has(claim.uid));
    if (unseen !== undefined) throw otherOne("claim", unseen.name);
  },
  async noMemberLeft({ cluster, live }) {
    const [pods, claims] = await Promise.all([live.pods(selectorOf(cluster)), live.claims(selectorOf(cluster))]);
    const left = pods.some((pod) => isControlledBy(pod, cluster) && !isImageCheck(pod));
    const kept = claims.filter((claim) => isClaimOf(claim, cluster)).map((claim) => observedClaim(claim));
    if (left || kept.some(({ role }) => role === "current"))
      throw new NotYet("members of the old cluster are still there", delays.cacheIsBehind);
  },
  async onlyFirstMembers({ assessment: { world }, cluster, live }) {
    const first = new Set<string>(firstMembersOf(world.cluster).map(({ name }) => name));
    const pods = await live.pods(selectorOf(cluster));
    const other = pods.find(
      (pod) => isControlledBy(pod, cluster) && !isImageCheck(pod) && !first.has(pod.metadata?.name ?? ""),
    );
    if (other !== undefined) throw new NotYet(`the pod ${other.metadata?.name} is still there`, delays.cacheIsBehind);
  },
  async noUnseenMember({ assessment: { world }, cluster, live }) {
    const [pods, claims] = await Promise.all([live.pods(selectorOf(cluster)), live.claims(selectorOf(cluster))]);
    const seen = new Set([...world.pods, ...world.claims.filter(holds)].map(({ uid }) => uid));
    const isUnseen = ({ uid }: { readonly uid: string }): boolean => !seen.has(uid);
    const running = pods
      .filter((pod) => isControlledBy(pod, cluster) && !isImageCheck(pod))
      .map((pod) => observedPod(pod, undefined));
    const volumes = claims.filter((claim) => isClaimOf(claim, cluster)).map((claim) => observedClaim(claim));
    const current = volumes.filter((claim) => claim.role === "current" && holds(claim));
    const found = running.find((pod) => isUnseen(pod) || servesClients(pod)) ?? current.find(isUnseen);
    if (found !== undefined) throw new NotYet(`${found.name} may hold what clients wrote`, delays.cacheIsBehind);
  },
  async restoreUnderWay(execution, { name, uid }) {
    const now = await restoreNow(execution, name, uid);
    if (!isUnderWayFor(now, execution.assessment.world.cluster)) throw otherOne("EtcdRestore", name);
  },
  async authorityAsSeen({ cluster, context, live }, { use }) {
    const name = secretName(cluster, use);
    const { namespace } = cluster.metadata;
    const seen = context.caches(namespace).secrets?.get({ namespace, name });
    const now = await live.secret(name);
    if (now?.metadata?.resourceVersion !== seen?.metadata?.resourceVersion) throw otherOne("Secret", name);
  },
};

/** What a decision takes from the EtcdCluster: which one it is, what it asks for, and how far its restore is. */
function isSameRequest(now: EtcdCluster, seen: EtcdCluster): boolean {
  const requestOf = ({ metadata, status }: EtcdCluster): object => ({
    uid: metadata?.uid,
    generation: metadata?.generation,
    annotations: Object.entries(metadata?.annotations ?? {})
      .filter(([name]) => name.startsWith(`${EtcdCluster.group}/`))
      .toSorted(([a], [b]) => a.localeCompare(b)),
    restore: status?.restore,
  });
  return isDeepStrictEqual(requestOf(now), requestOf(seen));
}

const factsOf = ({ uid, role, terminating, clusterUid, clusterId, phase }: Claim): object => ({
  uid,
  role,
  terminating,
  clusterUid,
  clusterId,
  phase,
});

/** Clients are sent to it, or were before; one that has ended has nothing of what they wrote. */
const servesClients = ({ ready, readyOnce, state }: MemberPod): boolean =>
  state.t !== "ended" && (ready || readyOnce === true);

export async function podNow({ live }: ClusterExecution, member: MemberName, uid: string): Promise<Pod> {
  const now = await live.pod(member);
  if (now?.metadata?.uid !== uid) throw otherOne("pod", member);
  return now;
}

export async function restoreNow({ live }: ClusterExecution, name: string, uid: string): Promise<CompleteEtcdRestore> {
  const now = await live.restore(name);
  if (now?.metadata?.uid !== uid)
    throw new Refused(
      `the EtcdRestore ${name} that replaces the data is gone: apply another one under the name of this cluster.`,
    );
  return withDefaults(now);
}

const other = (kind: string, { cluster }: ClusterExecution): NotYet => otherOne(kind, cluster.metadata.name);

const otherOne = (what: string, name: string): NotYet =>
  new NotYet(`the ${what} ${name} has changed since it was read`, delays.cacheIsBehind);
