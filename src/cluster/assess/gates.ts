// The gates of a roll, as a table: what each one waits for, what it says, and which changes it must never hold up, because
// they are its cure. Whatever a gate lets through is still weighed by `plan/safety.ts`, which keeps the quorum.
import { bytesInWords } from "../../kube/objects/size.ts";
import { isUntried, nodeOf } from "./image-proof.ts";
import type { Change, RollInput } from "./roll.ts";
import { isDoomed, isHealthy, isVoter, type Instance } from "./instances.ts";
import { alarmsIn, fullDatabase } from "./space.ts";
import { laggards } from "./standing.ts";

export type GateName =
  | "image"
  | "untried"
  | "changing"
  | "unhealthy"
  | "doomed"
  | "joining"
  | "size"
  | "corrupt"
  | "noSpace"
  | "full"
  | "lag"
  | "preparation";

export interface GateInput extends RollInput {
  /** In whatever order. */
  readonly changes: readonly Change[];
  /** What is wrong with the image that members are to run; undefined: nothing is known to be. */
  readonly badImage: string | undefined;
}

export interface Gate {
  /** What it protects. */
  readonly because: string;
  /** What is waited for, in words; undefined: it is open. */
  readonly closed: (input: GateInput) => string | undefined;
  /** What it must never hold up, in words. */
  readonly cure: string;
  readonly isCure: (change: Change, input: GateInput) => boolean;
}

const makesRoom = ({ makesRoom: does }: Change): boolean => does;
const mendsItself = (change: Change): boolean => change.mends;

/** In the order in which they are asked. */
export const gates: Readonly<Record<GateName, Gate>> = {
  image: {
    because: "an image that cannot be used takes down every member that gets it",
    closed: ({ badImage }) => badImage,
    cure: "another pod for a member that is down; more room for a full database, in a pod of the image that the others run",
    isCure: (change) => mendsItself(change) || (change.how !== "inPlace" && makesRoom(change)),
  },
  untried: {
    because: "an image is tried on a node before a member there gets it",
    closed: (input) => {
      const [pod] = input.changes.filter(({ pod: one }) => isUntried(one, input) !== undefined).map((one) => one.pod);
      if (pod === undefined) return undefined;
      return `it waits until ${input.release.image} can be tried on ${nodeOf(pod)}, which took no pod for that (${isUntried(pod, input)}): it is tried again every 30 s`;
    },
    cure: "whatever brings no other image, or brings it to a member that is down, or to another node",
    isCure: (change, input) =>
      change.how !== "inPlace" || mendsItself(change) || isUntried(change.pod, input) === undefined,
  },
  changing: {
    because: "one member is changed at a time",
    closed: ({ ours }) => {
      const changing = ours.filter(({ pod }) => pod?.changedFrom !== undefined);
      return changing.length === 0 ? undefined : `it waits for ${namesOf(changing)} to serve again after the change`;
    },
    cure: "what brings up a member that is down: another image, or the one that it had; other settings",
    isCure: mendsItself,
  },
  unhealthy: {
    because: "one member is down at a time",
    closed: ({ instances }) => {
      const unwell = instances.filter((instance) => isVoter(instance) && !isHealthy(instance));
      return unwell.length === 0 ? undefined : `it waits for ${namesOf(unwell)} to be healthy`;
    },
    cure: "what brings up a member that is down: another image, other settings, another place",
    isCure: mendsItself,
  },
  doomed: {
    because: "a member on a doomed volume may never start again once it is stopped",
    closed: ({ instances }) => {
      const doomed = instances.filter(isDoomed);
      return doomed.length === 0 ? undefined : `it waits for ${namesOf(doomed)} to be replaced on another volume`;
    },
    cure: "what brings up a member that is down; its successor is added by plan/rules/grow.ts, which no gate of a roll holds up",
    isCure: mendsItself,
  },
  joining: {
    because: "a member that joins needs the others",
    closed: ({ instances }) => {
      const joining = instances.filter((instance) => !isVoter(instance));
      return joining.length === 0 ? undefined : `it waits for ${namesOf(joining)} to join`;
    },
    cure: "what brings up a member that is down; a learner that cannot start is made again by plan/rules/remake.ts, at once when the settings have changed",
    isCure: mendsItself,
  },
  size: {
    because: "nothing is stopped in a cluster that lacks a member",
    closed: ({ changes, ours, instances, size }) => {
      const replacing = changes.some(({ how }) => how === "replace") && ours.length === size + 1 ? 1 : 0;
      return instances.length === size + replacing ? undefined : `it waits until the cluster has its ${size} members`;
    },
    cure: "what brings up a member that is down; members are added and removed by other rules",
    isCure: mendsItself,
  },
  corrupt: {
    because: "members hold different data, and the right copy must not be the one that goes",
    closed: ({ world }) =>
      alarmsIn(world).some(({ type }) => type === "corrupt")
        ? `it waits until etcd's alarm (CORRUPT) is disarmed: replace the member that raised it, then run \`kubectl etcd ctl ${world.cluster.metadata.name} alarm disarm\``
        : undefined,
    cure: "a new member in the place of the corrupt one; one whose pod or volume a person deletes is replaced by plan/rules/replace.ts",
    isCure: ({ how, instance }, { world }) =>
      how === "replace" &&
      alarmsIn(world).some(({ type, member }) => type === "corrupt" && member === instance.member.id),
  },
  noSpace: {
    because: "etcd takes no writes, and what is restarted or copied gives it no room",
    closed: ({ world }) =>
      alarmsIn(world).some(({ type }) => type === "noSpace")
        ? `it waits until the database has room: delete keys, compact and defragment, or raise spec.etcd.quotaBackendBytes. The operator disarms etcd's alarm (NOSPACE) when every database is below nine tenths of its quota`
        : undefined,
    cure: "a larger quota, another compaction, a larger volume",
    isCure: makesRoom,
  },
  full: {
    because: "the next write may be the one that etcd refuses",
    closed: ({ world }) => {
      const full = fullDatabase(world);
      if (full === undefined) return undefined;
      return `it waits until the database of ${full.pod} has room (${bytesInWords(full.size)} of ${bytesInWords(full.quota)}): compact and defragment, or raise spec.etcd.quotaBackendBytes`;
    },
    cure: "a larger quota, another compaction, a larger volume",
    isCure: makesRoom,
  },
  lag: {
    because: "a member that is far behind does not stand in for one that stops",
    closed: ({ instances }) => {
      const behind = laggards(instances);
      return behind.length === 0 ? undefined : `it waits for ${namesOf(behind)} to catch up`;
    },
    cure: "a change of the member that is behind, which may be why it is: nobody counts on it",
    isCure: ({ instance }, { instances }) => laggards(instances).includes(instance),
  },
  preparation: {
    because: "etcd must be ready for another version before a member runs it",
    closed: ({ target: { first } }) => first?.because,
    cure: "more room for a full database, and what brings up a member that is down: neither changes the version",
    isCure: (change) => mendsItself(change) || (change.how !== "inPlace" && makesRoom(change)),
  },
};

const names = Object.keys(gates) as readonly GateName[];

/** What the change waits for, in words; undefined: it can be made. Without a change: what any would wait for. */
export function heldUpBy(change: Change | undefined, input: GateInput): string | undefined {
  // What etcd must be brought to is not waited for but done, by plan/rules/change-members.ts.
  const waiting = names.filter((name) => name !== "preparation");
  for (const name of waiting) {
    const gate = gates[name];
    if (change !== undefined && gate.isCure(change, input)) continue;
    const waits = gate.closed(input);
    if (waits !== undefined) return waits;
  }
  return undefined;
}

/** It is the cure of what is wrong now, and of more than that etcd has yet to be prepared. */
export function isUrgent(change: Change, input: GateInput): boolean {
  const { preparation, ...others } = gates;
  const isCure = Object.values(others).some((gate) => gate.closed(input) !== undefined && gate.isCure(change, input));
  return isCure && preparation.isCure(change, input);
}

const namesOf = (instances: readonly Instance[]): string => instances.map(({ name }) => name).join(", ");
