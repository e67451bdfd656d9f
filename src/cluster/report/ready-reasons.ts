// What each reason of a cluster that is not Ready means for programs that know healthy, progressing and degraded. The
// conditions Reconciling and Stalled, and the health checks for Argo CD and Flux, come from this table.

export type Meaning =
  /** It goes on by itself. */
  | "progressing"
  /** A person should look. It goes on by itself once what it waits for is there. */
  | "degraded"
  /** A person has to act: it never goes on by itself. */
  | "stalled"
  /** It waits, as somebody asked it to. */
  | "suspended";

export const readyReasons: Readonly<Record<string, Meaning>> = {
  Creating: "progressing",
  Restoring: "progressing",
  Electing: "progressing",
  Joining: "progressing",
  Scaling: "progressing",
  Updating: "progressing",
  ServiceNotReady: "progressing",
  MembersUnhealthy: "progressing",
  MembersLeaving: "progressing",
  VolumesDoomed: "progressing",
  MembersUnreachable: "progressing",
  UpdateOnDelete: "suspended",
  Refused: "degraded",
  MemberCannotStart: "degraded",
  CertificatesInvalid: "degraded",
  MembersApart: "degraded",
  UpdateStopped: "degraded",
  QuorumLost: "degraded",
  LeadersDisagree: "degraded",
  InvalidSpec: "stalled",
  VolumesLeft: "stalled",
  VolumesForeign: "stalled",
  VersionDiffers: "stalled",
  DataLost: "stalled",
  ForeignCluster: "stalled",
  Corrupt: "stalled",
  NoSpace: "stalled",
  AuthRequired: "stalled",
  LoginRefused: "stalled",
};

export const reasonsThatMean = (...meanings: Meaning[]): string[] =>
  Object.keys(readyReasons).filter((reason) => meanings.includes(readyReasons[reason] ?? "progressing"));
