// What an etcd of a given version can do, as data: from which patch of each minor on. The notes name the place in
// etcd's own sources, or the release note, that a fact comes from; those that can be tried are tried on real
// servers in test/etcd.
import { type EtcdVersion, isAtLeast, sameMinor, version } from "./version.ts";

/** The oldest etcd that the operator runs. */
export const oldestSupported: EtcdVersion = version("3.2.0");

/** The first version that has something, and older minors that got it later in a patch. */
interface Since {
  readonly first: EtcdVersion;
  readonly backports: readonly EtcdVersion[];
}

const since = (first: string, ...backports: string[]): Since => ({
  first: version(first),
  backports: backports.map(version),
});

const sinces = {
  // rpc.proto: MemberAddRequest.isLearner 3.4. An older server ignores the field and adds a voter.
  learners: since("3.4.0"),
  // embed/config.go, "max-learners": in 3.6.0, not in 3.5.35. Without it one learner at a time is the limit.
  maxLearners: since("3.6.0"),
  // embed/config.go, ServerFeatureGateFlagName.
  featureGates: since("3.6.0"),
  // etcdmain/config.go, "listen-metrics-urls": in 3.3, not in 3.2.32. It serves /metrics and /health without TLS.
  metricsListener: since("3.3.0"),
  // etcdmain/config.go of 3.3: before it, retention is a bare number of hours.
  autoCompactionMode: since("3.3.0"),
  // etcdserver/api/etcdhttp/health.go: not in 3.5.10, in 3.5.11; release notes of 3.4.29.
  livezReadyz: since("3.6.0", "3.4.29", "3.5.11"),
  // The check "non_learner" of /readyz (etcd-io/etcd#19086, #19280): before it a learner can look ready.
  readyzKnowsLearners: since("3.6.0", "3.5.19"),
  // `/health?serializable=true&exclude=NOSPACE`: tried on 3.4.23; etcdhttp/metrics.go of 3.5.10.
  healthSerializable: since("3.5.10", "3.4.23"),
  // rpc.proto: MemberListRequest.linearizable 3.5. An older server ignores it.
  linearizableMemberList: since("3.5.0"),
  // rpc.proto: HashKVRequest and MoveLeaderRequest 3.3.
  hashKv: since("3.3.0"),
  moveLeader: since("3.3.0"),
  // rpc.proto: StatusResponse.dbSizeQuota, storageVersion 3.6.
  statusQuota: since("3.6.0"),
  // etcdserver/server.go, mayAddMember: a connection to a quorum of the voters is enough; before, to all of them.
  addWithMinorityDown: since("3.6.11", "3.5.30"),
  // Release notes of 3.6.12 and 3.5.31: before, MemberUpdate of a learner made it a voter in silence. Safe is only the
  // answer: what a restarted 3.6.16 makes of it is told in cluster/rules/together.ts.
  safeLearnerUpdate: since("3.6.12", "3.5.31"),
  // Release notes of 3.4.23 and 3.5.7: the image holds etcd, etcdctl and etcdutl, and no shell.
  distrolessImage: since("3.5.7", "3.4.23"),
  // Downgrade RPC that also migrates the storage: server/storage/schema of 3.6.
  downgrade: since("3.6.0"),
} as const satisfies Record<string, Since>;

export type EtcdFeature = keyof typeof sinces;

export function has(v: EtcdVersion, feature: EtcdFeature): boolean {
  const { first, backports } = sinces[feature];
  return isAtLeast(v, first) || backports.some((patch) => sameMinor(v, patch) && isAtLeast(v, patch));
}

/**
 * How many learners a server of this version admits when it was started with this `max-learners`; undefined: without.
 * Each server judges by its own setting, so ask for the one that serves the call.
 */
export function learnersAdmitted(v: EtcdVersion, maxLearners: number | undefined): number {
  if (!has(v, "learners")) return 0;
  return has(v, "maxLearners") ? (maxLearners ?? 1) : 1;
}

/** Where a kubelet probes a member. */
export type Probe =
  /** On the metrics listener: plain HTTP, no client certificate. It answers from the start of the process. */
  | { readonly on: "metrics"; readonly path: string }
  /** On the client port, which answers once the member serves clients. A kubelet has no client certificate. */
  | { readonly on: "client"; readonly path: string }
  /** Only whether the client port is open. */
  | { readonly on: "clientPort" };

export interface Probes {
  /** Does not depend on quorum: restarting a member that lost its peers helps nobody. */
  readonly liveness: Probe;
  /**
   * Needs quorum. Asked on the client port: a member that joined by a snapshot answers /readyz on the metrics listener
   * up to 7 s before it answers clients (embed/etcd.go serves metrics first, embed/serve.go waits for ReadyNotify).
   */
  readonly readiness: Probe;
}

export function probesOf(v: EtcdVersion): Probes {
  if (has(v, "livezReadyz"))
    return { liveness: { on: "metrics", path: "/livez" }, readiness: { on: "client", path: "/readyz" } };
  if (has(v, "healthSerializable"))
    return {
      liveness: { on: "metrics", path: "/health?serializable=true&exclude=NOSPACE" },
      readiness: { on: "client", path: "/health?exclude=NOSPACE" },
    };
  // Their /health reads through the quorum and fails on any alarm, so it cannot serve for liveness.
  return { liveness: { on: "clientPort" }, readiness: { on: "client", path: "/health" } };
}

/** When `--quota-backend-bytes` is absent or 0: storage/quota.go, DefaultQuotaBytes; the same in every minor. */
export const defaultQuotaBytes: number = 2 * 1024 ** 3;

/** Where the official images hold their programs; they have a CMD and no ENTRYPOINT (etcd's Dockerfile). */
export const imagePrograms = {
  etcd: "/usr/local/bin/etcd",
  etcdctl: "/usr/local/bin/etcdctl",
  etcdutl: "/usr/local/bin/etcdutl",
} as const;

/** How long a member's links must have been up before it takes a new member: etcdserver/server.go, HealthInterval. */
export const healthInterval: number = 5000;
