-- What planning alone tells, nothing run or allocated: mgb.plan, what a step holds and whether that fits; mgb.max_batch, the
-- largest batch for each GPU of which a step fits.
local mgb, _, host = ...

-- All that mgb.run takes, so that one table serves both, without `passed_over`.
local function prepare(what, options, passed_over)
  local given, kinds = {}, host.options_kinds(host.run_options)
  kinds.load = "any"
  local o = host.read(what, options, kinds)
  for key, value in pairs(options or {}) do given[key] = value end
  for _, name in ipairs(passed_over) do given[name], o[name] = nil, nil end
  return host.prepare(what, o, given, 0)
end

function mgb.max_batch(options)
  return host.largest_batch(prepare("mgb.max_batch", options, { "batch", "global_batch", "load" }).request)
end

-- What does not fit is an answer, all else that cannot be planned is refused as a run of it would be.
function mgb.plan(options)
  local f = host.forecast(prepare("mgb.plan", options, { "load" }).request)
  if f.status ~= 0 and f.status ~= host.status_oom then host.raise(f.status, f.message) end
  return { fits = f.status == 0, message = f.message ~= "" and f.message or nil, backend = f.backend,
           fullest_gpu = f.gpu ~= "" and f.gpu or nil, gpu_bytes = f.gpu_bytes, cpu_bytes = f.cpu_bytes }
end
