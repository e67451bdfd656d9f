// Which alert is shown under which real fault. `make matrix` shows all of them, and checks that it did; those that `make test`
// shows, too, are marked.

interface RealFault {
  readonly fault: string;
  /** What ends it. */
  readonly mended: string;
  readonly inSample?: true;
}

const stopped = { fault: "one of three members is stopped, then two", mended: "they go on" } as const;
const slowDisk = { fault: "the disk of a member does one write a second", mended: "it is as fast as before" } as const;
const filling = { fault: "somebody writes until the quota is reached", mended: "compacted and defragmented" } as const;

/** By the name of the alert. */
export const realFaults: Readonly<Record<string, RealFault>> = {
  EtcdMemberDown: { ...stopped, inSample: true },
  EtcdQuorumAtRisk: { ...stopped, inSample: true },
  EtcdQuorumLost: { ...stopped, inSample: true },
  EtcdNoLeader: { ...stopped, inSample: true },
  EtcdLeaderChanges: { fault: "the leader is moved again and again", mended: "it stays" },
  EtcdRollStuck: { fault: "the new image cannot be pulled", mended: "the spec is set back" },
  EtcdClusterStalled: { fault: "the spec has a flag that etcd does not know", mended: "the spec is corrected" },
  EtcdDatabaseNearQuota: filling,
  EtcdDatabaseAlmostFull: filling,
  EtcdDatabaseFull: { ...filling, mended: "compacted, defragmented, and the alarm disarmed" },
  EtcdDatabaseFragmented: { fault: "the long history of a large database is compacted", mended: "defragmented" },
  EtcdDatabaseCorrupt: { fault: "the alarm is raised, without damage to the data", mended: "the alarm is disarmed" },
  EtcdSlowFsync: slowDisk,
  EtcdSlowCommit: slowDisk,
  EtcdBackupOld: { fault: "the claim for the backups does not exist", mended: "it is made" },
  EtcdBackupFailing: { fault: "the claim for the backups does not exist", mended: "it is made" },
  EtcdBackupUnverified: { fault: "backups are taken, and none is restored", mended: "spec.verify.restore" },
  EtcdBackupVerificationFailed: {
    fault: "the image of the throwaway member has no etcd",
    mended: "the image is corrected",
  },
  EtcdRestoreFailed: { fault: "a restore of a backup that does not exist", mended: "time passes" },
  EtcdCertificateExpiresInAMonth: { fault: "a Secret with 20 days to go", mended: "it is renewed" },
  EtcdCertificateExpiresInAWeek: { fault: "a Secret with 5 days to go", mended: "it is renewed" },
  EtcdCertificateExpiresInADay: { fault: "a Secret with 12 hours to go", mended: "it is renewed" },
  EtcdCertificateProblem: { fault: "a Secret without its key", mended: "it is made whole" },
  EtcdOperatorDown: { fault: "the Deployment has no replicas", mended: "it has one" },
  EtcdClusterUnattended: { fault: "the Deployment has no replicas", mended: "it has one" },
  EtcdOperatorNotLeading: { fault: "another process holds the Lease", mended: "it is released" },
  EtcdOperatorErrors: { fault: "the permission to write the status is taken away", mended: "it is given back" },
};

/** Alerts that no real fault can be made for here, with the reason. Series alone show them, in test/observability. */
export const onlyInSeries: Readonly<Record<string, string>> = {};
