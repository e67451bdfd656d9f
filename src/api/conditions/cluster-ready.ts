// The reasons of Ready of an EtcdCluster, and those that it shares with other conditions of it. Health checks, alerts, colours,
// the doctor and the EtcdRestore that follows a cluster go by these rows.
import { type ConditionType, degraded, progressing, settled, stalled, suspended } from "./reason.ts";

export const creating = progressing({ when: "The first member has not answered yet." });
export const restoring = progressing({
  when: "An EtcdRestore replaces the data, or makes the first members from a backup.",
});
export const electing = progressing({
  when: "The members elect a leader. Nothing can be read or written until they have one.",
});
export const joining = progressing({ when: "A new member is needed for a majority, and starts." });
export const foreign = stalled({
  when: "All pods that answer are of another etcd cluster than `status.clusterId`. Nothing is done to them.",
  whatToDo:
    "If they hold the right data, put their id into `status.clusterId`, as the message says; else find out where they came from.",
  runbook: "EtcdClusterStalled",
  endsWithARestore: true,
});
export const quorumLost = degraded({
  when: "Fewer than a majority of the voters answer; enough pods still have their data.",
  whatToDo:
    "Find out what keeps the pods from running, and do not delete them. See [When quorum is lost](../clusters.md#when-quorum-is-lost).",
  runbook: "EtcdQuorumLost",
  endsWithARestore: true,
});
export const dataLost = stalled({
  when: "Fewer than a majority of the voters still have their data.",
  whatToDo:
    "Save what is left, then restore a backup; the message names the newest. See [When quorum is lost](../clusters.md#when-quorum-is-lost).",
  runbook: "EtcdQuorumLost",
  endsWithARestore: true,
});
export const authRequired = stalled({
  when: "etcd's own authentication is on, and the operator has no login.",
  whatToDo: "Name a Secret with a login in `spec.auth.operatorSecret`. See [auth.md](../auth.md).",
  runbook: "EtcdClusterStalled",
});
export const loginRefused = stalled({
  when: "etcd's own authentication is on, and etcd does not take the operator's login or certificate.",
  whatToDo: "Correct what the message names. See [auth.md](../auth.md).",
  runbook: "EtcdClusterStalled",
});

export const membersApart = degraded({
  when: "Members trust another CA than that of the certificates in use, as after lost Secrets. They are started again in their pods, one after another, and keep their data.",
  whatToDo: "Nothing, unless the message says so. See [security.md](../security.md).",
});

export const ready = {
  trueWhen:
    "all `spec.size` members are healthy voters with the version and the settings of the spec, and clients reach them",
  reasons: {
    True: { AllMembersReady: settled({ when: "All members are healthy voters." }) },
    False: {
      Creating: creating,
      Restoring: restoring,
      Electing: electing,
      Joining: joining,
      Scaling: progressing({ when: "Members join or leave until there are `spec.size`." }),
      Updating: progressing({
        when: "Members are being changed. The message says how many are done, and what the next one waits for.",
      }),
      ServiceNotReady: progressing({
        when: "All members serve, and no kubelet has found one ready yet: the client Service has no endpoint.",
      }),
      MembersUnhealthy: progressing({
        when: "A member does not answer. It comes back, or it is replaced.",
        severity: "bad",
        runbook: "EtcdMemberDown",
      }),
      MembersLeaving: progressing({
        when: "A member serves to its last moment: its pod is being deleted, or it was removed.",
      }),
      VolumesDoomed: progressing({
        when: "Members serve on volumes that go with their pods, because their claims are being deleted or their volumes are lost. Members on new volumes take their places.",
        whatToDo: "Leave the pods alone until they are replaced. See [Claims](../volumes.md#claims).",
        event: "volumesDoomed",
      }),
      MembersUnreachable: progressing({
        when: "The kubelet finds etcd healthy, and the operator cannot connect to it, or the answers are not those of an etcd: too many, or too large.",
        whatToDo:
          "See that no NetworkPolicy keeps the operator from port 2379 of the members. Where the message says that a member does not answer as etcd does, set an image of etcd.",
        severity: "bad",
        event: "membersUnreachable",
        runbook: "EtcdClusterStalled",
      }),
      UpdateOnDelete: suspended({
        when: "Members differ from the spec, and `spec.updateStrategy` is `OnDelete`.",
        whatToDo: "Delete the pods that the message names, one after another, when it suits you.",
      }),
      Refused: degraded({
        when: "Kubernetes or etcd refuses a step, such as a pod beyond a quota.",
        whatToDo: "Do what the message says; it quotes the refusal.",
        event: "refused",
        runbook: "EtcdClusterStalled",
      }),
      MemberCannotStart: degraded({
        when: "The pod of a member does not come up.",
        whatToDo:
          "The message quotes Kubernetes or etcd and names the field to change. See [troubleshooting.md](../troubleshooting.md).",
        event: "memberCannotStart",
        runbook: "EtcdClusterStalled",
      }),
      CertificatesInvalid: degraded({
        when: "No member can be made, because a Secret that `spec.TLS` names cannot be used.",
        whatToDo: "Correct the Secret as the message says. See [security.md](../security.md).",
        runbook: "EtcdClusterStalled",
      }),
      MembersApart: { ...membersApart, runbook: "EtcdClusterStalled" },
      UpdateStopped: degraded({
        when: "A new image cannot be used, or a changed member does not come up. The others are left as they are.",
        whatToDo: "Correct the spec, or set it back. See [Stop and undo](../upgrades.md#stop-and-undo).",
        event: "updateStopped",
        runbook: "EtcdClusterStalled",
      }),
      QuorumLost: quorumLost,
      LeadersDisagree: degraded({
        when: "Members follow different leaders. Nothing is deleted until they agree.",
        whatToDo: "See that the members reach each other's port 2380.",
        event: "leadersDisagree",
        runbook: "EtcdClusterStalled",
        endsWithARestore: true,
      }),
      InvalidSpec: stalled({
        when: "The spec asks for something that cannot work. Members are healed with the settings that they have.",
        whatToDo: "Change the field that the message names.",
        event: "invalidSpec",
        runbook: "EtcdClusterStalled",
      }),
      VolumesLeft: stalled({
        when: "Volumes of an earlier cluster of this name are there, and it is not clear whose data they hold.",
        whatToDo:
          "Delete the claims, or those that do not belong together. See [How long volumes live](../volumes.md#how-long-volumes-live).",
        event: "volumesLeft",
        runbook: "EtcdClusterStalled",
      }),
      VolumesForeign: stalled({
        when: "The volumes are copies of those of an EtcdCluster in another namespace. Nothing is started on them, because it would disturb that one.",
        whatToDo:
          "Restore a backup with an EtcdRestore instead, or delete the claims. See [Copies of volumes](../volumes.md#copies-of-volumes).",
        event: "volumesForeign",
        runbook: "EtcdClusterStalled",
      }),
      VersionDiffers: stalled({
        when: "etcd cannot go from the version that runs to `spec.version`.",
        whatToDo: "Set the version that the message names first. See [Which versions](../upgrades.md#which-versions).",
        event: "versionRefused",
        runbook: "EtcdClusterStalled",
      }),
      DataLost: dataLost,
      ForeignCluster: { ...foreign, event: "foreignCluster" },
      Corrupt: stalled({
        when: "etcd has found that members hold different data.",
        whatToDo: "Restore a backup.",
        event: "corrupt",
        runbook: "EtcdDatabaseCorrupt",
        endsWithARestore: true,
      }),
      NoSpace: stalled({
        when: "The database has reached its quota, and takes no more writes.",
        whatToDo:
          "Delete keys, compact and defragment, or raise `spec.etcd.quotaBackendBytes`, which is rolled out at once. The operator disarms the alarm when every database is below nine tenths of its quota.",
        event: "noSpace",
        runbook: "EtcdDatabaseFull",
        endsWithARestore: true,
      }),
      AuthRequired: { ...authRequired, event: "authRequired" },
      LoginRefused: { ...loginRefused, event: "loginRefused" },
    },
  },
} as const satisfies ConditionType;
