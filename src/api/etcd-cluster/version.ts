// Which version of etcd an EtcdCluster asks for that names none. The default is for clusters that have yet to begin: one
// that exists keeps the version that it runs, so no operator with a newer default changes it.
import { compareVersions, formatVersion, parseVersion } from "../../etcd/versions/version.ts";
import { isJsonObject } from "../schema/complete.ts";

/** The version that a new cluster begins with. A newer default changes no cluster that exists. */
export const defaultVersion = "3.6.16";

/** The default of etcd-operator 0.9. */
export const inheritedVersion = "3.2.13";

interface Named {
  readonly spec?: unknown;
  readonly status?: unknown;
}

/** `made`: what its pods and volumes were made in, where that is known; a status may be lost, or not written yet. */
export function versionOf({ spec, status }: Named, made: readonly string[] = []): string {
  const asked = textIn(spec, "version").trim().replace(/^v+/, "");
  if (asked !== "") return asked;
  const runs = parseVersion(textIn(status, "currentVersion"));
  if (runs !== undefined) return formatVersion(runs);
  return commonest(made) ?? (isOfOldOperator(spec) ? inheritedVersion : defaultVersion);
}

/** Of two that are as many, the older, beside which every other can run. */
function commonest(texts: readonly string[]): string | undefined {
  const versions = texts.map(parseVersion).filter((one) => one !== undefined);
  const count = (text: string): number => versions.filter((one) => formatVersion(one) === text).length;
  const [most] = versions
    .toSorted(compareVersions)
    .map(formatVersion)
    .toSorted((a, b) => count(b) - count(a));
  return most;
}

/**
 * It has a field that only etcd-operator 0.9 and its predecessors act on. What they stored themselves names its version;
 * this is a manifest from their time that is applied again. An empty field is what Go clients send for nothing.
 */
function isOfOldOperator(spec: unknown): boolean {
  if (!isJsonObject(spec)) return false;
  const pod = isJsonObject(spec["pod"]) ? spec["pod"] : {};
  const isSet = (value: unknown): boolean => ![undefined, null, "", 0].some((nothing) => nothing === value);
  return (
    ["baseImage", "backup", "restore", "selfHosted"].some((field) => isSet(spec[field])) ||
    ["busyboxImage", "DNSTimeoutInSecond", "automountServiceAccountToken"].some((field) => isSet(pod[field]))
  );
}

function textIn(object: unknown, field: string): string {
  const value = isJsonObject(object) ? object[field] : undefined;
  return typeof value === "string" ? value : "";
}
