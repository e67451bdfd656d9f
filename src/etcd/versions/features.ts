// What each version of etcd can do, as data: since which patch of each minor. The notes name the source file or release
// note of each fact; test/etcd tries on real servers what can be tried.
import { type EtcdVersion, isAtLeast, sameMinor, version } from "./version.ts";

/** The oldest supported etcd. */
export const oldestSupported: EtcdVersion = version("3.2.0");

/** The first version with a feature, and the patches that brought it to older minors. */
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
  // embed/config.go, "max-learners": in 3.6.0, not in 3.5.35. Without it the limit is one learner.
  maxLearners: since("3.6.0"),
  // etcdmain/config.go, "listen-metrics-urls": in 3.3, not in 3.2.32. It serves /metrics and /health without TLS.
  metricsListener: since("3.3.0"),
  // etcdmain/config.go of 3.3: before it, retention is a bare number of hours.
  autoCompactionMode: since("3.3.0"),
  // etcdserver/api/etcdhttp/health.go: not in 3.5.10, in 3.5.11; release notes of 3.4.29. `?exclude=` leaves out a check,
  // and a name that a version does not know is only logged.
  livezReadyz: since("3.6.0", "3.4.29", "3.5.11"),
  // etcdhttp/metrics.go, checkHealth: `Do(… Method: "QGET")` up to 3.4, a Range from 3.5 on.
  healthWithoutLog: since("3.5.0"),
  // `/health?exclude=NOSPACE`: etcdhttp/metrics.go of 3.5.10.
  healthExclude: since("3.5.10"),
  // rpc.proto: MemberListRequest.linearizable 3.5. An older server ignores it.
  linearizableMemberList: since("3.5.0"),
  // rpc.proto: HashKVRequest and MoveLeaderRequest 3.3.
  hashKv: since("3.3.0"),
  moveLeader: since("3.3.0"),
  // rpc.proto: StatusResponse.dbSizeQuota, storageVersion 3.6.
  statusQuota: since("3.6.0"),
  // rpc.proto: Maintenance.Downgrade 3.5. Downgrades work from 3.6 on; see steps.ts.
  downgradeCall: since("3.5.0"),
  // etcdserver/server.go, mayAddMember: a connection to a quorum of the voters is enough; before, to all of them.
  addWithMinorityDown: since("3.6.11", "3.5.30"),
  // Release notes of 3.6.12 and 3.5.31: before, MemberUpdate silently made a learner a voter. Even 3.6.16 may take it
  // for a voter after a restart.
  safeLearnerUpdate: since("3.6.12", "3.5.31"),
  // Release notes of 3.6.9 and 3.5.28 (CVE-2026-33413): with authentication on, Status, MemberList, Alarm, MoveLeader and
  // Downgrade are for users only; before, for everybody.
  statusNeedsLogin: since("3.6.9", "3.5.28"),
  // auth/store.go, AuthInfoFromCtx: 3.5 checks first whether authentication is on; 3.4 refuses an unknown token in any case.
  tokensIgnoredWithoutAuth: since("3.5.0"),
  // Release notes of 3.4.23 and 3.5.7: official images hold the programs and no shell.
  distroless: since("3.6.0", "3.4.23", "3.5.7"),
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

export type Probe =
  /** On the metrics listener: plain HTTP, no client certificate. It answers from the start of the process. */
  | { readonly on: "metrics"; readonly path: string }
  /** On the client port, which answers once the member serves clients. A kubelet has no client certificate. */
  | { readonly on: "client"; readonly path: string }
  /** Only whether the client port is open. */
  | { readonly on: "clientPort" };

interface Probes {
  /**
   * Only whether the process answers. Restarting a member that lost its peers helps nobody, and one that defragments
   * answers no read until it is done, which takes minutes for a large database: a restart would throw that work away.
   */
  readonly liveness: Probe;
  /**
   * Needs quorum. Asked on the client port: a member that joined by a snapshot answers /readyz on the metrics listener
   * up to 7 s before it answers clients (embed/etcd.go serves metrics first, embed/serve.go waits for ReadyNotify).
   * Alarms are left out: every member reports the alarm of one, and all of them still serve reads.
   */
  readonly readiness: Probe;
}

/**
 * Before 3.5 /health is answered through a QGET entry in the raft log, one for each question, and 3.6 panics when it finds
 * one in its log ("detected disallowed v2 WAL", etcdserver/apply_v2.go of 3.6.16). /version is answered there as soon as
 * the member serves clients, whether it has a quorum or not.
 */
function readinessPath(v: EtcdVersion): string {
  if (!has(v, "healthWithoutLog")) return "/version";
  return has(v, "healthExclude") ? "/health?exclude=NOSPACE&exclude=CORRUPT" : "/health";
}

export function probesOf(v: EtcdVersion, clientCertificate: "needed" | "notNeeded" = "notNeeded"): Probes {
  const isNeeded = clientCertificate === "needed";
  if (has(v, "livezReadyz"))
    return {
      liveness: { on: "metrics", path: "/livez?exclude=serializable_read" },
      readiness: { on: isNeeded ? "metrics" : "client", path: "/readyz?exclude=data_corruption" },
    };
  return {
    // /health reads, whatever it is asked to leave out.
    liveness: { on: "clientPort" },
    readiness: isNeeded ? onMetrics(v) : { on: "client", path: readinessPath(v) },
  };
}

/** The listener knows no /version; see above why /health is not asked for before 3.5. */
function onMetrics(v: EtcdVersion): Probe {
  return has(v, "healthWithoutLog") ? { on: "metrics", path: readinessPath(v) } : { on: "clientPort" };
}

/** Paths in the official images, which have a CMD and no ENTRYPOINT (etcd's Dockerfile). */
export const imagePrograms = { etcd: "/usr/local/bin/etcd" } as const;
