// An etcd before 3.4 does not know what a learner is: asked for one it adds a voter, which takes the quorum from a
// cluster of one. So it is never asked.
import { EtcdError } from "./errors.ts";
import type { NewMember } from "./member.ts";
import { has } from "./versions/features.ts";
import { formatVersion } from "./versions/version.ts";

export function refuseLearnerOnOldServers(wanted: NewMember): void {
  if (wanted.as === "voter" || has(wanted.oldestServer, "learners")) return;
  const message = `etcd ${formatVersion(wanted.oldestServer)} knows no learners`;
  throw new EtcdError("learnersUnsupported", "MemberAdd", message);
}
