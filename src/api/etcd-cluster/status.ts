// What an EtcdCluster tells about itself. Everything may be missing in storage: a new object has no status, and the
// operator of 2018 left out what was empty.
import {
  array,
  boolean,
  type CompleteOf,
  defaulted,
  filled,
  integer,
  map,
  object,
  oneOf,
  required,
  type StoredOf,
  string,
} from "../schema/schema.ts";

const names = (description: string) => defaulted([], array(description, string("The name of a pod.")));

const condition = object("One thing that is true, false or not known of the cluster.", {
  type: required("", string("What this is about: Ready, Available, Scaling, Upgrading, Recovering.")),
  status: required("Unknown", oneOf("Whether it is so.", ["True", "False", "Unknown"])),
  reason: defaulted("", string("Why, in a word or two, for programs.")),
  message: defaulted("", string("Why, in a sentence, for people.")),
  lastTransitionTime: defaulted("", string("When the status last became another one, as in 2026-01-31T12:00:00Z.")),
  lastUpdateTime: string("When anything of this condition last changed."),
  observedGeneration: integer("The metadata.generation that this was concluded from."),
});

export const statusSchema = object("What the operator last saw of the cluster. It alone writes here.", {
  phase: defaulted(
    "",
    string("Creating until the first member answers, then Running; Failed when its data is lost. Empty at first."),
  ),
  reason: string("Why the phase is Failed, and what to do."),
  controlPaused: boolean("The operator leaves the cluster alone, because spec.paused is true."),
  conditions: defaulted(
    [],
    array(
      "What is true of the cluster. `kubectl wait --for=condition=Ready` waits until all members serve.",
      condition,
      {
        key: "type",
      },
    ),
  ),
  size: defaulted(0, integer("How many members etcd lists.")),
  ready: string("Healthy voters of the wanted size, as in 3/3."),
  serviceName: string("The Service that clients connect to."),
  clientPort: integer("The port of that Service."),
  clientEndpoints: defaulted(
    [],
    array("The client URL of each member.", string("As in http://name.cluster.ns.svc:2379.")),
  ),
  members: filled(
    object("The members by whether their pods are ready.", {
      ready: names("Pods that are ready."),
      unready: names("Pods that run and are not ready."),
    }),
  ),
  voters: defaulted(
    [],
    array("Names of the members that vote, as etcd last listed them.", string("The name of a member.")),
  ),
  currentVersion: defaulted("", string("The etcd version that every member runs.")),
  targetVersion: defaulted("", string("The etcd version that members are being brought to; empty when none are.")),
  versions: defaulted({}, map("How many members run each etcd version.", integer("Members that run it."))),
  clusterId: string(
    "The id that etcd gave the cluster, in hexadecimal. Set once: from then on no member ever starts a new cluster.",
  ),
  leader: string("The member that leads."),
  dbSize: integer("Bytes of the largest member's database file, as of the last change of this status."),
  revision: integer("etcd's revision, as of the last change of this status."),
  selector: string("Selects the pods of the members: the label selector of the scale subresource."),
  observedGeneration: integer("The metadata.generation that all this was concluded from."),
});

export type EtcdClusterStatus = StoredOf<typeof statusSchema>;
export type CompleteStatus = CompleteOf<typeof statusSchema>;
