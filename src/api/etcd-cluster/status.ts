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

const names = (description: string) => defaulted([], array(description, string("The name of a pod.")));

const condition = object("One statement about the cluster that is true, false or unknown.", {
  type: required(
    "",
    string(
      "Ready, Reconciling, Stalled, Available, Scaling, Upgrading, Recovering, CertificatesValid or DiskPressure.",
    ),
  ),
  status: required("Unknown", oneOf("Whether the condition holds.", ["True", "False", "Unknown"])),
  reason: required("", string("Why, in a word or two, for programs.")),
  message: defaulted("", string("Why, in a sentence, for people.")),
  lastTransitionTime: required(
    "",
    string("When the status last changed, as in 2026-01-31T12:00:00Z.", { format: "date-time" }),
  ),
  lastUpdateTime: string("When any field of this condition last changed."),
  observedGeneration: integer("The metadata.generation that this condition is based on."),
});

export const statusSchema = object("The observed cluster. Only the operator writes it.", {
  phase: defaulted(
    "",
    string("Creating until the first member answers, then Running; Failed when the data is lost. Empty at first."),
  ),
  reason: string("Why the phase is Failed, and what to do."),
  controlPaused: boolean("True while the operator leaves the cluster alone because of spec.paused."),
  conditions: defaulted(
    [],
    array(
      "The conditions of the cluster. `kubectl wait --for=condition=Ready` waits until all members serve.",
      condition,
      {
        key: "type",
      },
    ),
  ),
  size: defaulted(0, integer("How many members etcd lists.")),
  ready: string("Healthy voters out of spec.size, as in 3/3."),
  serviceName: string("The Service that clients connect to."),
  clientPort: integer("The port of that Service."),
  clientEndpoints: defaulted(
    [],
    array("The client URL of each member.", string("As in http://name.cluster.ns.svc:2379.")),
  ),
  members: filled(
    object("The pods of the members, by whether they are ready.", {
      ready: names("Pods that are ready."),
      unready: names("Pods that are not ready."),
    }),
  ),
  voters: defaulted(
    [],
    array("Names of the members that vote, as etcd last listed them.", string("The name of a member.")),
  ),
  currentVersion: defaulted("", string("The etcd version that every member runs.")),
  targetVersion: defaulted("", string("The etcd version that an upgrade is going to; empty when there is none.")),
  updatedMembers: integer("How many members have the version and the settings of the spec."),
  raftLogVersion: string(
    "The oldest minor version of etcd whose entries may still be in the raft logs, as in 3.6. Absent: not known.",
  ),
  versions: defaulted({}, map("How many members run each etcd version.", integer("How many members run it."))),
  clusterId: string(
    "The cluster id that etcd chose, in hexadecimal. Set once: from then on no member starts a new cluster.",
  ),
  restore: object("The EtcdRestore that replaces, or has replaced, the data of this cluster.", {
    name: required("", string("Its name.")),
    uid: required("", string("Its uid.")),
    phase: required(
      "Done",
      oneOf(
        "Stopping: the members that were there go. Seeding: the first member is made from the backup. Done: it serves.",
        ["Stopping", "Seeding", "Done"],
      ),
    ),
    backup: string("The backup that the data comes from."),
    snapshotPath: string("Where the data that was replaced has been saved. Absent: nowhere."),
    keptVolumes: string("The claims of the members that were replaced, with the data they held."),
    stoppedAtRevision: integer("etcd's revision when the members were stopped, as far as any of them answered."),
    plan: string("What the first member is made from, as JSON, so that the EtcdRestore is not needed any more."),
    restored: array(
      "The SHA-256 of the last ten backups that the data was replaced by, the newest first.",
      string("The SHA-256 of a backup."),
      { most: 10 },
    ),
    specs: array(
      "Digests of the specs of the last ten EtcdRestores that replaced the data, the newest first.",
      string("The digest of a spec."),
      { most: 10 },
    ),
  }),
  highestRevision: integer(
    "The highest revision that was ever seen of this cluster, as of the last change of this status. A restore in place goes past it.",
  ),
  leader: string("The member that leads."),
  dbSize: integer("Size of the largest database file of the members in bytes, as of the last change of this status."),
  dbSizeInUse: integer(
    "Bytes of it that hold data, as of the last change of this status; the rest is free for more. Since etcd 3.4.",
  ),
  dbQuota: integer("Size in bytes at which the database takes no more writes."),
  volumeSize: integer("Size in bytes of the smallest volume of a member."),
  clientSecret: string(
    "The Secret that clients can mount: `tls.crt`, `tls.key` and `ca.crt`. Only with spec.TLS.auto.",
  ),
  clientSecretChecksum: string("Changes when the content of that Secret changes."),
  certificates: defaulted(
    [],
    array(
      "The certificates in use, by what they are for.",
      object("A certificate.", {
        use: required("", string("peer, server or operator; with spec.TLS.auto also client, peer-ca and client-ca.")),
        notAfter: required("", string("When it expires, as in 2026-01-31T12:00:00Z.")),
        notBefore: string("Since when it is valid."),
      }),
      { key: "use" },
    ),
  ),
  revision: integer("etcd's revision, as of the last change of this status."),
  selector: string("The label selector of the pods, for the scale subresource."),
  observedGeneration: observedGeneration("The metadata.generation that this status is based on."),
});

export type EtcdClusterStatus = StoredOf<typeof statusSchema>;
export type CompleteStatus = CompleteOf<typeof statusSchema>;
