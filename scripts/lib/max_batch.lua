-- mgb.max_batch: the largest batch for each GPU of which a step fits, found by planning; nothing is run or allocated.
local mgb, _, host = ...

-- All that mgb.run takes, so that one table serves both; what it says of the batch is passed over.
function mgb.max_batch(options)
  local what = "mgb.max_batch"
  local given, kinds = {}, host.options_kinds(host.run_options)
  kinds.load = "any"
  local o = host.read(what, options, kinds)
  for key, value in pairs(options or {}) do given[key] = value end
  for _, name in ipairs{ "batch", "global_batch", "load" } do given[name], o[name] = nil, nil end
  return host.largest_batch(host.prepare(what, o, given, 0).request)
end
