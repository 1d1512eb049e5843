-- Which single option concerns what bounds a step: for mgb.explain. No forecast of what it would bring: that is measured.
local _, _, host = ...

local on_cpu = "/cpu:0"

-- Towers meet on the CPU; an explicit place given before is the one to change.
local function merge_toggle(f, part)
  if f["asked_" .. part .. "_at"] then return ("--%s-at %s"):format(part, f.first_gpu), ("%s there instead of on %s"):format(part, on_cpu) end
  if f.asked_merge_at then return "--merge-at " .. f.first_gpu, "the towers meet there instead of on " .. on_cpu end
  return "--cpu-merge=no", ("cpu_merge = false: the towers meet on %s instead of %s"):format(f.first_gpu, on_cpu)
end

local function home_toggle(f)
  if f.asked_weights_at then return "--weights-at " .. f.first_gpu, "the weights live there instead of on " .. on_cpu end
  return "--cpu-relocation=no", ("cpu_relocation = false: the weights live on %s instead of %s"):format(f.first_gpu, on_cpu)
end

local function mirror_toggle(f)
  if f.gpus < 2 then return nil end
  return "--strategy allreduce", "every GPU keeps its own weights, and gradients are summed by all of them together"
end

local function batch_toggle(f)
  if f.batch_mode == "strong" then return ("--global-batch %d"):format(2 * f.global_batch), "more work a step for the same exchange" end
  return ("--batch %d"):format(2 * f.batch_per_gpu), "more work a step for the same exchange"
end

-- By group of parts: the option, and what it does. nil: none.
local toggles = {
  join = function(f)
    if f.join_at == on_cpu then return merge_toggle(f, "join") end
    return "--strategy gradients", "each tower takes its own loss, so that no outputs are joined"
  end,
  loss = function(f) if f.loss_at == on_cpu then return merge_toggle(f, "loss") end end,
  sum = function(f)
    if f.strategy == "allreduce" then
      if f.overlap == 0 then return "--overlap=yes", "buckets of gradients move while backward still runs" end
      if f.wire_type == "f32" then return "--wire-type bf16", "gradients travel in half the bytes, rounded" end
      return batch_toggle(f)
    end
    if f.sum_at == on_cpu then return merge_toggle(f, "sum") end
    return mirror_toggle(f)
  end,
  fetch = function(f)
    if f.weights_at == on_cpu then return home_toggle(f) end
    if f.staged == 0 and f.gpus < 2 then return "--staged=yes", "the next step's weights are fetched early" end
    return mirror_toggle(f)
  end,
  update = function(f)
    if f.update_at == on_cpu and f.asked_update_at then
      return "--update-at " .. f.first_gpu, "the optimizer runs there instead of on " .. on_cpu
    end
    if f.update_at == on_cpu then return home_toggle(f) end
    return mirror_toggle(f)
  end,
  input = function(f)
    if f.backend == "cuda" and f.pinned == "false" then return "--pinned=yes", "batches lie in page-locked memory" end
    return "--data random", "one batch again and again: what a step takes when nothing is read"
  end,
  wait = batch_toggle,
  compute = function(f)
    if f.oversubscribed == 1 then return ("--gpus %d"):format(math.max(1, f.gpus // 2)), "towers share CPU cores: with fewer, each has more" end
    if f.gpus >= 1 then return ("--gpus %d"):format(2 * f.gpus), "the towers compute, which no place of weights changes; more of them share the work" end
  end,
}

local doing = { join = "joining the towers' outputs", loss = "the loss on " .. on_cpu, sum = "summing gradients", fetch = "fetching weights",
                update = "the update", input = "the batch", wait = "waiting for launches and the host", compute = "forward and backward" }

-- The group a part of the path belongs to.
function host.explain_group(f, part)
  if part.phase ~= "forward" and part.phase ~= "backward" then return part.phase end
  return part.where == on_cpu and f.gpus > 0 and "loss" or "compute"
end

local no_place = { ["--batch"] = true, ["--global-batch"] = true, ["--gpus"] = true, ["--data"] = true }

-- Options with the shares of what they concern, the largest first: { option =, why =, share =, of =, placement = }.
function host.explain_toggles(f, groups)
  local list, by = {}, {}
  for _, group in ipairs{ "compute", "join", "loss", "sum", "fetch", "update", "input", "wait" } do
    local share = groups[group] or 0
    local option, why = toggles[group](f)
    local strange = f.strategy == "independent" and option and option:find("^%-%-strategy ") -- it is what to compare with
    if option and share > 0 and not strange then
      local toggle = by[option]
      if not toggle then
        toggle = { option = option, why = why, share = 0, of = {}, placement = not no_place[option:match("^%S+")] }
        by[option], list[#list + 1] = toggle, toggle
      end
      toggle.share = toggle.share + share
      toggle.of[#toggle.of + 1] = doing[group]
    end
  end
  table.sort(list, function(a, b) return a.share > b.share end)
  return list
end

-- What the rows copied between GPUs by way of the host, without peer access, and what that costs a step as far as both ways were
-- once tried on this machine: MB, ms by way of the host, ms by peer access (nil: not known). nil: nothing did.
local function staged_sum(f, rows)
  local links, mb, staged_ms, peer_ms = {}, 0, 0, 0
  for _, link in ipairs(host.query([[SELECT from_device || '->' || to_device AS way, peer_access, peer_gbps, staged_gbps FROM link
    WHERE machine_id = ? AND backend = ?]], f.machine_id, f.backend)) do
    links[link.way] = link
  end
  for _, row in ipairs(rows) do
    local link = links[row.where] or {}
    if row.mb and row.where:find("^/gpu:%d+%->/gpu:%d+$") and (f.peer_access == "false" or link.peer_access ~= 1) then
      local known = staged_ms and link.peer_gbps and link.staged_gbps
      mb = mb + row.mb
      staged_ms = known and staged_ms + row.mb / link.staged_gbps or nil
      peer_ms = known and peer_ms + row.mb / link.peer_gbps or nil
    end
  end
  if mb > 0 then return mb, staged_ms, peer_ms end
end

-- nil: no copy between GPUs passed through the host. Devices that share a GPU are not looked at.
function host.explain_staged(f, rows)
  if f.backend ~= "cuda" or f.logical == 1 then return nil end
  local mb, staged_ms, peer_ms = staged_sum(f, rows)
  if not mb then return nil end
  local text = ("Between GPUs %s MB a step go by way of the host: %s"):format(host.number_text(mb),
    f.peer_access == "false" and "peer access is off" or "no peer access is in use")
  if not staged_ms then return text .. "." end
  return ("%s.\n  At the rates measured here that is %s ms of copying, by peer access %s ms."):format(text,
    host.number_text(staged_ms), host.number_text(peer_ms))
end
