// The table of actions: for each, what must be true, read live, before it is done; how it is done, which events it makes,
// and whether a watch reports it. A new action is a member of the union in `plan/actions.ts` and a row here.
import type { KnownEvent } from "../../api/events.ts";
import type { Assessment } from "../assess/assess.ts";
import type { MemberName } from "../objects/names.ts";
import { secretName } from "../objects/tls.ts";
import type { ClusterAction, ActionOf } from "../plan/actions.ts";
import type { ClusterExecution } from "./execution.ts";
import {
  adoptClaim,
  deleteClaim,
  growClaim,
  noteOnClaim,
  noteSettings,
  ownClaim,
  recreatePod,
  retireClaim,
} from "./on-claims.ts";
import {
  addMember,
  cancelDowngrade,
  disarmNoSpace,
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
  startAgain,
} from "./on-running-pods.ts";
import { beginRestore, beginSeed, createFirstMembers, nameFirstMembers, startFirstMembers } from "./on-restore.ts";
import { makeCertificates, markServing, noteTrust, renewFiles, writeCertificate } from "./on-secrets.ts";
import { confirm, type Precondition } from "./preconditions.ts";
import {
  applyBudget,
  applyService,
  createPod,
  createSeed,
  deletePod,
  guardPod,
  labelPod,
  recordClusterId,
  recordLogVersion,
  resizePod,
} from "./on-kube.ts";
import { eventOf, type Note } from "../../controllers/event.ts";

/** It takes away nothing that cannot be had again, or what it writes over is in the precondition of the write itself. */
const destroysNothing = "nothing";

interface Row<A extends ClusterAction> {
  /** What is read live before it, so that no old view destroys anything. */
  readonly requires: typeof destroysNothing | ((action: A) => readonly [Precondition, ...Precondition[]]);
  readonly run: (execution: ClusterExecution, action: A) => Promise<void>;
  /** Events of the EtcdCluster, once it is done. None: it can be seen in its object, or was reported with the member. */
  readonly events: (action: A, assessment: Assessment) => readonly Note[];
  /** Whether a watch brings the cluster back. What is done to etcd brings no event. */
  readonly watched: boolean;
}

type Table = { readonly [D in ClusterAction["do"]]: Row<ActionOf<D>> };

const none = (): readonly Note[] => [];

const clusterAsSeen: Precondition = { holds: "clusterAsSeen" };
const neverServed: Precondition = { holds: "neverServed" };

const clusterOnly = (): readonly [Precondition] => [clusterAsSeen];

/** Who owns a claim, its role and its data decide whether a volume is kept, used or deleted. */
const ofClaim = ({ member, uid }: { member: MemberName; uid: string }): readonly [Precondition, Precondition] => [
  clusterAsSeen,
  { holds: "claimAsSeen", member, uid },
];

function deletionRequires(action: ActionOf<"deletePod">): readonly [Precondition, ...Precondition[]] {
  const { member, uid, unless, keeps } = action;
  if (keeps !== undefined) return [...ofClaim({ member, uid: keeps }), { holds: "othersStay", member }];
  if (unless === undefined) return [clusterAsSeen];
  return unless === "served"
    ? [clusterAsSeen, neverServed, { holds: "podServesNobody", member, uid }]
    : [clusterAsSeen, { holds: "podNeverReady", member, uid }];
}

const table: Table = {
  applyService: { requires: destroysNothing, run: applyService, events: none, watched: true },
  applyBudget: { requires: destroysNothing, run: applyBudget, events: none, watched: true },
  labelPod: {
    requires: destroysNothing,
    run: labelPod,
    events: ({ member }) => [["labelsRestored", `The labels that select pod ${member} were restored`]],
    watched: true,
  },
  guardPod: { requires: destroysNothing, run: guardPod, events: none, watched: true },
  relabelPod: { requires: destroysNothing, run: relabelPod, events: none, watched: true },
  createImageCheck: { requires: destroysNothing, run: createImageCheck, events: none, watched: true },
  readImageCheck: { requires: destroysNothing, run: readImageCheck, events: none, watched: true },
  deleteImageCheck: { requires: destroysNothing, run: deleteImageCheck, events: none, watched: true },
  changeImage: {
    requires: ({ member, uid }) => [clusterAsSeen, { holds: "podThere", member, uid }, { holds: "othersStay", member }],
    run: changeImage,
    events: none,
    watched: true,
  },
  confirmChange: { requires: destroysNothing, run: confirmChange, events: upgradeNotes, watched: true },
  enableDowngrade: {
    requires: clusterOnly,
    run: enableDowngrade,
    events: ({ to, because }) => [["downgradeEnabled", `etcd prepares for ${to}: ${because}`]],
    watched: false,
  },
  cancelDowngrade: {
    requires: clusterOnly,
    run: cancelDowngrade,
    events: ({ because }) => [["downgradeCancelled", `The downgrade was cancelled: ${because}`]],
    watched: false,
  },
  disarmNoSpace: {
    requires: destroysNothing,
    run: disarmNoSpace,
    events: () => [
      ["alarmDisarmed", "Every database has room again, and etcd takes writes: its alarm (NOSPACE) was disarmed"],
    ],
    watched: false,
  },
  recordLogVersion: { requires: destroysNothing, run: recordLogVersion, events: none, watched: true },
  makeCertificates: {
    requires: ({ authority }) => [clusterAsSeen, { holds: "authorityAsSeen", use: authority }],
    run: makeCertificates,
    events: ({ authority, what, because }, { world: { cluster } }) => [
      what === "authority"
        ? ["authorityMade", `A CA was created in ${secretName(cluster, authority)}: ${because}`]
        : what === "withoutPrevious"
          ? ["previousCaForgotten", `The previous CA was removed from ${secretName(cluster, authority)}: ${because}`]
          : ["certificatesRenewed", `Certificates of ${what.join(", ")} were renewed: ${because}`],
    ],
    watched: true,
  },
  writeCertificate: {
    requires: clusterOnly,
    run: writeCertificate,
    events: ({ use, because }, { world: { cluster } }) => [
      ["certificateWritten", `The Secret ${secretName(cluster, use)} was written: ${because}`],
    ],
    watched: true,
  },
  noteTrust: { requires: destroysNothing, run: noteTrust, events: none, watched: true },
  startAgain: {
    requires: ({ member, uid }) => [clusterAsSeen, { holds: "podThere", member, uid }],
    run: startAgain,
    events: ({ member, because }) => [
      ["memberStartedAgain", `Member ${member} is started again in its pod: ${because}`],
    ],
    watched: true,
  },
  renewFiles: { requires: destroysNothing, run: renewFiles, events: none, watched: true },
  markServing: { requires: destroysNothing, run: markServing, events: none, watched: true },
  resizePod: {
    requires: ({ member, uid }) => [{ holds: "podThere", member, uid }],
    run: resizePod,
    events: ({ member }) => [["podResized", `Pod ${member} was given the resources of spec.pod.resources in place`]],
    watched: true,
  },
  createSeed: {
    requires: () => [clusterAsSeen, neverServed, { holds: "noUnseenVolume" }],
    run: createSeed,
    events: ({ member }) => [added(member)],
    watched: true,
  },
  nameFirstMembers: {
    requires: () => [clusterAsSeen, neverServed, { holds: "noUnseenMember" }],
    run: nameFirstMembers,
    events: none,
    watched: true,
  },
  createFirstMembers: {
    requires: () => [clusterAsSeen, neverServed, { holds: "noUnseenVolume" }, { holds: "onlyFirstMembers" }],
    run: createFirstMembers,
    events: ({ members }) => members.map(added),
    watched: true,
  },
  startFirstMembers: {
    requires: () => [clusterAsSeen, neverServed, { holds: "onlyFirstMembers" }],
    run: startFirstMembers,
    events: none,
    watched: true,
  },
  beginRestore: {
    requires: ({ name, uid }) => [clusterAsSeen, { holds: "restoreUnderWay", name, uid }],
    run: beginRestore,
    events: ({ name }) => [["restoreBegins", `The EtcdRestore ${name} replaces the data; all members are stopped`]],
    watched: true,
  },
  beginSeed: {
    requires: () => [clusterAsSeen, { holds: "noMemberLeft" }],
    run: beginSeed,
    events: none,
    watched: true,
  },
  recordClusterId: {
    requires: destroysNothing,
    run: recordClusterId,
    events: ({ clusterId }) => [["clusterCreated", `The first member serves; the cluster's id is ${clusterId}`]],
    watched: true,
  },
  addMember: { requires: destroysNothing, run: addMember, events: ({ member }) => [added(member)], watched: false },
  createPod: { requires: destroysNothing, run: createPod, events: none, watched: true },
  recreatePod: {
    requires: ofClaim,
    run: recreatePod,
    events: ({ member }) => [["podRecreated", `Pod ${member} was created again on the volume of its member`]],
    watched: true,
  },
  noteOnClaim: { requires: ofClaim, run: noteOnClaim, events: none, watched: true },
  noteSettings: { requires: ofClaim, run: noteSettings, events: none, watched: true },
  ownClaim: { requires: ofClaim, run: ownClaim, events: none, watched: true },
  growClaim: {
    requires: ofClaim,
    run: growClaim,
    events: ({ member, to }) => [["volumeGrows", `The volume of ${member} is being expanded to ${to}`]],
    watched: true,
  },
  retireClaim: {
    requires: ofClaim,
    run: retireClaim,
    events: ({ member }) => [
      ["volumeKept", `The volume of ${member} is kept; delete its claim when it is no longer needed`],
    ],
    watched: true,
  },
  deleteClaim: {
    requires: (action) => [...ofClaim(action), ...(action.unlessServed === true ? [neverServed] : [])],
    run: deleteClaim,
    events: ({ member, because }) => [["volumeDeleted", `The claim ${member} was deleted: ${because}`]],
    watched: true,
  },
  adoptClaim: {
    requires: (action) => [...ofClaim(action), neverServed],
    run: adoptClaim,
    events: ({ member }) => [
      ["volumeAdopted", `The volume ${member} of an earlier cluster of this name was taken over`],
    ],
    watched: true,
  },
  promote: {
    // Who votes is needed: 1 of 1 becomes 2 of 2, and with a pod that goes the quorum would go for good.
    requires: ({ member }) => [{ holds: "podStays", member }],
    run: promote,
    events: ({ member }) => [["memberPromoted", `Member ${member} holds all data and is a voter now`]],
    watched: false,
  },
  updatePeerUrl: {
    requires: destroysNothing,
    run: updatePeerUrl,
    events: ({ member, because }) => [["addressChanged", `The peer URL of member ${member} was changed: ${because}`]],
    watched: false,
  },
  moveLeader: {
    requires: clusterOnly,
    run: moveLeader,
    events: ({ because }) => [["leaderMoved", `Another member leads now: ${because}`]],
    watched: false,
  },
  removeMember: {
    requires: ({ member, pod }) => [
      clusterAsSeen,
      { holds: "podAsSeen", member, pod },
      { holds: "othersStay", member },
    ],
    run: removeMember,
    events: removalNotes,
    watched: false,
  },
  deletePod: {
    requires: deletionRequires,
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

const added = (member: MemberName): Note => ["newMemberAdded", `New member ${member} added to cluster`];

function removalNotes({ member, because, cause }: ActionOf<"removeMember">, assessment: Assessment): readonly Note[] {
  const notes: Note[] = [];
  if (cause === "wiped")
    notes.push([
      "memberLostItsData",
      `Member ${member} lost its data: ${because}. It is replaced; the others hold everything that was acknowledged`,
    ]);
  // Another will take its place, unlike that of one that is no longer wanted.
  if (cause !== "unwanted" && assessment.instances.length <= assessment.desired.size)
    notes.push(["replacingDeadMember", `The dead member ${member} is being replaced`]);
  return [...notes, ["memberRemoved", `Existing member ${member} removed from the cluster: ${because}`]];
}

/** The one place where an action finds its row: the compiler cannot see that a row and its action belong together. */
function rowOf<A extends ClusterAction>({ do: what }: A): Row<A> {
  return table[what] as unknown as Row<A>;
}

/** Undefined: it destroys nothing. */
export function requirementsOf(action: ClusterAction): readonly Precondition[] | undefined {
  const { requires } = rowOf(action);
  return requires === destroysNothing ? undefined : requires(action);
}

export async function carryOut(action: ClusterAction, execution: ClusterExecution): Promise<void> {
  await confirm(requirementsOf(action) ?? [], execution);
  await rowOf(action).run(execution, action);
}

export const isWatched = (action: ClusterAction): boolean => rowOf(action).watched;

export function eventsOf(action: ClusterAction, assessment: Assessment): readonly KnownEvent[] {
  return rowOf(action)
    .events(action, assessment)
    .map((note) => eventOf(note, action.do));
}
