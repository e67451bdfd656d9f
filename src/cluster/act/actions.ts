// The table of actions: for each, how it is done, which events it makes, and whether a watch reports it. A new action is
// a member of the union in `plan/actions.ts` and a row here.
import { type EventName, eventReasons } from "../../api/events.ts";
import type { NewEvent } from "../../kube/objects/event-object.ts";
import type { Assessment } from "../assess/assess.ts";
import { secretName } from "../objects/tls.ts";
import type { Action, ActionOf } from "../plan/actions.ts";
import type { Execution } from "./execution.ts";
import { adoptClaim, deleteClaim, growClaim, noteOnClaim, ownClaim, recreatePod, retireClaim } from "./on-claims.ts";
import {
  addMember,
  cancelDowngrade,
  enableDowngrade,
  moveLeader,
  promote,
  removeMember,
  updatePeerUrl,
} from "./on-etcd.ts";
import {
  changeImage,
  confirmChange,
  createImageCheck,
  deleteImageCheck,
  readImageCheck,
  relabelPod,
} from "./on-running-pods.ts";
import { beginRestore, beginSeed } from "./on-restore.ts";
import { makeCertificates, markServing, noteTrust, renewFiles, writeCertificate } from "./on-secrets.ts";
import {
  applyBudget,
  applyService,
  createPod,
  createSeed,
  deletePod,
  guardPod,
  labelPod,
  latchClusterId,
  recordLogVersion,
  resizePod,
} from "./on-kube.ts";

interface Row<A extends Action> {
  readonly run: (execution: Execution, action: A) => Promise<void>;
  /** Of the EtcdCluster, once it is done. None: it can be seen in its object, or was reported with the member. */
  readonly events: (action: A, assessment: Assessment) => readonly Note[];
  /** Whether a watch brings the cluster back. What is done to etcd brings no event. */
  readonly watched: boolean;
}

/** A reason and the sentence that goes with it. */
export type Note = readonly [name: EventName, note: string];

type Table = { readonly [D in Action["do"]]: Row<ActionOf<D>> };

const none = (): readonly Note[] => [];

const table: Table = {
  applyService: { run: applyService, events: none, watched: true },
  applyBudget: { run: applyBudget, events: none, watched: true },
  labelPod: {
    run: labelPod,
    events: ({ member }) => [["labelsRestored", `Pod ${member} was given back the labels that it is found by`]],
    watched: true,
  },
  guardPod: { run: guardPod, events: none, watched: true },
  relabelPod: { run: relabelPod, events: none, watched: true },
  createImageCheck: { run: createImageCheck, events: none, watched: true },
  readImageCheck: { run: readImageCheck, events: none, watched: true },
  deleteImageCheck: { run: deleteImageCheck, events: none, watched: true },
  changeImage: { run: changeImage, events: none, watched: true },
  confirmChange: { run: confirmChange, events: upgradeNotes, watched: true },
  enableDowngrade: {
    run: enableDowngrade,
    events: ({ to, because }) => [["downgradeEnabled", `etcd was told to get ready for ${to}: ${because}`]],
    watched: false,
  },
  cancelDowngrade: {
    run: cancelDowngrade,
    events: ({ because }) => [["downgradeCancelled", `The downgrade was cancelled: ${because}`]],
    watched: false,
  },
  recordLogVersion: { run: recordLogVersion, events: none, watched: true },
  makeCertificates: {
    run: makeCertificates,
    events: ({ authority, what, because }, { world: { cluster } }) => [
      what === "authority"
        ? ["authorityMade", `A CA was made in ${secretName(cluster, authority)}: ${because}`]
        : ["certificatesRenewed", `Certificates of ${what.join(", ")} were renewed: ${because}`],
    ],
    watched: true,
  },
  writeCertificate: {
    run: writeCertificate,
    events: ({ use, because }, { world: { cluster } }) => [
      ["certificateWritten", `The Secret ${secretName(cluster, use)} was written: ${because}`],
    ],
    watched: true,
  },
  noteTrust: { run: noteTrust, events: none, watched: true },
  renewFiles: { run: renewFiles, events: none, watched: true },
  markServing: { run: markServing, events: none, watched: true },
  resizePod: {
    run: resizePod,
    events: ({ member }) => [["podResized", `Pod ${member} was given the resources of spec.pod.resources in place`]],
    watched: true,
  },
  createSeed: { run: createSeed, events: ({ member }) => [added(member)], watched: true },
  beginRestore: {
    run: beginRestore,
    events: ({ name }) => [["restoreBegins", `The EtcdRestore ${name} replaces the data; all members are stopped`]],
    watched: true,
  },
  beginSeed: { run: beginSeed, events: none, watched: true },
  latchClusterId: {
    run: latchClusterId,
    events: ({ clusterId }) => [["clusterCreated", `The first member serves; the cluster's id is ${clusterId}`]],
    watched: true,
  },
  addMember: { run: addMember, events: ({ member }) => [added(member)], watched: false },
  createPod: { run: createPod, events: none, watched: true },
  recreatePod: {
    run: recreatePod,
    events: ({ member }) => [["podRecreated", `Pod ${member} was made again on the volume of its member`]],
    watched: true,
  },
  noteOnClaim: { run: noteOnClaim, events: none, watched: true },
  ownClaim: { run: ownClaim, events: none, watched: true },
  growClaim: {
    run: growClaim,
    events: ({ member, to }) => [["volumeGrows", `The volume of ${member} was asked to grow to ${to}`]],
    watched: true,
  },
  retireClaim: {
    run: retireClaim,
    events: ({ member }) => [
      ["volumeKept", `The volume of ${member} is kept; delete its claim when nobody needs it any more`],
    ],
    watched: true,
  },
  deleteClaim: {
    run: deleteClaim,
    events: ({ member, because }) => [["volumeDeleted", `The claim ${member} was deleted: ${because}`]],
    watched: true,
  },
  adoptClaim: {
    run: adoptClaim,
    events: ({ member }) => [
      ["volumeAdopted", `The volume ${member} of an earlier cluster of this name was taken over`],
    ],
    watched: true,
  },
  promote: {
    run: promote,
    events: ({ member }) => [["memberPromoted", `Member ${member} holds all data and is a voter now`]],
    watched: false,
  },
  updatePeerUrl: {
    run: updatePeerUrl,
    events: ({ member, because }) => [
      ["addressChanged", `Member ${member} is found under another address now: ${because}`],
    ],
    watched: false,
  },
  moveLeader: {
    run: moveLeader,
    events: ({ because }) => [["leaderMoved", `Another member leads now: ${because}`]],
    watched: false,
  },
  removeMember: { run: removeMember, events: removalNotes, watched: false },
  deletePod: {
    run: deletePod,
    events: ({ member, because }) => [["podDeleted", `Pod ${member} deleted: ${because}`]],
    watched: true,
  },
};

/** As etcd-operator 0.9 said it. One that was set back before it served has not been upgraded. */
function upgradeNotes({ member, from, to }: ActionOf<"confirmChange">): readonly Note[] {
  if (from.version === to.version) return [];
  return [["memberUpgraded", `Member ${member} upgraded from ${from.version} to ${to.version}`]];
}

const added = (member: string): Note => ["newMemberAdded", `New member ${member} added to cluster`];

function removalNotes({ member, because, cause }: ActionOf<"removeMember">, assessment: Assessment): readonly Note[] {
  const notes: Note[] = [];
  if (cause === "wiped")
    notes.push([
      "memberLostItsData",
      `Member ${member} lost its data: ${because}. It is replaced; the others hold everything that was acknowledged`,
    ]);
  // Another will take its place, unlike that of one that is no longer wanted.
  if (cause !== "unwanted" && assessment.seats.length <= assessment.desired.size)
    notes.push(["replacingDeadMember", `The dead member ${member} is being replaced`]);
  return [...notes, ["memberRemoved", `Existing member ${member} removed from the cluster: ${because}`]];
}

/** The one place where an action finds its row: the compiler cannot see that a row and its action belong together. */
function rowOf<A extends Action>({ do: what }: A): Row<A> {
  return table[what] as unknown as Row<A>;
}

export const carryOut = (action: Action, execution: Execution): Promise<void> => rowOf(action).run(execution, action);

export const isWatched = (action: Action): boolean => rowOf(action).watched;

export function eventsOf(action: Action, assessment: Assessment): readonly NewEvent[] {
  return rowOf(action)
    .events(action, assessment)
    .map(([name, note]) => ({ ...eventOf(name, note), action: action.do }));
}

/** By its row in the table of reasons. */
export function eventOf(name: EventName, note: string): NewEvent {
  const { reason, type } = eventReasons[name];
  return { type, reason, action: "Report", note };
}
