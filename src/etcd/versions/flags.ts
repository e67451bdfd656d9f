// Which flags an etcd of each minor version takes. A flag that a server does not know stops it from starting, so
// they are checked before a pod is made. Asked of the programs themselves (3.2.13, 3.4.23, 3.5.35, 3.6.16, 3.7.3;
// 3.3 read from etcdmain/config.go of 3.3.27); test/etcd/versions.test.ts asks them again.
import { type EtcdVersion, formatVersion } from "./version.ts";

interface FlagChange {
  readonly minor: number;
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

const flags = (names: string): string[] => names.split(/\s+/).filter((name) => name !== "");

const changes: readonly FlagChange[] = [
  {
    minor: 2,
    added: flags(`
      advertise-client-urls auth-token auto-compaction-retention auto-tls ca-file cert-file
      client-cert-auth cors data-dir debug discovery discovery-fallback discovery-proxy discovery-srv
      election-timeout enable-pprof enable-v2 force-new-cluster grpc-keepalive-interval
      grpc-keepalive-min-time grpc-keepalive-timeout heartbeat-interval initial-advertise-peer-urls
      initial-cluster initial-cluster-state initial-cluster-token key-file listen-client-urls
      listen-peer-urls log-output log-package-levels max-request-bytes max-snapshots max-wals metrics name
      peer-auto-tls peer-ca-file peer-cert-file peer-client-cert-auth peer-key-file peer-trusted-ca-file
      proxy proxy-dial-timeout proxy-failure-wait proxy-read-timeout proxy-refresh-interval
      proxy-write-timeout quota-backend-bytes snapshot-count strict-reconfig-check trusted-ca-file wal-dir`),
    removed: flags(""),
  },
  {
    minor: 3,
    added: flags(`
      auth-token-ttl auto-compaction-mode cipher-suites client-crl-file experimental-corrupt-check-time
      experimental-enable-v2v3 experimental-initial-corrupt-check
      experimental-peer-skip-client-san-verification initial-election-tick-advance listen-metrics-urls
      max-txn-ops peer-cert-allowed-cn peer-crl-file`),
    removed: flags(""),
  },
  {
    minor: 4,
    added: flags(`
      backend-batch-interval backend-batch-limit bcrypt-cost client-cert-allowed-hostname
      discovery-srv-name enable-grpc-gateway experimental-backend-bbolt-freelist-type
      experimental-compaction-batch-limit experimental-enable-lease-checkpoint
      experimental-enable-lease-checkpoint-persist experimental-warning-apply-duration
      experimental-watch-progress-notify-interval host-whitelist log-level log-outputs logger
      max-concurrent-streams peer-cert-allowed-hostname pre-vote unsafe-no-fsync`),
    removed: flags(`
      ca-file peer-ca-file`),
  },
  {
    minor: 5,
    added: flags(`
      backend-bbolt-freelist-type client-cert-file client-key-file enable-log-rotation
      experimental-bootstrap-defrag-threshold-megabytes experimental-compact-hash-check-enabled
      experimental-compact-hash-check-time experimental-compaction-sleep-interval
      experimental-distributed-tracing-address experimental-distributed-tracing-instance-id
      experimental-distributed-tracing-sampling-rate experimental-distributed-tracing-service-name
      experimental-downgrade-check-time experimental-enable-distributed-tracing experimental-memory-mlock
      experimental-snapshot-catchup-entries experimental-stop-grpc-service-on-defrag
      experimental-txn-mode-write-with-shared-buffer listen-client-http-urls log-rotation-config-json
      peer-client-cert-file peer-client-key-file raft-read-timeout raft-write-timeout
      self-signed-cert-validity socket-reuse-address socket-reuse-port tls-max-version tls-min-version
      v2-deprecation`),
    removed: flags(`
      debug experimental-backend-bbolt-freelist-type log-output log-package-levels`),
  },
  {
    minor: 6,
    added: flags(`
      bootstrap-defrag-threshold-megabytes compact-hash-check-time compaction-batch-limit
      compaction-sleep-interval corrupt-check-time discovery-cacert discovery-cert discovery-dial-timeout
      discovery-endpoints discovery-insecure-skip-tls-verify discovery-insecure-transport
      discovery-keepalive-time discovery-keepalive-timeout discovery-key discovery-password
      discovery-request-timeout discovery-token discovery-user distributed-tracing-address
      distributed-tracing-instance-id distributed-tracing-sampling-rate distributed-tracing-service-name
      downgrade-check-time enable-distributed-tracing experimental-warning-unary-request-duration
      feature-gates log-format max-learners memory-mlock peer-skip-client-san-verification
      snapshot-catchup-entries warning-apply-duration warning-unary-request-duration
      watch-progress-notify-interval`),
    removed: flags(`
      enable-v2 experimental-enable-v2v3 proxy proxy-dial-timeout proxy-failure-wait proxy-read-timeout
      proxy-refresh-interval proxy-write-timeout`),
  },
  {
    minor: 7,
    added: flags(""),
    removed: flags(`
      discovery discovery-proxy experimental-bootstrap-defrag-threshold-megabytes
      experimental-compact-hash-check-enabled experimental-compact-hash-check-time
      experimental-compaction-batch-limit experimental-compaction-sleep-interval
      experimental-corrupt-check-time experimental-distributed-tracing-address
      experimental-distributed-tracing-instance-id experimental-distributed-tracing-sampling-rate
      experimental-distributed-tracing-service-name experimental-downgrade-check-time
      experimental-enable-distributed-tracing experimental-enable-lease-checkpoint
      experimental-enable-lease-checkpoint-persist experimental-initial-corrupt-check
      experimental-memory-mlock experimental-peer-skip-client-san-verification
      experimental-snapshot-catchup-entries experimental-stop-grpc-service-on-defrag
      experimental-txn-mode-write-with-shared-buffer experimental-warning-apply-duration
      experimental-warning-unary-request-duration experimental-watch-progress-notify-interval`),
  },
];

const newest = Math.max(...changes.map((change) => change.minor));

function collect(minor: number): ReadonlySet<string> {
  const known = new Set<string>();
  for (const change of changes.filter((change) => change.minor <= minor)) {
    for (const flag of change.added) known.add(flag);
    for (const flag of change.removed) known.delete(flag);
  }
  return known;
}

const byMinor: ReadonlyMap<number, ReadonlySet<string>> = new Map(
  changes.map(({ minor }) => [minor, collect(minor)] as const),
);

/**
 * The flags of this version, without dashes. A minor newer than all that are known here counts as the newest of them;
 * of an older minor than 3.2 nothing is known.
 */
export function flagsOf(v: EtcdVersion): ReadonlySet<string> {
  const known = v.major === 3 ? byMinor.get(Math.min(v.minor, newest)) : undefined;
  if (!known) throw new RangeError(`the flags of etcd ${formatVersion(v)} are not known`);
  return known;
}

export function hasFlag(v: EtcdVersion, flag: string): boolean {
  return flagsOf(v).has(flag);
}

// Flags that 3.6 turned into feature gates; 3.7 knows only the gate. embed/config.go of 3.6, "Use '--feature-gates=…".
const gates: ReadonlyMap<string, string> = new Map([
  ["experimental-initial-corrupt-check", "InitialCorruptCheck"],
  ["experimental-compact-hash-check-enabled", "CompactHashCheck"],
  ["experimental-stop-grpc-service-on-defrag", "StopGRPCServiceOnDefrag"],
  ["experimental-enable-lease-checkpoint", "LeaseCheckpoint"],
  ["experimental-enable-lease-checkpoint-persist", "LeaseCheckpointPersist"],
  ["experimental-txn-mode-write-with-shared-buffer", "TxnModeWriteWithSharedBuffer"],
]);

/** What to write on this version for a flag that others may call differently. */
export type FlagSpelling =
  | { readonly t: "flag"; readonly name: string }
  | { readonly t: "featureGate"; readonly gate: string }
  | { readonly t: "unknown" };

/** Takes either name of a flag that lost its `experimental-` and tells the one that this version has. */
export function spell(v: EtcdVersion, flag: string): FlagSpelling {
  const plain = flag.replace(/^experimental-/, "");
  const gate = gates.get(`experimental-${plain}`);
  if (gate !== undefined && hasFlag(v, "feature-gates")) return { t: "featureGate", gate };
  // The stable name first: 3.6 takes both and warns about the old one.
  const name = [plain, flag, `experimental-${plain}`].find((candidate) => hasFlag(v, candidate));
  return name === undefined ? { t: "unknown" } : { t: "flag", name };
}
