// Every reason of an Event that the operator records on an object of ours. People filter by reason, so a reason never
// changes once it is released; "New Member Added", "Member Removed", "Replacing Dead Member" and "Member Upgraded" are
// those of etcd-operator 0.9. docs/reference/events.md is made from these rows.
import type { NewEvent } from "../kube/objects/event-object.ts";
import type { Kind, KubeObject } from "../kube/objects/objects.ts";

export interface EventReason {
  readonly reason: string;
  readonly type: "Normal" | "Warning";
  /** The kinds that it is recorded on. Absent: EtcdCluster. */
  readonly on?: readonly ("EtcdCluster" | "EtcdBackup" | "EtcdRestore")[];
  /** When the operator records it, in a sentence. */
  readonly when: string;
  /** What a person should do, in a sentence. Absent where nothing has to be done. */
  readonly whatToDo?: string;
}

export const eventReasons = {
  clusterCreated: {
    reason: "Cluster Created",
    type: "Normal",
    when: "The first member serves, and the operator has recorded the cluster ID.",
  },
  restoreBegins: {
    reason: "Restore Begins",
    type: "Normal",
    when: "An EtcdRestore replaces the data of the cluster: the operator stops its members and keeps their volumes.",
  },
  newMemberAdded: {
    reason: "New Member Added",
    type: "Normal",
    when: "The operator added a member: the first one, or one that joins.",
  },
  memberPromoted: {
    reason: "Member Promoted",
    type: "Normal",
    when: "A learner has caught up and is a voter now.",
  },
  memberRemoved: {
    reason: "Member Removed",
    type: "Normal",
    when: "The operator removed a member from the cluster; the note says why.",
  },
  replacingDeadMember: {
    reason: "Replacing Dead Member",
    type: "Normal",
    when: "A member is gone for good, and a new member replaces it.",
  },
  addressChanged: {
    reason: "Address Changed",
    type: "Normal",
    when: "A member's peer address differed from the one in etcd's member list, and the operator corrected the list.",
  },
  leaderMoved: {
    reason: "Leader Moved",
    type: "Normal",
    when: "The leadership moved to another member, because the leader is about to be removed or restarted.",
  },
  alarmDisarmed: {
    reason: "Alarm Disarmed",
    type: "Normal",
    when: "The database was full. Every member is below 90 % of its quota again, so the operator disarmed the alarm NOSPACE, and etcd takes writes again.",
  },
  podRecreated: {
    reason: "Pod Recreated",
    type: "Normal",
    when: "The pod of a member was gone, and the operator created a new pod on the member's volume: it is still the same member.",
  },
  volumeGrows: {
    reason: "Volume Grows",
    type: "Normal",
    when: "`spec.pod.persistentVolumeClaimSpec` requests a larger volume than a member has, and the operator raised the request of its claim.",
  },
  volumeKept: {
    reason: "Volume Kept",
    type: "Normal",
    when: "A member was removed, and its volume is kept, as `spec.volumeRetention.whenMemberRemoved` says.",
    whatToDo: "Delete the claim, which has the label `etcd_claim=retired`, when the data is no longer needed.",
  },
  volumeDeleted: {
    reason: "Volume Deleted",
    type: "Normal",
    when: "The operator deleted a claim: its member was removed and `spec.volumeRetention` says Delete, or the claim never held data and the spec asks for another kind of volume.",
  },
  volumeAdopted: {
    reason: "Volume Adopted",
    type: "Normal",
    when: "An EtcdCluster was created with the name of a deleted one, and continues with its volumes.",
  },
  volumesDoomed: {
    reason: "Volumes Doomed",
    type: "Warning",
    when: "The claim of a serving member is being deleted, or its volume is lost: the data exists only as long as the pod. A member on a new volume joins before the old one is removed.",
    whatToDo: "Leave the pods alone until they are replaced, and find out who deleted the claims.",
  },
  volumesForeign: {
    reason: "Volumes Foreign",
    type: "Warning",
    when: "The volumes are copies of the volumes of an EtcdCluster in another namespace, such as a backup tool creates. The operator starts no member on them.",
    whatToDo: "Restore a backup with an EtcdRestore instead, or delete the claims; see docs/volumes.md.",
  },
  volumesLeft: {
    reason: "Volumes Left",
    type: "Warning",
    when: "Volumes of an earlier EtcdCluster with this name exist, and it is not clear whose data they hold. The operator does not start the cluster.",
    whatToDo: "Delete the claims, or those that do not belong to the same cluster.",
  },
  diskPressure: {
    reason: "Disk Pressure",
    type: "Warning",
    when: "The database is close to its quota, or the volume has no room for it.",
    whatToDo:
      "Compact and defragment, raise `spec.etcd.quotaBackendBytes`, or request larger volumes; see docs/volumes.md.",
  },
  memberUpgraded: {
    reason: "Member Upgraded",
    type: "Normal",
    when: "A member now serves with a different etcd version.",
  },
  downgradeEnabled: {
    reason: "Downgrade Enabled",
    type: "Normal",
    when: "The operator told etcd to prepare for an older minor version: before a downgrade, or to make every member write a snapshot before an upgrade to 3.7.",
  },
  downgradeCancelled: {
    reason: "Downgrade Cancelled",
    type: "Normal",
    when: "The operator cancelled the downgrade in etcd: the cluster stays at the version that its members run.",
  },
  podDeleted: {
    reason: "Pod Deleted",
    type: "Normal",
    when: "The operator deleted a pod; the note says why.",
  },
  podResized: {
    reason: "Pod Resized",
    type: "Normal",
    when: "The operator changed the CPU or memory of a running pod in place, after a change of `spec.pod.resources`.",
  },
  labelsRestored: {
    reason: "Labels Restored",
    type: "Normal",
    when: "A pod had lost the labels by which the operator finds it, and the operator restored them.",
  },
  authorityMade: {
    reason: "CA Made",
    type: "Normal",
    when: "The operator created a CA for the cluster (`spec.TLS.auto`): the first one, or a replacement.",
  },
  certificatesRenewed: {
    reason: "Certificates Renewed",
    type: "Normal",
    when: "The operator signed new certificates, after two thirds of the lifetime of the old ones.",
  },
  previousCaForgotten: {
    reason: "Previous CA Forgotten",
    type: "Normal",
    when: "A new CA is in use, and the operator deleted the key of the previous one.",
  },
  memberStartedAgain: {
    reason: "Member Started Again",
    type: "Warning",
    when: "A member trusts a different CA than the one that signed the certificates in use, for example after Secrets were lost. The operator restarts etcd in the member's pod, which keeps its data, so that etcd reads the current CA.",
    whatToDo: "Nothing: the members are restarted one after another. See [security.md](security.md) for the cause.",
  },
  certificateWritten: {
    reason: "Certificate Written",
    type: "Normal",
    when: "The operator wrote new content into a Secret that members, the operator or applications use; the note says why.",
  },
  certificateProblem: {
    reason: "Certificate Problem",
    type: "Warning",
    when: "A Secret named in `spec.TLS` is missing, incomplete, wrong or expired. The operator does not use it; running members continue with their current certificates.",
    whatToDo: "Correct the Secret as the note says. See [security.md](security.md).",
  },
  certificateExpires: {
    reason: "Certificate Expires",
    type: "Warning",
    when: "A certificate in use expires in less than 30, 7 or 1 days, or has expired.",
    whatToDo: "Renew the certificate in the Secret that the note names. See [security.md](security.md).",
  },
  quorumLost: {
    reason: "Quorum Lost",
    type: "Warning",
    when: "Fewer than a majority of the voters answer, so etcd takes no writes; enough pods are left to recover.",
    whatToDo:
      "Find out what prevents the pods from running. Do not delete them: that deletes their data. See [When quorum is lost](#when-quorum-is-lost).",
  },
  dataLost: {
    reason: "Data Lost",
    type: "Warning",
    when: "Fewer than a majority of the voters still have their data: the cluster cannot recover by itself.",
    whatToDo:
      "Save the data that is left, then restore a backup; the note names the newest one. See [When quorum is lost](#when-quorum-is-lost).",
  },
  memberLostItsData: {
    reason: "Member Lost Its Data",
    type: "Warning",
    when: "A member restarted without its data, or its term went backwards. The operator replaces it through the quorum.",
    whatToDo: "Find out what removed the data: the disk, the node or a person.",
  },
  leadersDisagree: {
    reason: "Leaders Disagree",
    type: "Warning",
    when: "Members report different leaders. The operator deletes nothing until they agree.",
    whatToDo: "Check the network between the members and read their logs: `kubectl logs POD`.",
  },
  foreignCluster: {
    reason: "Foreign Cluster",
    type: "Warning",
    when: "All pods that answer belong to a different etcd cluster than `status.clusterId`. The operator does not touch them.",
    whatToDo:
      "If they hold the right data, set `status.clusterId` to their ID, as the note says. Otherwise, find out where they came from.",
  },
  corrupt: {
    reason: "Corrupt",
    type: "Warning",
    when: "etcd has detected that members hold different data, and takes no more writes.",
    whatToDo: "Restore a backup.",
  },
  noSpace: {
    reason: "No Space",
    type: "Warning",
    when: "The database has reached its quota, and etcd takes no more writes.",
    whatToDo: "Delete keys, compact, defragment, and disarm the alarm.",
  },
  invalidSpec: {
    reason: "Invalid Spec",
    type: "Warning",
    on: ["EtcdCluster", "EtcdBackup"],
    when: "The spec asks for something that cannot work.",
    whatToDo: "Change the field that the note names.",
  },
  refused: {
    reason: "Refused",
    type: "Warning",
    on: ["EtcdCluster", "EtcdBackup"],
    when: "Kubernetes or etcd refused a step, such as a pod beyond a quota.",
    whatToDo: "Do what the note says; it quotes the refusal.",
  },
  versionRefused: {
    reason: "Version Refused",
    type: "Warning",
    when: "The cluster cannot change from its current version to `spec.version`.",
    whatToDo: "Set the version that the note names. See [upgrades.md](upgrades.md).",
  },
  versionUnsafe: {
    reason: "Version Unsafe",
    type: "Warning",
    when: "The cluster was created with a version of etcd that has a known bug, or was edited while it runs one. It serves all the same.",
    whatToDo: "Set the version that the note names. See [upgrades.md](upgrades.md#which-versions).",
  },
  updateStopped: {
    reason: "Update Stopped",
    type: "Warning",
    when: "A new image cannot be used, or a member does not come up after a change. The operator leaves the other members as they are.",
    whatToDo: "Correct the spec, or revert it. See [upgrades.md](upgrades.md).",
  },
  memberCannotStart: {
    reason: "Member Cannot Start",
    type: "Warning",
    when: "The pod of a member does not come up.",
    whatToDo: "Do what the note says. See [troubleshooting.md](troubleshooting.md).",
  },
  membersUnreachable: {
    reason: "Members Unreachable",
    type: "Warning",
    when: "The kubelet reports etcd as healthy, but the operator cannot connect to it.",
    whatToDo: "Make sure that no NetworkPolicy blocks the operator from port 2379 of the members.",
  },
  authRequired: {
    reason: "Auth Required",
    type: "Warning",
    when: "etcd authentication is enabled, and the operator has no login, so it no longer manages the members.",
    whatToDo: "Set `spec.auth.operatorSecret` to the name of a Secret with a login. See [auth.md](auth.md).",
  },
  loginRefused: {
    reason: "Login Refused",
    type: "Warning",
    when: "etcd authentication is enabled, and etcd rejects the operator's login or certificate.",
    whatToDo: "Correct what the note names. See [auth.md](auth.md).",
  },
  evenSize: {
    reason: "Even Size",
    type: "Warning",
    when: "`spec.size` is even: the cluster tolerates no more failures than with one member fewer.",
    whatToDo: "Choose an odd size.",
  },
  restoreBegun: {
    reason: "Restore Begun",
    type: "Normal",
    on: ["EtcdRestore"],
    when: "An EtcdRestore has verified its backup, and starts to replace the data of the cluster, or to create a cluster from the backup.",
  },
  dataSaved: {
    reason: "Data Saved",
    type: "Normal",
    on: ["EtcdRestore"],
    when: "The data of a cluster without volumes was saved beside the backup, before an EtcdRestore replaces it.",
  },
  dataNotSaved: {
    reason: "Data Not Saved",
    type: "Warning",
    on: ["EtcdRestore"],
    when: "An EtcdRestore replaces the data of a cluster without volumes, and no member could provide the data to save it first.",
    whatToDo: "Nothing, if the cluster was beyond repair; the note says what was tried.",
  },
  restoreSucceeded: {
    reason: "Restore Succeeded",
    type: "Normal",
    on: ["EtcdRestore"],
    when: "The cluster is ready with the data of the backup.",
  },
  restoreFailed: {
    reason: "Restore Failed",
    type: "Warning",
    on: ["EtcdRestore"],
    when: "An EtcdRestore failed; the note says what was changed.",
    whatToDo: "Do what the note says, delete the EtcdRestore and apply it again under the same name.",
  },
  taken: {
    reason: "Taken",
    type: "Normal",
    on: ["EtcdCluster", "EtcdBackup", "EtcdRestore"],
    when: "No operator of the object's namespace manages it, so the operator for all namespaces does from now on.",
  },
  notTaken: {
    reason: "Not Taken",
    type: "Warning",
    on: ["EtcdCluster", "EtcdBackup", "EtcdRestore"],
    when: "The object is meant for an operator of its own namespace, and no operator acts on it.",
    whatToDo:
      "Start the operator of the namespace, or add the annotation `etcd.database.coreos.com/scope: clusterwide`. See [Which clusters it manages](../install.md#which-clusters-it-manages).",
  },
  backupSucceeded: {
    reason: "Backup Succeeded",
    type: "Normal",
    on: ["EtcdBackup"],
    when: "A backup is complete: it was read back and compared with what was sent.",
  },
  backupVerified: {
    reason: "Backup Verified",
    type: "Normal",
    on: ["EtcdBackup"],
    when: "A backup was restored into a throwaway member, and its revision and hash were correct.",
  },
  backupsDeleted: {
    reason: "Backups Deleted",
    type: "Normal",
    on: ["EtcdBackup"],
    when: "An EtcdBackup with `spec.deletionPolicy: Delete` was deleted together with its backups.",
  },
  backupRetried: {
    reason: "Backup Retried",
    type: "Warning",
    on: ["EtcdBackup"],
    when: "An attempt failed, and the operator retries.",
    whatToDo: "Nothing, unless it happens repeatedly: then do what the note says.",
  },
  backupFailed: {
    reason: "Backup Failed",
    type: "Warning",
    on: ["EtcdBackup"],
    when: "A run failed after all its attempts.",
    whatToDo: "Do what the note says. The worker pod is kept: see its log with `kubectl logs`.",
  },
  verificationFailed: {
    reason: "Verification Failed",
    type: "Warning",
    on: ["EtcdBackup"],
    when: "A backup is complete, but could not be verified by a restore. It stays in the store.",
    whatToDo: "Do what the note says, and take another backup. Do not rely on this one.",
  },
  pruningStopped: {
    reason: "Pruning Stopped",
    type: "Warning",
    on: ["EtcdBackup"],
    when: "A backup is complete, but older ones of its series belong to another etcd cluster or have a higher revision, or the member that provided the backup could not read through a quorum. The operator deletes no backup.",
    whatToDo:
      "If data was lost, restore an older backup by its path. If the change is intended, set `spec.backupPolicy.releaseBefore` to the time in the note. If there was no quorum, fix the cluster.",
  },
  backupWaits: {
    reason: "Backup Waits",
    type: "Warning",
    on: ["EtcdBackup"],
    when: "A backup is due, and the EtcdCluster does not exist or has never served, or the operator does not know its own image.",
    whatToDo: "Correct `spec.clusterRef`, or fix the EtcdCluster; the backup then starts by itself.",
  },
  workerCannotStart: {
    reason: "Worker Cannot Start",
    type: "Warning",
    on: ["EtcdBackup"],
    when: "The worker pod does not come up.",
    whatToDo: "Do what the note says: most often a Secret is missing, or its name is wrong.",
  },
  backupsLeftBehind: {
    reason: "Backups Left Behind",
    type: "Warning",
    on: ["EtcdBackup"],
    when: "An EtcdBackup with `spec.deletionPolicy: Delete` was deleted without its backups: its namespace is being deleted, or they could not be deleted within an hour.",
    whatToDo: "Delete the objects that the note names from the store if they are no longer needed.",
  },
  backupsNotDeleted: {
    reason: "Backups Not Deleted",
    type: "Warning",
    on: ["EtcdBackup"],
    when: "An EtcdBackup with `spec.deletionPolicy: Delete` is being deleted, but its backups cannot be deleted.",
    whatToDo:
      "Do what the note says, or set `spec.deletionPolicy: Retain` to delete the EtcdBackup without its backups. After an hour, it is deleted anyway, and the backups stay in the store.",
  },
} as const satisfies Record<string, EventReason>;

export type EventName = keyof typeof eventReasons;

/** With a reason of this table: another does not compile. */
export type KnownEvent = NewEvent & { readonly reason: (typeof eventReasons)[EventName]["reason"] };

/** Where controllers record what happens to an object of ours. */
export interface Events {
  readonly record: <T extends KubeObject>(kind: Kind<T>, object: T, what: KnownEvent) => void;
}
