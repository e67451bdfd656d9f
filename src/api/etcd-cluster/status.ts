// The status of an EtcdCluster. Every field may be missing in storage: a new object has no status, and etcd-operator 0.9
// left out empty fields.
import {
  array,
  boolean,
  type CompleteOf,
  defaulted,
  filled,
  integer,
  map,
  object,
  observedGeneration,
  oneOf,
  required,
  type StoredOf,
  string,
} from "../schema/schema.ts";

const names = (description: string) => defaulted([], array(description, string("Name of a pod.")));

const condition = object("Condition of the cluster.", {
  type: required(
    "",
    string(
      "Type of the condition: Ready, Reconciling, Stalled, Available, Scaling, Upgrading, Recovering, CertificatesValid or DiskPressure.",
    ),
  ),
  status: required("Unknown", oneOf("Status of the condition.", ["True", "False", "Unknown"])),
  reason: required("", string("Reason for the status, as a CamelCase word for programs.")),
  message: defaulted("", string("Explanation of the status, as a sentence for people.")),
  lastTransitionTime: required(
    "",
    string("Time at which the status last changed, for example 2026-01-31T12:00:00Z.", { format: "date-time" }),
  ),
  lastUpdateTime: string("Time at which any field of this condition last changed."),
  observedGeneration: integer("metadata.generation that this condition is based on."),
});

export const statusSchema = object("Observed state of the cluster. Only the operator writes it.", {
  phase: defaulted(
    "",
    string(
      "Phase of the cluster: Creating until the first member answers, then Running; Failed when the data is lost. Empty at first.",
    ),
  ),
  reason: string("Reason why the phase is Failed, and what to do."),
  controlPaused: boolean("Whether the operator leaves the cluster alone because of spec.paused."),
  conditions: defaulted(
    [],
    array("Conditions of the cluster. `kubectl wait --for=condition=Ready` waits until all members serve.", condition, {
      key: "type",
    }),
  ),
  size: defaulted(0, integer("Number of members that etcd lists.")),
  ready: string("Number of healthy voters out of spec.size, for example 3/3."),
  serviceName: string("Name of the Service that clients connect to."),
  clientPort: integer("Port of that Service."),
  clientEndpoints: defaulted(
    [],
    array("Client URLs of the members.", string("Client URL, for example http://name.cluster.ns.svc:2379.")),
  ),
  members: filled(
    object("Names of the member pods, by readiness.", {
      ready: names("Names of the pods that are ready."),
      unready: names("Names of the pods that are not ready."),
    }),
  ),
  voters: defaulted([], array("Names of the voting members, as etcd last listed them.", string("Name of a member."))),
  currentVersion: defaulted("", string("etcd version that every member runs.")),
  targetVersion: defaulted(
    "",
    string("etcd version that the cluster is changing to; empty if every member runs the wanted version."),
  ),
  updatedMembers: integer("Number of members that have the version and the settings of the spec."),
  raftLogVersion: string(
    "Oldest minor version of etcd whose entries may still be in the raft logs, for example 3.6. Unset if it is not known.",
  ),
  versions: defaulted(
    {},
    map("Number of members by etcd version.", integer("Number of members that run the version.")),
  ),
  clusterId: string("Cluster ID that etcd chose, in hexadecimal. Once it is set, no member starts a new cluster."),
  restore: object("EtcdRestore that is replacing, or has replaced, the data of this cluster.", {
    name: required("", string("Name of the EtcdRestore.")),
    uid: required("", string("UID of the EtcdRestore.")),
    phase: required(
      "Done",
      oneOf(
        "Phase of the restore. Stopping: the old members stop. Seeding: the first members start from the backup. Done: the cluster serves.",
        ["Stopping", "Seeding", "Done"],
      ),
    ),
    backup: string("Backup that the data comes from."),
    snapshotPath: string("Path of the snapshot of the replaced data. Unset if none was saved."),
    keptVolumes: string("PersistentVolumeClaims of the replaced members, which hold the replaced data."),
    stoppedAtRevision: integer("Revision of etcd when the members were stopped, as far as any member answered."),
    plan: string("Plan for the first members, as JSON, so that the EtcdRestore is no longer needed."),
    restored: array(
      "SHA-256 digests of the last 10 backups that replaced the data, newest first.",
      string("SHA-256 digest of a backup."),
      { most: 10 },
    ),
    specs: array(
      "Digests of the specs of the last 10 EtcdRestores that replaced the data, newest first.",
      string("Digest of a spec."),
      { most: 10 },
    ),
  }),
  highestRevision: integer(
    "Highest revision ever seen in this cluster, as of the last change of this status. A restore in place raises the revision beyond it.",
  ),
  leader: string("Name of the member that is the leader."),
  dbSize: integer("Size in bytes of the largest database file of any member, as of the last change of this status."),
  dbSizeInUse: integer(
    "Bytes of that file that hold data, as of the last change of this status; the rest is free space. Requires etcd 3.4 or later.",
  ),
  dbQuota: integer("Size in bytes at which the database takes no more writes."),
  volumeSize: integer("Size in bytes of the smallest volume of any member."),
  clientSecret: string(
    "Name of the Secret that clients can mount, with `tls.crt`, `tls.key` and `ca.crt`. Only set with spec.TLS.auto.",
  ),
  clientSecretChecksum: string("Checksum of that Secret; it changes when the content changes."),
  certificates: defaulted(
    [],
    array(
      "Certificates in use.",
      object("Certificate in use.", {
        use: required(
          "",
          string(
            "Use of the certificate: peer, server or operator; with spec.TLS.auto also client, peer-ca or client-ca.",
          ),
        ),
        notAfter: required("", string("Time at which the certificate expires, for example 2026-01-31T12:00:00Z.")),
        notBefore: string("Time from which the certificate is valid."),
      }),
      { key: "use" },
    ),
  ),
  revision: integer("Revision of etcd, as of the last change of this status."),
  selector: string("Label selector of the member pods, for the scale subresource."),
  observedGeneration: observedGeneration("metadata.generation that this status is based on."),
});

export type EtcdClusterStatus = StoredOf<typeof statusSchema>;
export type CompleteStatus = CompleteOf<typeof statusSchema>;
