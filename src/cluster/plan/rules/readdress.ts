// Members whose names are in another domain than `spec.pod.ClusterDomain` says now. Those that serve each other stay as they
// are, for they are found; one that nobody can find yet is given the right name, so that a wrong domain can be corrected.
import type { Member } from "../../../etcd/member.ts";
import { isHealthy, type Instance } from "../../assess/instances.ts";
import { hostOf, memberOfPeerUrl } from "../../objects/names.ts";
import type { ClusterDecision } from "../actions.ts";
import type { Situation } from "../rule.ts";
import { removeGone } from "../safety.ts";
import { delays } from "../../../controllers/delays.ts";

export function readdress(situation: Situation): ClusterDecision | undefined {
  const { desired, learners, voters } = situation;
  // An update makes voters of learners in some versions, so they are replaced: that costs nothing.
  for (const instance of learners.filter((one) => isElsewhere(one, situation))) {
    const because = "its name is in another domain than spec.pod.ClusterDomain says";
    const actions = removeGone(situation, instance, because);
    if (actions !== undefined)
      return { actions, because: `${instance.name} is replaced: ${because}`, requeueAfter: delays.atOnce };
  }
  const [only, ...others] = voters;
  if (only === undefined || others.length > 0 || learners.length > 0 || desired.size === 1) return undefined;
  if (!isElsewhere(only, situation) || !isHealthy(only)) return undefined;
  return {
    actions: [{ do: "updatePeerUrl", id: only.member.id, member: only.name, because: "its domain has changed" }],
    because: `${only.name} is to be found by those that join it`,
    requeueAfter: delays.atOnce,
  };
}

function isElsewhere({ member, name }: Instance, { desired }: Situation): boolean {
  return hostsOf(member).some((host) => host !== hostOf(desired.cluster, name)) && isOurs(member, desired);
}

/** In the form that names have here. What has another is an older operator's, and found as it is. */
function isOurs({ peerUrls }: Member, { cluster }: Situation["desired"]): boolean {
  return peerUrls.every((url) => memberOfPeerUrl(cluster, url) !== undefined);
}

const hostsOf = ({ peerUrls }: Member): string[] =>
  peerUrls.flatMap((url) => (URL.canParse(url) ? [new URL(url).hostname] : []));
