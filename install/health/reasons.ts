// What the reasons of an EtcdCluster that is not Ready mean for tools that know healthy, progressing and degraded: whether it
// goes on by itself, or a person has to act. The health checks for Argo CD and Flux are made from it.

export type Meaning =
  /** It goes on by itself. */
  | "progressing"
  /** A person has to act. */
  | "degraded"
  /** It waits, as somebody asked it to. */
  | "suspended";

export const reasons: Readonly<Record<string, Meaning>> = {
  Creating: "progressing",
  Restoring: "progressing",
  Electing: "progressing",
  Joining: "progressing",
  Scaling: "progressing",
  Updating: "progressing",
  MembersUnhealthy: "progressing",
  MembersLeaving: "progressing",
  MembersUnreachable: "progressing",
  UpdateOnDelete: "suspended",
  InvalidSpec: "degraded",
  Refused: "degraded",
  VolumesLeft: "degraded",
  MemberCannotStart: "degraded",
  CertificatesInvalid: "degraded",
  VersionDiffers: "degraded",
  UpdateStopped: "degraded",
  QuorumLost: "degraded",
  DataLost: "degraded",
  ForeignCluster: "degraded",
  LeadersDisagree: "degraded",
  Corrupt: "degraded",
  NoSpace: "degraded",
  AuthRequired: "degraded",
  LoginRefused: "degraded",
};

export const reasonsThatMean = (meaning: Meaning): string[] =>
  Object.keys(reasons).filter((reason) => reasons[reason] === meaning);
