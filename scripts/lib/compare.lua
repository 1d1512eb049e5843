-- mgb.compare: is b faster than a? Sides are results, rows of a sweep or of the database, run ids, the words that mgbench
-- compare takes ("tag:good", "sweep:p/3"), or lists of these: repetitions.
local mgb, _, host = ...

local comparison_type = { __name = "comparison" }

-- The line, and what it is worth: why there is no verdict, a floor that hides more than usual, and what befell the runs.
function comparison_type.__tostring(c)
  local lines = { c.text, c.reason }
  if c.floor > 0.01 then
    lines[#lines + 1] = ("differences up to %s %% count as none: noise floor %s"):format(host.number_text(100 * c.floor), c.floor_source)
  end
  lines[#lines + 1] = c.remarks
  return host.shown_text(table.concat(lines, "\n")) -- names in it may come from a results file of others
end

-- Adds what `value` stands for to the words and segments of a side.
local function side_add(what, value, words, segments, nested)
  local kind = math.type(value) or type(value)
  if kind == "integer" then
    words[#words + 1] = tostring(value)
  elseif kind == "string" and value ~= "" then
    words[#words + 1] = value
  elseif kind == "table" and value.segment_id and value.segment_id ~= 0 then
    segments[#segments + 1] = value.segment_id
  elseif kind == "table" and value.run_id and value.run_id ~= 0 then
    words[#words + 1] = tostring(value.run_id)
  elseif kind == "table" and not nested and #value > 0 then
    for i, one in ipairs(value) do side_add(("%s[%d]"):format(what, i), one, words, segments, true) end
  elseif kind == "table" and (value.segment_id or value.run_id) then
    host.fail(("mgb.compare: %s was not recorded: nothing of it can be compared"):format(what))
  else
    host.fail(("mgb.compare: %s: a result, a row, a run's id, words as \"tag:good\", or a list of these expected, got %s")
              :format(what, kind == "table" and "an empty list" or host.describe(value)))
  end
end

local function side_read(what, value)
  local words, segments = {}, {}
  side_add(what, value, words, segments)
  return #words > 0 and table.concat(words, ",") or nil, segments
end

-- The ratio is that of time an example where the global batches differ, else of time a step: below 1, b is faster.
function mgb.compare(a, b, options)
  local o = options == nil and {} or host.read("mgb.compare", options, { floor = "amount", across_backends = "boolean" })
  if o.floor and (o.floor <= 0 or o.floor >= 1) then
    host.fail(("mgb.compare: floor: a fraction between 0 and 1 expected (0.01 is 1 %%), got %s"):format(o.floor))
  end
  local a_words, a_segments = side_read("a", a)
  local b_words, b_segments = side_read("b", b)
  return setmetatable(host.compare(a_words, a_segments, b_words, b_segments, o.floor, o.across_backends), comparison_type)
end
