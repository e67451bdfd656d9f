// Health checks for Argo CD: a Lua script a kind, and the entries of the ConfigMap argocd-cm that hold them. Without one,
// Argo CD takes an object of ours for healthy whatever its status says.
import { kinds } from "../../src/api/kinds.ts";
import { yamlOf } from "../manifest.ts";
import { problemsThatMean, readyReasonsThatMean } from "../../src/api/conditions.ts";

const comment = "-- Made by `node install/generate.ts` from install/health/argocd.ts.";

const waiting = `if obj.status == nil or obj.status.observedGeneration == -1 then
  return { status = "Progressing", message = "The operator has not seen it yet." }
end`;

/** A spec that was edited makes the status that of another one. */
const stale = `if obj.status.observedGeneration ~= nil and obj.metadata.generation ~= nil
  and obj.status.observedGeneration ~= obj.metadata.generation then
  return { status = "Progressing", message = "The operator has not seen the last change yet." }
end`;

const conditionOf = `local function condition(type)
  for _, one in ipairs(obj.status.conditions or {}) do
    if one.type == type then return one end
  end
  return { status = "Unknown", reason = "", message = "" }
end`;

const stalled = `local stalled = condition("Stalled")
if stalled.status == "True" then
  return { status = "Degraded", message = stalled.message }
end`;

const setOf = (names: readonly string[]): string => `{ ${names.map((name) => `${name} = true`).join(", ")} }`;

const cluster = `${comment}
-- An etcd cluster is healthy when all its members serve, and degraded when a person has to act.
${waiting}
${stale}
${conditionOf}
${stalled}
local ready = condition("Ready")
local degraded = ${setOf(readyReasonsThatMean("degraded", "stalled"))}
local suspended = ${setOf(readyReasonsThatMean("suspended"))}
if obj.status.phase == "Failed" or degraded[ready.reason] then
  return { status = "Degraded", message = ready.message or obj.status.reason }
end
if obj.spec ~= nil and obj.spec.paused then
  return { status = "Suspended", message = "The cluster is paused: spec.paused is true." }
end
if suspended[ready.reason] then
  return { status = "Suspended", message = ready.message }
end
if ready.status == "True" then
  return { status = "Healthy", message = ready.message }
end
return { status = "Progressing", message = ready.message }
`;

const backup = `${comment}
-- A backup is healthy when the last run succeeded. A series stays so while another run is under way, or is tried again.
${waiting}
${stale}
${conditionOf}
${stalled}
local problem = condition("Problem")
local passing = ${setOf(problemsThatMean("progressing"))}
if obj.status.phase == "Failed" or (problem.status == "True" and not passing[problem.reason]) then
  return { status = "Degraded", message = obj.status.Reason or problem.message }
end
if obj.status.phase == "Suspended" then
  return { status = "Suspended", message = obj.status.message }
end
if obj.status.phase == "Succeeded" or obj.status.phase == "Scheduled" or obj.status.lastBackup ~= nil then
  return { status = "Healthy", message = obj.status.message }
end
return { status = "Progressing", message = obj.status.message }
`;

const restore = `${comment}
-- A restore is done once: what is edited later does not count. Those of etcd-operator 0.9 have no phase.
${waiting}
${conditionOf}
if obj.status.phase == "Succeeded" or obj.status.succeeded then
  return { status = "Healthy", message = obj.status.message or "The cluster has the data of the backup." }
end
if obj.status.phase == "Failed" or (obj.status.reason or "") ~= "" then
  return { status = "Degraded", message = obj.status.reason }
end
${stalled}
return { status = "Progressing", message = obj.status.message }
`;

export const healthScripts: Readonly<Record<string, string>> = {
  EtcdCluster: cluster,
  EtcdBackup: backup,
  EtcdRestore: restore,
};

/** To be merged into argocd-cm: kubectl patch configmap argocd-cm --patch-file. */
export function argocdConfigMap(): string {
  const data = kinds.map(({ kind }) => [
    `resource.customizations.health.${kind.group}_${kind.kind}`,
    healthScripts[kind.kind] ?? "",
  ]);
  return `# Made by \`node install/generate.ts\`. Add it to the ConfigMap of Argo CD:
# kubectl patch configmap argocd-cm --namespace argocd --patch-file install/argocd/argocd-cm.yaml
${yamlOf({ data: Object.fromEntries(data) })}`;
}
