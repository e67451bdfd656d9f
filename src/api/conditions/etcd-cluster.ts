// The conditions of an EtcdCluster. Reasons with spaces are of etcd-operator 0.9.
import {
  authRequired,
  creating,
  dataLost,
  electing,
  foreign,
  joining,
  loginRefused,
  membersApart,
  quorumLost,
  ready,
  restoring,
} from "./cluster-ready.ts";
import { conditionsOf, degraded, progressing, settled } from "./reason.ts";

export const etcdClusterConditions = conditionsOf({
  Ready: ready,
  Reconciling: {
    trueWhen: "it is not ready, and continues by itself or as soon as what it waits for is available",
    reasons: { as: "Ready" },
  },
  Stalled: {
    trueWhen: "it is not ready, and a person has to act. Flux and `helm --wait` report it as failed",
    reasons: { as: "Ready" },
  },
  Available: {
    trueWhen: "etcd serves reads and writes",
    reasons: {
      True: { "Cluster available": settled({ when: "A majority of the voters answers and has a leader." }) },
      False: {
        Creating: creating,
        Restoring: restoring,
        Electing: electing,
        Joining: joining,
        QuorumLost: { ...quorumLost, event: "quorumLost" },
        DataLost: { ...dataLost, event: "dataLost" },
        ForeignCluster: foreign,
        AuthRequired: authRequired,
        LoginRefused: loginRefused,
      },
    },
  },
  Scaling: {
    trueWhen: "the size of the cluster differs from `spec.size`",
    reasons: {
      True: {
        "Scaling up": progressing({ when: "Members join." }),
        "Scaling down": progressing({ when: "Members are removed, one at a time." }),
      },
      False: { "Size reached": settled({ when: "The cluster has as many members as the spec asks for." }) },
    },
  },
  Recovering: {
    trueWhen: "a member was lost, and not all members are healthy again",
    reasons: {
      True: {
        "Members lost": progressing({
          when: "A member is not healthy, or is being replaced.",
          severity: "bad",
          runbook: "EtcdMemberDown",
        }),
        "Disaster recovery": degraded({
          when: "The cluster has lost its quorum.",
          whatToDo: "See [When quorum is lost](../clusters.md#when-quorum-is-lost).",
          runbook: "EtcdQuorumLost",
        }),
      },
      False: {
        "All members healthy": settled({ when: "No member is missing." }),
        Creating: creating,
        Restoring: restoring,
        ForeignCluster: foreign,
        AuthRequired: authRequired,
        LoginRefused: loginRefused,
      },
    },
  },
  Upgrading: {
    trueWhen: "the operator is changing the version of members",
    reasons: {
      True: {
        "Cluster upgrading": progressing({
          when: "The message names the target version, the steps and the progress.",
        }),
      },
      False: { "Not upgrading": settled({ when: "All members run `spec.version`, or the operator refuses it." }) },
    },
  },
  CertificatesValid: {
    trueWhen: "all certificates are usable",
    present: "only with TLS",
    reasons: {
      True: {
        Valid: settled({ when: "All of them are in use." }),
        ExpiresSoon: degraded({
          when: "A certificate expires in less than 30, 7 or 1 days; one with a short life, with a quarter, a tenth or a twentieth of it left.",
          whatToDo: "Renew it in the Secret that the message names. The operator renews its own certificates.",
          severity: "warning",
          event: "certificateExpires",
          runbook: "EtcdCertificateExpiresInAMonth",
        }),
        TakingOver: progressing({ when: "The operator is replacing certificates or a CA step by step." }),
      },
      False: {
        Missing: degraded({
          when: "A Secret does not exist.",
          whatToDo: "Create it.",
          event: "certificateProblem",
          runbook: "EtcdCertificateProblem",
        }),
        Forbidden: degraded({
          when: "The operator is not allowed to read a Secret.",
          whatToDo: "Grant the permission that the message names.",
          event: "certificateProblem",
          runbook: "EtcdCertificateProblem",
        }),
        Unread: degraded({
          when: "The API server did not return a Secret.",
          whatToDo: "Do what the message says; the operator retries.",
          event: "certificateProblem",
          runbook: "EtcdCertificateProblem",
        }),
        Damaged: degraded({
          when: "Somebody changed a Secret of the operator, and the operator cannot repair it yet.",
          whatToDo: "Correct what the message names; the operator then writes the Secret again.",
          event: "certificateProblem",
          runbook: "EtcdCertificateProblem",
        }),
        Incomplete: degraded({
          when: "A Secret lacks keys.",
          whatToDo: "Add the keys that the message names.",
          event: "certificateProblem",
          runbook: "EtcdCertificateProblem",
        }),
        Unreadable: degraded({
          when: "The content of a Secret is not readable.",
          whatToDo: "Store it as PEM.",
          event: "certificateProblem",
          runbook: "EtcdCertificateProblem",
        }),
        Mismatched: degraded({
          when: "A key does not belong to its certificate.",
          whatToDo: "Store a key and a certificate that belong together.",
          event: "certificateProblem",
          runbook: "EtcdCertificateProblem",
        }),
        Untrusted: degraded({
          when: "A certificate is not signed by the CA in its Secret.",
          whatToDo: "Store a certificate of that CA, or add its CA.",
          event: "certificateProblem",
          runbook: "EtcdCertificateProblem",
        }),
        MembersApart: { ...membersApart, event: "certificateProblem", runbook: "EtcdCertificateProblem" },
        Expired: degraded({
          when: "A certificate has expired.",
          whatToDo: "Store a new one.",
          event: "certificateProblem",
          runbook: "EtcdCertificateProblem",
        }),
        NotYetValid: degraded({
          when: "A certificate is not valid yet.",
          whatToDo: "Store one that is valid now, or check the clocks.",
          event: "certificateProblem",
          runbook: "EtcdCertificateProblem",
        }),
        WrongNames: degraded({
          when: "A certificate does not cover the names of the members.",
          whatToDo: "Reissue it with the names in the message.",
          event: "certificateProblem",
          runbook: "EtcdCertificateProblem",
        }),
        WrongUse: degraded({
          when: "A certificate is not valid for servers, or not for clients.",
          whatToDo: "Reissue it with the usage in the message.",
          event: "certificateProblem",
          runbook: "EtcdCertificateProblem",
        }),
        NotYet: progressing({ when: "Certificates do not exist yet; they are being created." }),
      },
    },
  },
  DiskPressure: {
    trueWhen: "the database has little space left",
    present: "once a member has reported the size of its database",
    reasons: {
      True: {
        DatabaseNearQuota: degraded({
          when: "The database file has more than 80 % of its quota.",
          whatToDo: "Delete keys, compact and defragment, or raise `spec.etcd.quotaBackendBytes`.",
          severity: "warning",
          event: "diskPressure",
          runbook: "EtcdDatabaseNearQuota",
        }),
        NoRoomToDefragment: degraded({
          when: "The database file fills more than 45 % of its volume.",
          whatToDo: "Request larger volumes. See [Room](../volumes.md#room).",
          severity: "warning",
          event: "diskPressure",
        }),
        QuotaTooLarge: degraded({
          when: "The quota is more than 45 % of the volume.",
          whatToDo: "Lower it, or request larger volumes.",
          severity: "warning",
          event: "diskPressure",
        }),
      },
      False: { EnoughSpace: settled({ when: "The database has enough space." }) },
    },
  },
});
