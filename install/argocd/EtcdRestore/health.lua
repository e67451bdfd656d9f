-- Made by `node install/generate.ts` from install/health/argocd.ts.
-- A restore is done once: what is edited later does not count.
if obj.status == nil then
  return { status = "Progressing", message = "The operator has not seen it yet." }
end
local function condition(type)
  for _, one in ipairs(obj.status.conditions or {}) do
    if one.type == type then return one end
  end
  return { status = "Unknown", reason = "", message = "" }
end
if obj.status.phase == "Succeeded" then
  return { status = "Healthy", message = obj.status.message }
end
if obj.status.phase == "Failed" then
  return { status = "Degraded", message = obj.status.reason }
end
local stalled = condition("Stalled")
if stalled.status == "True" then
  return { status = "Degraded", message = stalled.message }
end
return { status = "Progressing", message = obj.status.message }
