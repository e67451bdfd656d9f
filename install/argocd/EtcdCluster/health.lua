-- Made by `node install/generate.ts` from install/health/argocd.ts.
-- An etcd cluster is healthy when all its members serve, and degraded when a person has to act.
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
local ready = condition("Ready")
local degraded = { Refused = true, MemberCannotStart = true, CertificatesInvalid = true, MembersApart = true, UpdateStopped = true, QuorumLost = true, LeadersDisagree = true, InvalidSpec = true, VolumesLeft = true, VolumesForeign = true, VersionDiffers = true, DataLost = true, ForeignCluster = true, Corrupt = true, NoSpace = true, AuthRequired = true, LoginRefused = true }
local suspended = { UpdateOnDelete = true }
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
