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
    when: "The first member serves, and the operator has recorded the cluster's id.",
  },
  restoreBegins: {
    reason: "Restore Begins",
    type: "Normal",
    when: "An EtcdRestore replaces the data of the cluster: its members are stopped, and their volumes are kept.",
  },
  newMemberAdded: {
    reason: "New Member Added",
    type: "Normal",
    when: "A member was added: the first one, or one that joins.",
  },
  memberPromoted: {
    reason: "Member Promoted",
    type: "Normal",
    when: "A learner has caught up and votes from now on.",
  },
  memberRemoved: {
    reason: "Member Removed",
    type: "Normal",
    when: "A member was removed from the cluster; the note says why.",
  },
  replacingDeadMember: {
    reason: "Replacing Dead Member",
    type: "Normal",
    when: "A member is gone for good, and a new one takes its place.",
  },
  addressChanged: {
    reason: "Address Changed",
    type: "Normal",
    when: "A member has another peer address than etcd had listed, and the list was corrected.",
  },
  leaderMoved: {
    reason: "Leader Moved",
    type: "Normal",
    when: "Another member leads now, because the leader is about to be removed or restarted.",
  },
  alarmDisarmed: {
    reason: "Alarm Disarmed",
    type: "Normal",
    when: "The database had been full. Every member has room again, below nine tenths of its quota, so the operator disarmed etcd's alarm (NOSPACE), and writes go on.",
  },
  podRecreated: {
    reason: "Pod Recreated",
    type: "Normal",
    when: "The pod of a member was gone and its volume was there: it came back as the same member.",
  },
  volumeGrows: {
    reason: "Volume Grows",
    type: "Normal",
    when: "spec.pod.persistentVolumeClaimSpec asks for more than a volume has, and its claim was raised.",
  },
  volumeKept: {
    reason: "Volume Kept",
    type: "Normal",
    when: "A member was removed, and its volume stays, as spec.volumeRetention.whenMemberRemoved says.",
    whatToDo: "Delete the claim, which has the label `etcd_claim=retired`, when nobody needs the data any more.",
  },
  volumeDeleted: {
    reason: "Volume Deleted",
    type: "Normal",
    when: "A claim was deleted: its member was removed and spec.volumeRetention says Delete, or it never held any data and another kind of volume is asked for.",
  },
  volumeAdopted: {
    reason: "Volume Adopted",
    type: "Normal",
    when: "An EtcdCluster was made under the name of one that was deleted, and goes on with its volumes.",
  },
  volumesDoomed: {
    reason: "Volumes Doomed",
    type: "Warning",
    when: "The claim of a member that serves is being deleted, or its volume is lost: the data is there as long as the pod. A member on a new volume joins before the old one goes.",
    whatToDo: "Leave the pods alone until they are replaced; find out who deleted the claims.",
  },
  volumesForeign: {
    reason: "Volumes Foreign",
    type: "Warning",
    when: "The volumes are copies of those of an EtcdCluster in another namespace, as a backup tool makes them. Nothing is started on them.",
    whatToDo: "Restore a backup with an EtcdRestore instead, or delete the claims; see docs/volumes.md.",
  },
  volumesLeft: {
    reason: "Volumes Left",
    type: "Warning",
    when: "Volumes of an earlier EtcdCluster of this name are there, and it is not clear whose data they hold. Nothing is begun.",
    whatToDo: "Delete the claims, or those that do not belong together.",
  },
  diskPressure: {
    reason: "Disk Pressure",
    type: "Warning",
    when: "The database is close to its quota, or the volume has no room for it.",
    whatToDo:
      "Compact and defragment, raise spec.etcd.quotaBackendBytes, or ask for larger volumes; see docs/volumes.md.",
  },
  memberUpgraded: {
    reason: "Member Upgraded",
    type: "Normal",
    when: "A member serves in another version than before.",
  },
  downgradeEnabled: {
    reason: "Downgrade Enabled",
    type: "Normal",
    when: "etcd was told to get ready for an older minor version: before a downgrade, or to have every member write a snapshot before an upgrade to 3.7.",
  },
  downgradeCancelled: {
    reason: "Downgrade Cancelled",
    type: "Normal",
    when: "etcd goes back to the version that its members run.",
  },
  podDeleted: {
    reason: "Pod Deleted",
    type: "Normal",
    when: "The operator deleted a pod; the note says why.",
  },
  podResized: {
    reason: "Pod Resized",
    type: "Normal",
    when: "The CPU or memory of a running pod was changed in place, after an edit of `spec.pod.resources`.",
  },
  labelsRestored: {
    reason: "Labels Restored",
    type: "Normal",
    when: "A pod had lost the labels that the operator finds it by, and has them again.",
  },
  authorityMade: {
    reason: "CA Made",
    type: "Normal",
    when: "The operator made a CA for the cluster (`spec.TLS.auto`): the first, or one that takes the place of another.",
  },
  certificatesRenewed: {
    reason: "Certificates Renewed",
    type: "Normal",
    when: "The operator signed new certificates, at two thirds of the life of the old ones.",
  },
  previousCaForgotten: {
    reason: "Previous CA Forgotten",
    type: "Normal",
    when: "Another CA has taken over, and the key of the one before was deleted.",
  },
  memberStartedAgain: {
    reason: "Member Started Again",
    type: "Warning",
    when: "A member trusts another CA than that of the certificates in use, as after lost Secrets. Its etcd is started again in its pod, which keeps its data, and reads the CA that is there.",
    whatToDo: "Nothing: the members follow one after another. See [security.md](security.md) for how it came to that.",
  },
  certificateWritten: {
    reason: "Certificate Written",
    type: "Normal",
    when: "A Secret that members, the operator or applications use has new content; the note says why.",
  },
  certificateProblem: {
    reason: "Certificate Problem",
    type: "Warning",
    when: "A Secret that `spec.TLS` names is missing, incomplete, wrong or expired. It is not used; what serves goes on with what it has.",
    whatToDo: "Correct the Secret as the note says. See [security.md](security.md).",
  },
  certificateExpires: {
    reason: "Certificate Expires",
    type: "Warning",
    when: "A certificate in use expires in less than 30, 7 or 1 days, or has expired.",
    whatToDo: "Renew it in the Secret that the note names. See [security.md](security.md).",
  },
  quorumLost: {
    reason: "Quorum Lost",
    type: "Warning",
    when: "Fewer than a majority of the voters answer, so etcd takes no writes; enough pods are left to recover.",
    whatToDo:
      "Find out what keeps the pods from running. Do not delete them: that deletes their data. See [When quorum is lost](#when-quorum-is-lost).",
  },
  dataLost: {
    reason: "Data Lost",
    type: "Warning",
    when: "Fewer than a majority of the voters still have their data: the cluster cannot recover by itself.",
    whatToDo:
      "Save what is left, then restore a backup; the note names the newest. See [When quorum is lost](#when-quorum-is-lost).",
  },
  memberLostItsData: {
    reason: "Member Lost Its Data",
    type: "Warning",
    when: "A member started again without its data, or its term went backwards; it is replaced through the quorum.",
    whatToDo: "Find out what removed the data: the disk, the node or a person.",
  },
  leadersDisagree: {
    reason: "Leaders Disagree",
    type: "Warning",
    when: "Members name different leaders; the operator deletes nothing until they agree.",
    whatToDo: "Check the network between the members and read their logs: `kubectl logs POD`.",
  },
  foreignCluster: {
    reason: "Foreign Cluster",
    type: "Warning",
    when: "All pods that answer are of another etcd cluster than `status.clusterId`. Nothing is done to them.",
    whatToDo:
      "If they hold the right data, put their id into `status.clusterId`, as the note says; else find out where they came from.",
  },
  corrupt: {
    reason: "Corrupt",
    type: "Warning",
    when: "etcd has found that members hold different data, and takes no more writes.",
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
    when: "Kubernetes or etcd refuses a step, such as a pod beyond a quota.",
    whatToDo: "Do what the note says; it quotes the refusal.",
  },
  versionRefused: {
    reason: "Version Refused",
    type: "Warning",
    when: "The cluster cannot go to `spec.version` from the version that it runs.",
    whatToDo: "Set the version that the note names. See [upgrades.md](upgrades.md).",
  },
  updateStopped: {
    reason: "Update Stopped",
    type: "Warning",
    when: "A new image cannot be used, or a member does not come up after a change; the other members are left as they are.",
    whatToDo: "Correct the spec, or set it back to what it was. See [upgrades.md](upgrades.md).",
  },
  memberCannotStart: {
    reason: "Member Cannot Start",
    type: "Warning",
    when: "The pod of a member does not come up.",
    whatToDo: "Do what the note says; see [troubleshooting.md](troubleshooting.md).",
  },
  membersUnreachable: {
    reason: "Members Unreachable",
    type: "Warning",
    when: "The kubelet finds etcd healthy, and the operator cannot connect to it.",
    whatToDo: "Make sure that no NetworkPolicy keeps the operator from port 2379 of the members.",
  },
  authRequired: {
    reason: "Auth Required",
    type: "Warning",
    when: "etcd's own authentication is on, and the operator has no login: it looks after the members no more.",
    whatToDo: "Name a Secret with a login in `spec.auth.operatorSecret`. See [auth.md](auth.md).",
  },
  loginRefused: {
    reason: "Login Refused",
    type: "Warning",
    when: "etcd's own authentication is on, and etcd does not take the operator's login or certificate.",
    whatToDo: "Correct what the note names. See [auth.md](auth.md).",
  },
  evenSize: {
    reason: "Even Size",
    type: "Warning",
    when: "`spec.size` is even: the cluster survives no more losses than with one member less.",
    whatToDo: "Choose an odd size.",
  },
  restoreBegun: {
    reason: "Restore Begun",
    type: "Normal",
    on: ["EtcdRestore"],
    when: "An EtcdRestore has proved its backup: from now on the data of the cluster is replaced, or a cluster is made from it.",
  },
  dataSaved: {
    reason: "Data Saved",
    type: "Normal",
    on: ["EtcdRestore"],
    when: "Before the data of a cluster without volumes is replaced by an EtcdRestore, it was saved beside the backup.",
  },
  dataNotSaved: {
    reason: "Data Not Saved",
    type: "Warning",
    on: ["EtcdRestore"],
    when: "The data of a cluster without volumes is replaced by an EtcdRestore, and no member could give it to be saved.",
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
    when: "An EtcdRestore has ended without success; the note says what was touched.",
    whatToDo: "Do what the note says, delete the EtcdRestore and apply it again under the same name.",
  },
  taken: {
    reason: "Taken",
    type: "Normal",
    on: ["EtcdCluster", "EtcdBackup", "EtcdRestore"],
    when: "No operator of its namespace looks after the object, so the one for all namespaces does from now on.",
  },
  notTaken: {
    reason: "Not Taken",
    type: "Warning",
    on: ["EtcdCluster", "EtcdBackup", "EtcdRestore"],
    when: "The object is for an operator of its own namespace, and nobody acts on it.",
    whatToDo:
      "Start the operator of the namespace, or give the object the annotation `etcd.database.coreos.com/scope: clusterwide`. See [Which clusters it manages](../install.md#which-clusters-it-manages).",
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
    when: "A backup was restored into a throwaway member, which had the right revision and hash.",
  },
  backupsDeleted: {
    reason: "Backups Deleted",
    type: "Normal",
    on: ["EtcdBackup"],
    when: "An EtcdBackup with `spec.deletionPolicy: Delete` was deleted, and its backups with it.",
  },
  backupRetried: {
    reason: "Backup Retried",
    type: "Warning",
    on: ["EtcdBackup"],
    when: "An attempt failed, and another one follows.",
    whatToDo: "Nothing, unless it happens again and again: then do what the note says.",
  },
  backupFailed: {
    reason: "Backup Failed",
    type: "Warning",
    on: ["EtcdBackup"],
    when: "A run has failed, with all its attempts.",
    whatToDo: "Do what the note says; `kubectl logs` of the worker, which is kept, tells more.",
  },
  verificationFailed: {
    reason: "Verification Failed",
    type: "Warning",
    on: ["EtcdBackup"],
    when: "A backup is complete and could not be proved by a restore. It stays in the store.",
    whatToDo: "Do what the note says, and have another backup taken. Do not rely on this one.",
  },
  pruningStopped: {
    reason: "Pruning Stopped",
    type: "Warning",
    on: ["EtcdBackup"],
    when: "A backup is complete, and older ones of its series are of another etcd cluster or have a higher revision, or the member that gave it could not read through a quorum. No backup is deleted.",
    whatToDo:
      "If data was lost, restore an older backup by its path. If the change is intended, set `spec.backupPolicy.releaseBefore` to the time in the note. Without a quorum, see to the cluster.",
  },
  backupWaits: {
    reason: "Backup Waits",
    type: "Warning",
    on: ["EtcdBackup"],
    when: "A backup is due, and the EtcdCluster does not exist or has never served, or the operator does not know its own image.",
    whatToDo: "Correct `spec.clusterRef`, or see to the EtcdCluster; the backup begins by itself.",
  },
  workerCannotStart: {
    reason: "Worker Cannot Start",
    type: "Warning",
    on: ["EtcdBackup"],
    when: "The pod that does the work does not come up.",
    whatToDo: "Do what the note says: most often a Secret is missing, or its name is wrong.",
  },
  backupsLeftBehind: {
    reason: "Backups Left Behind",
    type: "Warning",
    on: ["EtcdBackup"],
    when: "An EtcdBackup with `spec.deletionPolicy: Delete` was deleted without its backups: its namespace is being deleted, or they could not be deleted within an hour.",
    whatToDo: "Delete the objects that the note names from the store, if they are no longer needed.",
  },
  backupsNotDeleted: {
    reason: "Backups Not Deleted",
    type: "Warning",
    on: ["EtcdBackup"],
    when: "An EtcdBackup with `spec.deletionPolicy: Delete` is being deleted, and its backups cannot be.",
    whatToDo:
      "Do what the note says, or set `spec.deletionPolicy: Retain` to let it go without them. After an hour it goes by itself and leaves them in the store.",
  },
} as const satisfies Record<string, EventReason>;

export type EventName = keyof typeof eventReasons;

/** With a reason of this table: another does not compile. */
export type KnownEvent = NewEvent & { readonly reason: (typeof eventReasons)[EventName]["reason"] };

/** Where controllers record what happens to an object of ours. */
export interface Events {
  readonly record: <T extends KubeObject>(kind: Kind<T>, object: T, what: KnownEvent) => void;
}
