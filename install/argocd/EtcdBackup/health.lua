-- Made by `node install/generate.ts` from install/health/argocd.ts.
-- A backup is healthy when the last run succeeded. A series stays so while another run is under way, or is tried again.
if obj.status == nil or obj.status.observedGeneration == -1 then
  return { status = "Progressing", message = "The operator has not seen it yet." }
end
if obj.status.observedGeneration ~= nil and obj.metadata.generation ~= nil
  and obj.status.observedGeneration ~= obj.metadata.generation then
  return { status = "Progressing", message = "The operator has not seen the last change yet." }
end
local function condition(type)
  for _, one in ipairs(obj.status.conditions or {}) do
    if one.type == type then return one end
  end
  return { status = "Unknown", reason = "", message = "" }
end
local stalled = condition("Stalled")
if stalled.status == "True" then
  return { status = "Degraded", message = stalled.message }
end
local problem = condition("Problem")
local passing = { ClusterNotServing = true, AttemptFailed = true }
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
