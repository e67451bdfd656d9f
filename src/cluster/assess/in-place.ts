// Whether a pod can run another version as it is: its image can be changed, its arguments, variables and probes cannot.
// An unknown flag ends etcd, an unknown variable is only a warning, and a setting that goes unnoticed is lost.
import { extraSettings, variableOf } from "../../api/etcd-cluster/etcd-flags.ts";
import { has } from "../../etcd/versions/features.ts";
import { hasFlag, hasSetting, type Spelling, spellingsOf, takesAs } from "../../etcd/versions/flags.ts";
import { whyByReplacement } from "../../etcd/versions/steps.ts";
import { compareVersions, type EtcdVersion, formatVersion, parseVersion } from "../../etcd/versions/version.ts";
import { parseSettings } from "../objects/settings.ts";
import { wouldAskDns } from "../objects/tls.ts";
import type { MemberPod } from "../observe/world.ts";

/** Why it cannot, in words; undefined: it can. */
export function obstacleInPlace(pod: MemberPod, to: EtcdVersion): string | undefined {
  const text = formatVersion(to);
  const from = parseVersion(pod.changedFrom?.version ?? pod.version);
  const data = from === undefined || compareVersions(from, to) > 0 ? undefined : whyByReplacement(from, to);
  if (data !== undefined) return data;
  const flag = pod.flags.find((one) => !hasFlag(to, one));
  if (flag !== undefined) return `etcd ${text} does not take --${flag}, which its command line holds`;
  const gate = pod.featureGates.find((one) => !takesAs(to, { t: "featureGate", gate: one }));
  if (gate !== undefined && hasFlag(to, "feature-gates")) return `etcd ${text} does not know the feature gate ${gate}`;
  const lost = lostSetting(pod, to);
  if (lost !== undefined) return `etcd ${text} would not see its setting ${lost}`;
  if (pod.tls.peer !== "plain" && wouldAskDns(pod.variables, to))
    return `etcd ${text} would look for the names of its peers in DNS`;
  if (pod.probes.some((path) => /\/(livez|readyz)(\?|$)/.test(path)) && !has(to, "livezReadyz"))
    return `etcd ${text} does not answer its probes`;
  // The probes of etcd-operator 0.9.
  if (pod.probes.some((program) => program.endsWith("/sh")) && has(to, "distroless"))
    return `the image of etcd ${text} has no shell, and its probes need one`;
  return undefined;
}

/** An entry of `extraArgs` that the version has, under another name than the pod gives it by. */
function lostSetting({ madeFrom, flags, variables, featureGates }: MemberPod, to: EtcdVersion): string | undefined {
  const { extraArgs = [] } = (madeFrom === undefined ? undefined : parseSettings(madeFrom))?.etcd ?? {};
  const isGiven = (spelling: Spelling): boolean =>
    spelling.t === "featureGate"
      ? featureGates.includes(spelling.gate)
      : flags.includes(spelling.name) || variables.includes(variableOf(spelling.name));
  return extraSettings(extraArgs).find(
    ({ spelling }) =>
      hasSetting(to, spelling) && !spellingsOf(spelling).some((one) => isGiven(one) && takesAs(to, one)),
  )?.written;
}
