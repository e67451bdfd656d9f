// What is wrong with an EtcdCluster, in sentences that say what to do: everything that the API server refuses, and what
// it cannot see, because it takes knowledge of etcd's versions or of Kubernetes' own types.
import { has, oldestSupported } from "../../etcd/versions/features.ts";
import { hasSetting, spellingsOf } from "../../etcd/versions/flags.ts";
import { type EtcdVersion, formatVersion, isAtLeast, parseVersion, version } from "../../etcd/versions/version.ts";
import { check } from "../schema/check.ts";
import { complete } from "../schema/complete.ts";
import type { EtcdCluster } from "./etcd-cluster.ts";
import {
  dangerousFlags,
  extraSettings,
  fieldsOfFlags,
  operatorsFlags,
  operatorsVariables,
  variableOf,
} from "./etcd-flags.ts";
import { annotationProblems, labelProblems } from "./label-problems.ts";
import { resourceProblems } from "./resource-problems.ts";
import { argForm, nameRules, ownedFlags, typedFlags } from "./rules.ts";
import { type CompleteSpec, type PodPolicy, specSchema } from "./spec.ts";
import { versionOf } from "./version.ts";

/** Empty when all is well. Given the object as it is stored: defaults are not needed and do no harm. `made`: see `withDefaults`. */
export function problemsOf(cluster: EtcdCluster, made: readonly string[] = []): string[] {
  const ofName = nameRules.filter((rule) => !rule.holds(cluster.metadata?.name ?? "")).map((rule) => rule.says);
  if (cluster.spec === undefined || cluster.spec === null) return [...ofName, "spec is missing: it must be set."];
  const spec = { ...complete(specSchema, cluster.spec), version: versionOf(cluster, made) };
  return [...ofName, ...check(specSchema, cluster.spec, "spec"), ...versionProblems(spec), ...podProblems(spec.pod)];
}

function versionProblems(spec: CompleteSpec): string[] {
  const wanted = parseVersion(spec.version);
  // Its form has been complained about already, and nothing else can be said.
  if (wanted === undefined) return [];
  const text = formatVersion(wanted);
  if (!isAtLeast(wanted, oldestSupported) || wanted.major !== oldestSupported.major)
    return [
      `spec.version is ${text}, but the operator supports only etcd ${formatVersion(oldestSupported)} and newer 3.x: choose one of those.`,
    ];
  return [
    ...extraArgsProblems(spec, wanted),
    ...compactionProblems(spec, wanted),
    ...environmentProblems(spec, wanted),
  ];
}

function extraArgsProblems({ etcd }: CompleteSpec, wanted: EtcdVersion): string[] {
  const args = (etcd.extraArgs ?? []).filter(
    (arg) => argForm.holds([arg]) && ownedFlags.holds([arg]) && typedFlags.holds([arg]),
  );
  return extraSettings(args).flatMap(({ written, spelling, value }) => {
    if (!hasSetting(wanted, spelling))
      return [
        `spec.etcd.extraArgs contains ${written}, which etcd ${formatVersion(wanted)} does not have: remove it, or choose a version that has it.`,
      ];
    // It may have to be given as a variable, and etcd takes an empty variable for none.
    return value === ""
      ? [`spec.etcd.extraArgs contains ${written} with an empty value: set a value or remove it.`]
      : [];
  });
}

function compactionProblems({ etcd }: CompleteSpec, wanted: EtcdVersion): string[] {
  if (has(wanted, "autoCompactionMode")) return [];
  const onlyHours = etcd.autoCompactionMode === undefined && !/[a-z]/.test(etcd.autoCompactionRetention ?? "");
  return onlyHours
    ? []
    : [
        `etcd ${formatVersion(wanted)} can only compact by hours: remove spec.etcd.autoCompactionMode, and set spec.etcd.autoCompactionRetention to a number of hours.`,
      ];
}

/** From here on etcd ends when a flag and a variable set the same; before, the flag won. */
const conflictsAreFatal = version("3.4.0");

function environmentProblems({ etcd, pod }: CompleteSpec, wanted: EtcdVersion): string[] {
  const refused = isAtLeast(wanted, conflictsAreFatal) ? operatorsFlags : [...operatorsVariables, ...dangerousFlags];
  const variables = new Set((pod.etcdEnv ?? []).map((entry) => entry.name));
  const owned = refused
    .map(variableOf)
    .filter((name) => variables.has(name))
    .map((name) => `spec.pod.etcdEnv contains ${name}, which only the operator may set: remove it.`);
  const twice = [...fieldsOfFlags]
    .filter(([flag, field]) => etcd[field] !== undefined && variables.has(variableOf(flag)))
    .map(
      ([flag, field]) =>
        `spec.pod.etcdEnv contains ${variableOf(flag)}, and spec.etcd.${field} is set as well: remove one of them.`,
    );
  const again = extraSettings(etcd.extraArgs ?? []).flatMap(({ written, spelling }) =>
    [...new Set(spellingsOf(spelling).map((other) => variableOf(other.t === "flag" ? other.name : "feature-gates")))]
      .filter((name) => variables.has(name))
      .map(
        (name) =>
          `spec.pod.etcdEnv contains ${name}, and spec.etcd.extraArgs contains ${written}, which is the same setting for etcd: remove one of them.`,
      ),
  );
  return [...owned, ...twice, ...again];
}

function podProblems(pod: PodPolicy): string[] {
  return [
    ...labelProblems("spec.pod.labels", pod.labels ?? {}),
    ...annotationProblems("spec.pod.annotations", pod.annotations ?? {}),
    ...labelProblems("spec.pod.nodeSelector", pod.nodeSelector ?? {}),
    ...resourceProblems("spec.pod.resources", pod.resources ?? {}),
    ...claimProblems(pod),
  ];
}

function claimProblems({ persistentVolumeClaimSpec: claim }: PodPolicy): string[] {
  if (claim === undefined) return [];
  const problems: string[] = [];
  if ((claim.accessModes ?? []).length === 0)
    problems.push("spec.pod.persistentVolumeClaimSpec.accessModes is missing: set it to [ReadWriteOnce].");
  if (claim.resources?.requests?.["storage"] === undefined)
    problems.push(
      "spec.pod.persistentVolumeClaimSpec.resources.requests.storage is missing: set the size of the volume, for example 10Gi.",
    );
  return problems;
}
