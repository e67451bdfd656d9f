// The faults by name: what each does, and what a cluster has to be like for it. How they are done is in `inject.ts`.

export interface FaultKind {
  readonly what: string;
  /** With fewer members it makes no sense, or costs the data by design. */
  readonly members: number;
  /** Members without a volume lose their data, so enough others have to be left. */
  readonly losesData?: true;
  /** It needs a volume with a size. */
  readonly onVolumes?: true;
  /** Its second half waits until the operator has mended the first. */
  readonly waitsForOperator?: true;
  /** It lasts until it is undone. */
  readonly lasts?: true;
}

const faultKinds = {
  none: { what: "nothing; shows what the changes alone do", members: 1 },
  "kill-follower": { what: "a follower's process is killed", members: 3 },
  "kill-leader": { what: "the leader's process is killed", members: 1 },
  "kill-two": { what: "the processes of two members are killed, one right after the other", members: 3 },
  "pause-follower": { what: "a follower's process is paused", members: 3, lasts: true },
  "pause-leader": { what: "the leader's process is paused", members: 3, lasts: true },
  "delete-follower": { what: "a follower's pod is deleted, with its data", members: 3, losesData: true },
  "delete-leader": { what: "the leader's pod is deleted, with its data", members: 3, losesData: true },
  "delete-two": {
    what: "a member's pod is deleted, and another one's as soon as the first is replaced",
    members: 3,
    losesData: true,
    waitsForOperator: true,
  },
  "kill-operator": { what: "the operator's process is killed", members: 1 },
  "pause-operator": { what: "the operator's process is paused", members: 1, lasts: true },
  "delete-operator": { what: "the operator's pod is deleted", members: 1 },
  "node-off": { what: "a node with a member loses power", members: 3, lasts: true },
  "all-nodes-off": { what: "all nodes lose power at once", members: 1, lasts: true },
  "cut-node": { what: "a node with a member is cut off", members: 3, lasts: true },
  partition: { what: "the leader and the other members cannot reach each other", members: 3, lasts: true },
  "one-way": { what: "the leader hears the other members, and they do not hear it", members: 3, lasts: true },
  delay: { what: "packets of a node with a member are delayed by 100 ms", members: 3, lasts: true },
  loss: { what: "a fifth of the packets of a node with a member is lost", members: 3, lasts: true },
  "full-disk": { what: "a follower's disk is full", members: 3, onVolumes: true, lasts: true },
  "slow-disk": { what: "a member's disk does 20 writes a second", members: 3, onVolumes: true, lasts: true },
  "freeze-api": { what: "the API server is paused", members: 1, lasts: true },
  "restart-api": { what: "the API server is killed and started again", members: 1 },
  "stop-dns": { what: "DNS is stopped", members: 1, lasts: true },
  "freeze-dns": { what: "DNS does not answer", members: 1, lasts: true },
} satisfies Readonly<Record<string, FaultKind>>;

export type FaultName = keyof typeof faultKinds;
export const faults: Readonly<Record<FaultName, FaultKind>> = faultKinds;
export const faultNames = Object.keys(faultKinds) as readonly FaultName[];
