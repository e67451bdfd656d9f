// The reasons of Ready of an EtcdCluster, and those that it shares with other conditions of it. Health checks, alerts, colours,
// the doctor and the EtcdRestore that follows a cluster go by these rows.
import { type ConditionType, degraded, progressing, settled, stalled, suspended } from "./reason.ts";

export const creating = progressing({ when: "The first member has not answered yet." });
export const restoring = progressing({
  when: "An EtcdRestore replaces the data, or creates the first member from a backup.",
});
export const electing = progressing({
  when: "The members are electing a leader. Until they have one, clients can neither read nor write.",
});
export const joining = progressing({ when: "A new member is starting, and the majority needs it." });
export const foreign = stalled({
  when: "All pods that answer belong to a different etcd cluster than `status.clusterId`. The operator does not touch them.",
  whatToDo:
    "If they hold the right data, set `status.clusterId` to their ID, as the message says. Otherwise, find out where they came from.",
  runbook: "EtcdClusterStalled",
  endsWithARestore: true,
});
export const quorumLost = degraded({
  when: "Fewer than a majority of the voters answer; enough pods still have their data.",
  whatToDo:
    "Find out what prevents the pods from running, and do not delete them. See [When quorum is lost](../clusters.md#when-quorum-is-lost).",
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
  when: "etcd's own authentication is on, and etcd refuses the operator's login or certificate.",
  whatToDo: "Correct what the message names. See [auth.md](../auth.md).",
  runbook: "EtcdClusterStalled",
});

export const membersApart = degraded({
  when: "Members trust a different CA than that of the certificates in use, for example after Secrets were lost. The operator restarts them in their pods, one after another; they keep their data.",
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
        when: "The operator is changing members. The message says how many are done, and what the next one waits for.",
      }),
      ServiceNotReady: progressing({
        when: "All members serve, but no kubelet reports one as ready yet: the client Service has no endpoint.",
      }),
      MembersUnhealthy: progressing({
        when: "A member does not answer. It comes back, or the operator replaces it.",
        severity: "bad",
        runbook: "EtcdMemberDown",
      }),
      MembersLeaving: progressing({
        when: "A member is leaving: its pod is being deleted, or it was removed. It serves until it ends.",
      }),
      VolumesDoomed: progressing({
        when: "The volumes of members end with their pods, because their claims are being deleted or their volumes are lost. Members on new volumes replace them.",
        whatToDo: "Leave the pods alone until they are replaced. See [Claims](../volumes.md#claims).",
        event: "volumesDoomed",
      }),
      MembersUnreachable: progressing({
        when: "The kubelet reports etcd as healthy, but the operator cannot connect to it, or gets answers that etcd does not give: too many, or too large.",
        whatToDo:
          "Check that no NetworkPolicy blocks the operator from port 2379 of the members. If the message says that a member does not answer as etcd does, set an image of etcd.",
        severity: "bad",
        event: "membersUnreachable",
        runbook: "EtcdClusterStalled",
      }),
      UpdateOnDelete: suspended({
        when: "Members differ from the spec, and `spec.updateStrategy` is `OnDelete`.",
        whatToDo: "Delete the pods that the message names, one after another, at a time of your choice.",
      }),
      Refused: degraded({
        when: "Kubernetes or etcd refuses a step, such as a pod beyond a quota.",
        whatToDo: "Do what the message says; it quotes the refusal.",
        event: "refused",
        runbook: "EtcdClusterStalled",
      }),
      MemberCannotStart: degraded({
        when: "The pod of a member does not start.",
        whatToDo:
          "The message quotes Kubernetes or etcd and names the field to change. See [troubleshooting.md](../troubleshooting.md).",
        event: "memberCannotStart",
        runbook: "EtcdClusterStalled",
      }),
      CertificatesInvalid: degraded({
        when: "The operator cannot create members, because a Secret that `spec.TLS` names is not usable.",
        whatToDo: "Correct the Secret as the message says. See [security.md](../security.md).",
        runbook: "EtcdClusterStalled",
      }),
      MembersApart: { ...membersApart, runbook: "EtcdClusterStalled" },
      UpdateStopped: degraded({
        when: "A new image is not usable, or a changed member does not start. The operator leaves the others unchanged.",
        whatToDo: "Correct the spec, or revert it. See [Stop and undo](../upgrades.md#stop-and-undo).",
        event: "updateStopped",
        runbook: "EtcdClusterStalled",
      }),
      QuorumLost: quorumLost,
      LeadersDisagree: degraded({
        when: "Members follow different leaders. The operator deletes nothing until they agree.",
        whatToDo: "Check that the members can reach port 2380 of each other.",
        event: "leadersDisagree",
        runbook: "EtcdClusterStalled",
        endsWithARestore: true,
      }),
      InvalidSpec: stalled({
        when: "The spec asks for something that cannot work. The operator heals members with their current settings.",
        whatToDo: "Change the field that the message names.",
        event: "invalidSpec",
        runbook: "EtcdClusterStalled",
      }),
      VolumesLeft: stalled({
        when: "Volumes of an earlier cluster of this name exist, and it is not clear whose data they hold.",
        whatToDo:
          "Delete the claims, or those that do not belong together. See [How long volumes live](../volumes.md#how-long-volumes-live).",
        event: "volumesLeft",
        runbook: "EtcdClusterStalled",
      }),
      VolumesForeign: stalled({
        when: "The volumes are copies of those of an EtcdCluster in another namespace. The operator starts nothing on them, because that would disturb the other cluster.",
        whatToDo:
          "Restore a backup with an EtcdRestore instead, or delete the claims. See [Copies of volumes](../volumes.md#copies-of-volumes).",
        event: "volumesForeign",
        runbook: "EtcdClusterStalled",
      }),
      VersionDiffers: stalled({
        when: "etcd cannot go from the running version to `spec.version`.",
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
          "Delete keys, compact and defragment, or raise `spec.etcd.quotaBackendBytes`, which the operator rolls out at once. The operator disarms the alarm when every database is below nine tenths of its quota.",
        event: "noSpace",
        runbook: "EtcdDatabaseFull",
        endsWithARestore: true,
      }),
      AuthRequired: { ...authRequired, event: "authRequired" },
      LoginRefused: { ...loginRefused, event: "loginRefused" },
    },
  },
} as const satisfies ConditionType;
