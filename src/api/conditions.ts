// Every condition that the operator writes into the status of an object of ours, with its reasons. Programs wait for types
// and branch on reasons, so neither changes once it is released; those with spaces are of etcd-operator 0.9. The page
// docs/reference/conditions.md is made from these rows.

export interface ConditionReason {
  /** What it means, in a sentence. */
  readonly when: string;
  /** What a person should do, in a sentence. Absent where nothing has to be done. */
  readonly whatToDo?: string;
}

export interface ConditionType {
  /** Completes "It is True when …". */
  readonly trueWhen: string;
  /** Where it is not always there. */
  readonly present?: string;
  /** Of the condition when it is True and when it is False; `as`: the reasons of another condition of the same kind. */
  readonly reasons: { readonly True: Reasons; readonly False: Reasons } | { readonly as: string };
}

type Reasons = Readonly<Record<string, ConditionReason>>;

const creating = { when: "The first member has not answered yet." };
const restoring = { when: "An EtcdRestore replaces the data, or makes the first member from a backup." };
const electing = { when: "The members elect a leader. Nothing can be read or written until they have one." };
const joining = { when: "A new member is needed for a majority, and starts." };
const foreign = {
  when: "All pods that answer are of another etcd cluster than `status.clusterId`. Nothing is done to them.",
  whatToDo:
    "If they hold the right data, put their id into `status.clusterId`, as the message says; else find out where they came from.",
};
const quorumLost = {
  when: "Fewer than a majority of the voters answer; enough pods still have their data.",
  whatToDo:
    "Find out what keeps the pods from running, and do not delete them. See [When quorum is lost](../clusters.md#when-quorum-is-lost).",
};
const dataLost = {
  when: "Fewer than a majority of the voters still have their data.",
  whatToDo:
    "Save what is left, then restore a backup; the message names the newest. See [When quorum is lost](../clusters.md#when-quorum-is-lost).",
};
const authRequired = {
  when: "etcd's own authentication is on, and the operator has no login.",
  whatToDo: "Name a Secret with a login in `spec.auth.operatorSecret`. See [auth.md](../auth.md).",
};
const loginRefused = {
  when: "etcd's own authentication is on, and etcd does not take the operator's login or certificate.",
  whatToDo: "Correct what the message names. See [auth.md](../auth.md).",
};

const membersApart = {
  when: "Members trust another CA than that of the certificates in use, as after lost Secrets. They are started again in their pods, one after another, and keep their data.",
  whatToDo: "Nothing, unless the message says so. See [security.md](../security.md).",
};

const problems = {
  InvalidSpec: {
    when: "The spec asks for something that cannot work.",
    whatToDo: "Change the field that the message names.",
  },
  ClusterMissing: {
    when: "There is no EtcdCluster of the name in `spec.clusterRef`.",
    whatToDo: "Correct the name, or create the cluster; the backup then begins by itself.",
  },
  ClusterNotServing: {
    when: "No member of the EtcdCluster has served yet.",
    whatToDo: "See to the EtcdCluster; the backup then begins by itself.",
  },
  ImageUnknown: {
    when: "The operator does not know its own image, which workers run.",
    whatToDo: "Let it read its own pod, as example/rbac does, or start it with `-worker-image`.",
  },
  WorkerCannotStart: {
    when: "The pod that does the work does not come up.",
    whatToDo: "Do what the message says: most often a Secret is missing, or its name is wrong.",
  },
  Refused: { when: "Kubernetes refuses the worker.", whatToDo: "Do what the message says; it quotes the refusal." },
  DeletionFailed: {
    when: "The EtcdBackup is being deleted, and its backups cannot be.",
    whatToDo:
      "Do what the message says, or set `spec.deletionPolicy: Retain`. After an hour the EtcdBackup goes by itself and leaves its backups in the store.",
  },
  AttemptFailed: { when: "An attempt failed, and another one follows." },
  BackupFailed: { when: "A run has failed, with all its attempts.", whatToDo: "Do what the message says." },
  VerificationFailed: {
    when: "A backup is complete, and could not be proved by a restore.",
    whatToDo: "Do what the message says, and have another backup taken.",
  },
  PruningStopped: {
    when: "A backup is complete, and older ones of its series are of another etcd cluster or have a higher revision, or the member that gave it could not read through a quorum. No backup is deleted.",
    whatToDo:
      "If data was lost, restore an older backup by its path. If the change is intended, set `spec.backupPolicy.releaseBefore` to the time in the message.",
  },
} as const satisfies Reasons;

const aCondition = <Types extends Readonly<Record<string, ConditionType>>>(types: Types): Types => types;

export const conditionTypes = {
  EtcdCluster: aCondition({
    Ready: {
      trueWhen:
        "all `spec.size` members are healthy voters with the version and the settings of the spec, and clients reach them",
      reasons: {
        True: { AllMembersReady: { when: "All members are healthy voters." } },
        False: {
          Creating: creating,
          Restoring: restoring,
          Electing: electing,
          Joining: joining,
          Scaling: { when: "Members join or leave until there are `spec.size`." },
          Updating: {
            when: "Members are being changed. The message says how many are done, and what the next one waits for.",
          },
          ServiceNotReady: {
            when: "All members serve, and no kubelet has found one ready yet: the client Service has no endpoint.",
          },
          MembersUnhealthy: { when: "A member does not answer. It comes back, or it is replaced." },
          MembersLeaving: { when: "A member serves to its last moment: its pod is being deleted, or it was removed." },
          VolumesDoomed: {
            when: "Members serve on volumes that go with their pods, because their claims are being deleted or their volumes are lost. Members on new volumes take their places.",
            whatToDo: "Leave the pods alone until they are replaced. See [Claims](../volumes.md#claims).",
          },
          MembersUnreachable: {
            when: "The kubelet finds etcd healthy, and the operator cannot connect to it, or the answers are not those of an etcd: too many, or too large.",
            whatToDo:
              "See that no NetworkPolicy keeps the operator from port 2379 of the members. Where the message says that a member does not answer as etcd does, set an image of etcd.",
          },
          UpdateOnDelete: {
            when: "Members differ from the spec, and `spec.updateStrategy` is `OnDelete`.",
            whatToDo: "Delete the pods that the message names, one after another, when it suits you.",
          },
          Refused: {
            when: "Kubernetes or etcd refuses a step, such as a pod beyond a quota.",
            whatToDo: "Do what the message says; it quotes the refusal.",
          },
          MemberCannotStart: {
            when: "The pod of a member does not come up.",
            whatToDo:
              "The message quotes Kubernetes or etcd and names the field to change. See [troubleshooting.md](../troubleshooting.md).",
          },
          CertificatesInvalid: {
            when: "No member can be made, because a Secret that `spec.TLS` names cannot be used.",
            whatToDo: "Correct the Secret as the message says. See [security.md](../security.md).",
          },
          MembersApart: membersApart,
          UpdateStopped: {
            when: "A new image cannot be used, or a changed member does not come up. The others are left as they are.",
            whatToDo: "Correct the spec, or set it back. See [Stop and undo](../upgrades.md#stop-and-undo).",
          },
          QuorumLost: quorumLost,
          LeadersDisagree: {
            when: "Members follow different leaders. Nothing is deleted until they agree.",
            whatToDo: "See that the members reach each other's port 2380.",
          },
          InvalidSpec: {
            when: "The spec asks for something that cannot work. Members are healed with the settings that they have.",
            whatToDo: "Change the field that the message names.",
          },
          VolumesLeft: {
            when: "Volumes of an earlier cluster of this name are there, and it is not clear whose data they hold.",
            whatToDo:
              "Delete the claims, or those that do not belong together. See [How long volumes live](../volumes.md#how-long-volumes-live).",
          },
          VolumesForeign: {
            when: "The volumes are copies of those of an EtcdCluster in another namespace. Nothing is started on them, because it would disturb that one.",
            whatToDo:
              "Restore a backup with an EtcdRestore instead, or delete the claims. See [Copies of volumes](../volumes.md#copies-of-volumes).",
          },
          VersionDiffers: {
            when: "etcd cannot go from the version that runs to `spec.version`.",
            whatToDo:
              "Set the version that the message names first. See [Which versions](../upgrades.md#which-versions).",
          },
          DataLost: dataLost,
          ForeignCluster: foreign,
          Corrupt: { when: "etcd has found that members hold different data.", whatToDo: "Restore a backup." },
          NoSpace: {
            when: "The database has reached its quota, and takes no more writes.",
            whatToDo:
              "Delete keys, compact and defragment, or raise `spec.etcd.quotaBackendBytes`, which is rolled out at once. The operator disarms the alarm when every database is below nine tenths of its quota.",
          },
          AuthRequired: authRequired,
          LoginRefused: loginRefused,
        },
      },
    },
    Reconciling: {
      trueWhen: "it is not ready, and goes on by itself or as soon as what it waits for is there",
      reasons: { as: "Ready" },
    },
    Stalled: {
      trueWhen: "it is not ready, and a person has to act. Flux and `helm --wait` call it failed",
      reasons: { as: "Ready" },
    },
    Available: {
      trueWhen: "etcd serves reads and writes",
      reasons: {
        True: { "Cluster available": { when: "A majority of the voters answers and has a leader." } },
        False: {
          Creating: creating,
          Restoring: restoring,
          Electing: electing,
          Joining: joining,
          QuorumLost: quorumLost,
          DataLost: dataLost,
          ForeignCluster: foreign,
          AuthRequired: authRequired,
          LoginRefused: loginRefused,
        },
      },
    },
    Scaling: {
      trueWhen: "the cluster has another size than `spec.size`",
      reasons: {
        True: {
          "Scaling up": { when: "Members join." },
          "Scaling down": { when: "Members are removed, one at a time." },
        },
        False: { "Size reached": { when: "There are as many members as the spec asks for." } },
      },
    },
    Recovering: {
      trueWhen: "a member was lost, and not all are healthy again",
      reasons: {
        True: {
          "Members lost": { when: "A member is not healthy, or is being replaced." },
          "Disaster recovery": {
            when: "The quorum is lost.",
            whatToDo: "See [When quorum is lost](../clusters.md#when-quorum-is-lost).",
          },
        },
        False: {
          "All members healthy": { when: "Nothing is missing." },
          Creating: creating,
          Restoring: restoring,
          ForeignCluster: foreign,
          AuthRequired: authRequired,
          LoginRefused: loginRefused,
        },
      },
    },
    Upgrading: {
      trueWhen: "the version of members is being changed",
      reasons: {
        True: {
          "Cluster upgrading": { when: "The message says to which version, by way of which, and how far it is." },
        },
        False: { "Not upgrading": { when: "All members run `spec.version`, or it is refused." } },
      },
    },
    CertificatesValid: {
      trueWhen: "all certificates can be used",
      present: "only with TLS",
      reasons: {
        True: {
          Valid: { when: "All of them are in use." },
          ExpiresSoon: {
            when: "A certificate expires in less than 30, 7 or 1 days; one with a short life, with a quarter, a tenth or a twentieth of it left.",
            whatToDo: "Renew it in the Secret that the message names; what the operator makes it renews itself.",
          },
          TakingOver: { when: "Other certificates, or another CA, are taken over step by step." },
        },
        False: {
          Missing: { when: "A Secret does not exist, or may not be read.", whatToDo: "Create it, or grant the right." },
          Unread: {
            when: "The API server did not give out a Secret.",
            whatToDo: "See what the message says; the operator tries again.",
          },
          Damaged: {
            when: "A Secret of the operator was changed by somebody, and there is nothing to repair it with yet.",
            whatToDo: "Correct what else the message names; the operator then writes the Secret again.",
          },
          Incomplete: { when: "A Secret lacks keys.", whatToDo: "Add the keys that the message names." },
          Unreadable: { when: "What is in a Secret cannot be read.", whatToDo: "Put it in as PEM." },
          Mismatched: {
            when: "A key does not belong to its certificate.",
            whatToDo: "Put in both as they were made together.",
          },
          Untrusted: {
            when: "A certificate is not signed by the CA beside it.",
            whatToDo: "Put in a certificate of that CA, or add its CA.",
          },
          MembersApart: membersApart,
          Expired: { when: "A certificate has expired.", whatToDo: "Put in a new one." },
          NotYetValid: {
            when: "A certificate is not valid yet.",
            whatToDo: "Put in one that is valid now, or look at the clocks.",
          },
          WrongNames: {
            when: "A certificate does not cover the names of the members.",
            whatToDo: "Have it made with the names in the message.",
          },
          WrongUse: {
            when: "A certificate is not for servers, or not for clients.",
            whatToDo: "Have it made with the usage in the message.",
          },
          NotYet: { when: "Certificates are not there yet; they are being made or written." },
        },
      },
    },
    DiskPressure: {
      trueWhen: "the database has little room left",
      present: "once a member has said how large its database is",
      reasons: {
        True: {
          DatabaseNearQuota: {
            when: "The database file has more than 80 % of its quota.",
            whatToDo: "Delete keys, compact and defragment, or raise `spec.etcd.quotaBackendBytes`.",
          },
          NoRoomToDefragment: {
            when: "The database file fills more than 45 % of its volume.",
            whatToDo: "Ask for larger volumes. See [Room](../volumes.md#room).",
          },
          QuotaTooLarge: {
            when: "The quota is more than 45 % of the volume.",
            whatToDo: "Lower it, or ask for larger volumes.",
          },
        },
        False: { EnoughSpace: { when: "There is enough." } },
      },
    },
  }),
  EtcdBackup: aCondition({
    Complete: {
      trueWhen: "the last backup is complete: it was read back and compared with what etcd sent",
      reasons: {
        True: { Succeeded: { when: "The last backup is complete." } },
        False: {
          ...problems,
          Pending: { when: "The run has yet to begin." },
          Scheduled: { when: "The first run has its time." },
          Suspended: { when: "No backups begin while `spec.backupPolicy.suspend` is true." },
          Running: { when: "A worker takes the backup." },
          Verifying: { when: "A worker proves the backup by a restore." },
          Failed: { when: "The only run has failed.", whatToDo: "Do what the message says." },
          Deleting: { when: "The backups are being deleted, as `spec.deletionPolicy` says." },
        },
      },
    },
    Problem: {
      trueWhen: "something is wrong. Some of it holds while it is seen, the rest until a run has succeeded",
      reasons: { True: problems, False: { None: { when: "Nothing is wrong." } } },
    },
    Reconciling: {
      trueWhen: "there is no backup yet and one is under way, or the backups are being deleted",
      reasons: { as: "Complete" },
    },
    Stalled: {
      trueWhen: "it has failed and is not tried again by itself",
      reasons: { as: "Complete" },
    },
    Verified: {
      trueWhen: "the newest backup was restored into a throwaway member, which had the right revision and hash",
      present: "only with `spec.verify.restore`",
      reasons: {
        True: { Restored: { when: "Revision and hash are as they must be." } },
        False: { VerificationFailed: problems.VerificationFailed },
      },
    },
  }),
  EtcdRestore: aCondition({
    Complete: {
      trueWhen: "the cluster is ready with the data of the backup",
      reasons: {
        True: { Succeeded: { when: "Revision and hash are those of the backup." } },
        False: {
          Waiting: { when: "It has not begun: the message says what it waits for." },
          Checking: { when: "The backup is read and proved. Nothing is touched." },
          Saving: { when: "What the cluster holds is saved." },
          Restoring: { when: "The cluster is made from the backup." },
          Failed: {
            when: "It has ended without success.",
            whatToDo: "Do what the message says, delete the EtcdRestore and apply it again under the same name.",
          },
        },
      },
    },
    Reconciling: {
      trueWhen: "it is under way, or waits to begin",
      reasons: { as: "Complete" },
    },
    Stalled: {
      trueWhen:
        "it has failed, and a person applies another one; or it waits until a person confirms it, as the message says",
      reasons: { as: "Complete" },
    },
  }),
};
