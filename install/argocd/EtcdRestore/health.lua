-- Made by `node install/generate.ts` from install/health/argocd.ts.
-- A restore is done once: what is edited later does not count. Those of etcd-operator 0.9 have no phase.
if obj.status == nil or obj.status.observedGeneration == -1 then
  return { status = "Progressing", message = "The operator has not seen it yet." }
end
local function condition(type)
  for _, one in ipairs(obj.status.conditions or {}) do
    if one.type == type then return one end
  end
  return { status = "Unknown", reason = "", message = "" }
end
if obj.status.phase == "Succeeded" or obj.status.succeeded then
  return { status = "Healthy", message = obj.status.message or "The cluster has the data of the backup." }
end
if obj.status.phase == "Failed" or (obj.status.reason or "") ~= "" then
  return { status = "Degraded", message = obj.status.reason }
end
local stalled = condition("Stalled")
if stalled.status == "True" then
  return { status = "Degraded", message = stalled.message }
end
return { status = "Progressing", message = obj.status.message }
