-- Which steps of a run are to be traced: trace_steps = "5-8", or one number; timed steps, counted from 0.
local _, _, host = ...

-- The first and the last of them; nil without any. `most`: timed steps there will be at most; nil: not known.
local function trace_read(what, given, most)
  if given == nil then return nil end
  local first, last = tostring(given):match("^(%d+)%-(%d+)$")
  if not first then first = tostring(given):match("^(%d+)$") end
  first, last = math.tointeger(tonumber(first)), math.tointeger(tonumber(last or first))
  if not first or not last or last < first or last > host.most_steps then
    host.fail(('%s: trace_steps: timed steps expected, such as "5-8" or 3 (from 0), got %s'):format(what, host.describe(given)))
  end
  if most and last >= most then
    host.fail(("%s: trace_steps: step %d of %d: timed steps are counted from 0 to %d"):format(what, last, most, most - 1))
  end
  return first, last
end

-- Before the session opens: refuses what cannot be. Afterwards: asks for it.
function host.trace_check(s, o)
  local open_end = o.epochs or o.target_noise or o.max_time
  trace_read(s.what, o.trace_steps, not open_end and (o.steps or 100) or nil)
end

function host.trace_ask(s, o)
  local first, last = trace_read(s.what, o.trace_steps)
  if first then s.session:trace(first, last) end
end
