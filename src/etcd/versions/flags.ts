// Which flags and feature gates each minor version of etcd has, and which of them are one setting under several names.
// An unknown flag ends etcd, so they are checked before a pod is created. From the programs themselves (3.2.13, 3.3.27,
// 3.4.23, 3.5.35, 3.6.16, 3.7.3); versions.test.ts and settings.test.ts in test/etcd check.
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

const minors: readonly number[] = changes.map(({ minor }) => minor);
const newest = Math.max(...minors);

function collect(minor: number): ReadonlySet<string> {
  const known = new Set<string>();
  for (const change of changes.filter((change) => change.minor <= minor)) {
    for (const flag of change.added) known.add(flag);
    for (const flag of change.removed) known.delete(flag);
  }
  return known;
}

const byMinor: ReadonlyMap<number, ReadonlySet<string>> = new Map(minors.map((minor) => [minor, collect(minor)]));

const flagsOfMinor = (minor: number): ReadonlySet<string> => byMinor.get(minor) ?? new Set();

/** A minor newer than all known ones counts as the newest of them; those before 3.2 are not supported. */
function minorOf(v: EtcdVersion): number {
  const minor = Math.min(v.minor, newest);
  if (v.major !== 3 || !byMinor.has(minor)) throw new RangeError(`the flags of etcd ${formatVersion(v)} are not known`);
  return minor;
}

export function flagsOf(v: EtcdVersion): ReadonlySet<string> {
  return flagsOfMinor(minorOf(v));
}

export function hasFlag(v: EtcdVersion, flag: string): boolean {
  return flagsOf(v).has(flag);
}

/** Whether every supported version has the flag under this name, so that a pod with it can run any of them. */
export function isInEveryVersion(flag: string): boolean {
  return [...byMinor.values()].every((known) => known.has(flag));
}

/** One of the names that a setting has: a flag, or since 3.6 an entry of the flag `feature-gates`. */
export type Spelling =
  | { readonly t: "flag"; readonly name: string }
  | { readonly t: "featureGate"; readonly gate: string };

interface Gate {
  readonly name: string;
  readonly minors: readonly number[];
  /** The same setting as a flag, before 3.6 and, deprecated, in 3.6. */
  readonly flag?: string;
}

// server/features/etcd_features.go of 3.6.16 and 3.7.3. A gate that is missing here is taken for one of a newer patch.
const gates: readonly Gate[] = [
  { name: "InitialCorruptCheck", minors: [6, 7], flag: "experimental-initial-corrupt-check" },
  { name: "CompactHashCheck", minors: [6, 7], flag: "experimental-compact-hash-check-enabled" },
  { name: "StopGRPCServiceOnDefrag", minors: [6, 7], flag: "experimental-stop-grpc-service-on-defrag" },
  { name: "LeaseCheckpoint", minors: [6, 7], flag: "experimental-enable-lease-checkpoint" },
  { name: "LeaseCheckpointPersist", minors: [6, 7], flag: "experimental-enable-lease-checkpoint-persist" },
  { name: "TxnModeWriteWithSharedBuffer", minors: [6, 7], flag: "experimental-txn-mode-write-with-shared-buffer" },
  { name: "SetMemberLocalAddr", minors: [6, 7] },
  { name: "FastLeaseKeepAlive", minors: [7] },
  { name: "PriorityRequest", minors: [7] },
];

/**
 * Every name that some version has for a setting, given any of them; the newest name first. A flag has two names when
 * it lost its `experimental-`; no other flag may be written with that prefix.
 */
export function spellingsOf(setting: Spelling): readonly Spelling[] {
  const gate = gates.find(({ name, flag }) =>
    setting.t === "featureGate" ? name === setting.gate : flag === experimental(setting.name),
  );
  const flag = setting.t === "flag" ? setting.name : gate?.flag;
  const renamed = flag !== undefined && isInSomeVersion(experimental(flag));
  const names = flag === undefined ? [] : renamed ? [stable(flag), experimental(flag)] : [flag];
  return [
    ...(gate ? [{ t: "featureGate", gate: gate.name } as const] : setting.t === "featureGate" ? [setting] : []),
    ...names.filter(isInSomeVersion).map((name) => ({ t: "flag", name }) as const),
  ];
}

/** Whether a server of this version takes the setting, under whatever name. */
export function hasSetting(v: EtcdVersion, setting: Spelling): boolean {
  return spellingsOf(setting).some((spelling) => takes(minorOf(v), spelling));
}

/** Whether a server of this version takes the setting under this very name. */
export function takesAs(v: EtcdVersion, spelling: Spelling): boolean {
  return takes(minorOf(v), spelling);
}

/**
 * The names under which a pod of this version sets something through variables. Its image may be changed to the next
 * or the previous minor version, its variables not: etcd must start there, and keep the setting if that is possible.
 * A server only warns about a variable that it does not know, but ends when it is given two names of one setting that
 * it knows both (3.6: "cannot set … at the same time", "cannot specify both flags"). So: the name that this version
 * prefers, and every name that no version knows together with it. Empty when this version lacks the setting.
 *
 * - `corrupt-check-time` has `experimental-` up to 3.5, none in 3.7, and either in 3.6. A pod of 3.5 gets the old name,
 *   which 3.6 takes; a pod of 3.6 gets the new one, which 3.7 takes, and loses the setting when it goes back to 3.5.
 * - `backend-bbolt-freelist-type` has `experimental-` in 3.4 and none from 3.5 on: each of these pods gets both names.
 * - A gate that the previous minor lacks (PriorityRequest) ends the server there: "unrecognized feature gate".
 */
export function spellingsToSet(v: EtcdVersion, setting: Spelling): readonly Spelling[] {
  const all = spellingsOf(setting);
  const own = all.find((spelling) => takes(minorOf(v), spelling));
  if (own === undefined) return [];
  return [own, ...all.filter((spelling) => !minors.some((minor) => takes(minor, own) && takes(minor, spelling)))];
}

function takes(minor: number, spelling: Spelling): boolean {
  if (spelling.t === "flag") return flagsOfMinor(minor).has(spelling.name);
  const gate = gates.find(({ name }) => name === spelling.gate);
  return flagsOfMinor(minor).has("feature-gates") && (gate === undefined || gate.minors.includes(minor));
}

const isInSomeVersion = (flag: string): boolean => minors.some((minor) => flagsOfMinor(minor).has(flag));
const stable = (flag: string): string => flag.replace(/^experimental-/, "");
const experimental = (flag: string): string => `experimental-${stable(flag)}`;
