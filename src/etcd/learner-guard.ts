// An etcd before 3.4 ignores `isLearner` and adds a voter, which costs a cluster of one its quorum. So nobody may ask
// such a server for a learner.
import { EtcdError } from "./errors.ts";
import type { NewMember } from "./member.ts";
import { has } from "./versions/features.ts";
import { formatVersion } from "./versions/version.ts";

export function refuseLearnerOnOldServers(wanted: NewMember): void {
  if (wanted.as === "voter" || has(wanted.oldestServer, "learners")) return;
  const message = `etcd ${formatVersion(wanted.oldestServer)} does not support learners`;
  throw new EtcdError("learnersUnsupported", "MemberAdd", message);
}
