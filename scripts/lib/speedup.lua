-- What the rows of a sweep are against each other: speed-up and efficiency of each, and over repetitions a verdict with its
-- interval.
local _, _, host = ...

local function gpu_count(row)
  local gpus = row.gpus
  if gpus == nil and row.placement then gpus = row.placement.asked.gpus end
  if type(gpus) == "table" then return #gpus end
  return math.max(gpus or 1, 1)
end

local function batch_of(row)
  if row.batch_mode == "strong" or row.batch_mode == nil and row.global_batch ~= nil then
    return "strong", row.global_batch
  end
  return "weak", row.batch or 32
end

-- In how many options of the grid two rows agree; nil when they differ in what is no placement: model, data and such.
local function likeness(row, other, keys)
  local count = 0
  for _, key in ipairs(keys) do
    local same = host.json(row[key]) == host.json(other[key]) and
      (key ~= "model" or row.model_options == other.model_options)
    if not same and not host.is_place[key] then return nil end
    if same and key ~= "gpus" then count = count + 1 end
  end
  return count
end

-- Only what came to its end has a rate that means something: who crashed half way may have been slow before.
local function rates_count(row) return row.outcome == "ok" and row.step_ms.median ~= nil end

-- The row that `row` is measured against: `says(row, rows)` gives it, or says of a row whether it is one; without it the
-- one-GPU row of the same batch, the most alike in the rest of the grid.
local function baseline_find(row, rows, keys, says)
  local given = says and says(row, rows)
  if type(given) == "table" then return given end
  local mode, batch = batch_of(row)
  local best, best_likeness
  for _, other in ipairs(rows) do
    local other_mode, other_batch = batch_of(other)
    local is = not says and gpu_count(other) == 1 or says and says(other, rows) == true
    if is and rates_count(other) and other.repetition == row.repetition and other_mode == mode and other_batch == batch then
      local alike = likeness(row, other, keys)
      if alike and (not best or alike > best_likeness) then best, best_likeness = other, alike end
    end
  end
  return best
end

-- Median step time by examples a step: one stalled step must not decide what a GPU more is worth.
local function example_ms(row) return row.step_ms.median / row.global_batch end

-- CPU threads a device, where they are what computes; nil elsewhere.
local function threads_of(row)
  local effective = row.backend == "host" and row.placement and row.placement.effective
  return effective and math.tointeger(tonumber(effective.threads)) or nil
end

-- What to know of a row beside its speed-up: a list of remarks. Rows of a point say the same.
function host.speedup_remarks(row)
  local remarks, base = {}, row.baseline_threads
  if base and row.threads and base ~= row.threads then
    remarks[1] = ("the one-GPU baseline ran %d thread%s a device, %s %d: give threads = %d to all"):format(base, base == 1 and "" or "s",
      gpu_count(row) > 1 and "these" or "this", row.threads, math.min(base, row.threads))
  end
  local efficiency = row.over and row.over.efficiency or row.efficiency
  if type(efficiency) == "number" and efficiency > 1.05 then
    remarks[#remarks + 1] = "efficiency above 1.05 is more than ideal: look for other threads a device, a baseline measured at "
      .. "another time, or data that fits the caches only when split"
  end
  return remarks
end

-- Examples a second: those of a step by its time, as everywhere; the loss of a stall is in the run's own rate.
local function rate_of(row, ms) return ms and row.global_batch and row.global_batch * 1000 / ms or nil end

-- base of each row that has one
local function speedups_fill(rows, keys, says)
  local bases = {}
  for _, row in ipairs(rows) do
    local base = rates_count(row) and baseline_find(row, rows, keys, says)
    row.baseline, row.threads = row.baseline or false, row.threads or threads_of(row)
    if rates_count(row) then row.examples_per_s = rate_of(row, row.step_ms.median) end
    if base and rates_count(base) then
      base.baseline, bases[row] = true, base
      row.speedup = example_ms(base) / example_ms(row)
      row.efficiency = row.speedup * gpu_count(base) / gpu_count(row)
      row.baseline_threads = threads_of(row) and threads_of(base)
    end
  end
  return bases
end

-- Segments of all repetitions of `row`'s point that came to their end; of a row from elsewhere its own.
local function segments_of(row, rows)
  local segments, here = {}, false
  for _, other in ipairs(rows) do here = here or other == row end
  if not here then return { row.segment_id } end
  for _, other in ipairs(rows) do
    if other.point == row.point and rates_count(other) then segments[#segments + 1] = other.segment_id end
  end
  return segments
end

-- The figures over all repetitions, for tables: of one point's rows, from what was judged of them.
local function over_make(judged, row, base)
  local over = { step_ms = judged.step_ms, examples_per_s = rate_of(row, judged.step_ms), step_ms_low = judged.low_ms, step_ms_high = judged.high_ms, verdict = judged.verdict,
                 reason = judged.reason, more_repetitions = judged.more_repetitions, floor = judged.floor,
                 floor_source = judged.floor_source, odd = judged.odd }
  if not base then return over end
  local gpus = gpu_count(base) / gpu_count(row)
  over.speedup = base.point == row.point and 1 or judged.ratio and 1 / judged.ratio or nil
  over.speedup_low = judged.ratio_high and 1 / judged.ratio_high
  over.speedup_high = judged.ratio_low and 1 / judged.ratio_low
  over.efficiency = over.speedup and over.speedup * gpus
  return over
end

-- A verdict on every point with a base, all together (Holm); rows of a point share it as `over`.
local function points_judge(rows, bases)
  local requests, of, seen = {}, {}, {}
  for _, row in ipairs(rows) do
    if not seen[row.point] and rates_count(row) and row.segment_id then
      local base = bases[row]
      seen[row.point] = true
      of[#of + 1] = row
      requests[#requests + 1] = { cell = segments_of(row, rows), base = base and base.segment_id and
        (base.point ~= row.point or base.sweep ~= row.sweep) and segments_of(base, rows) or nil }
    end
  end
  local judged = #requests > 0 and host.judge(requests) or {}
  local overs = {}
  for i, one in ipairs(judged) do overs[of[i].point] = over_make(one, of[i], bases[of[i]]) end
  for _, row in ipairs(rows) do
    local over = overs[row.point]
    row.over, row.verdict = over, over and over.verdict
    for _, name in ipairs{ "step_ms_low", "step_ms_high", "speedup_low", "speedup_high" } do row[name] = over and over[name] end
  end
end

function host.rows_compare(rows, keys, says, repeats)
  local bases = speedups_fill(rows, keys, says)
  if repeats > 1 then points_judge(rows, bases) end
end

-- Every point that ran against the first of them in grid order, which is the base: point -> { base = is it, judged = },
-- also of one repetition, where verdicts have their reason.
function host.rows_against_first(rows)
  local requests, of, seen, base = {}, {}, {}, nil
  for _, row in ipairs(rows) do
    if not seen[row.point] and rates_count(row) and row.segment_id then
      seen[row.point] = true
      of[#of + 1] = row.point
      requests[#requests + 1] = { cell = segments_of(row, rows), base = base }
      base = base or requests[1].cell
    end
  end
  local judged, by = #requests > 0 and host.judge(requests) or {}, {}
  for i, point in ipairs(of) do by[point] = { base = i == 1, judged = judged[i] } end
  return by
end

-- Which point is the fastest, and whether by more than noise: the words of mgbench compare sweep:NAME, "" for less than two;
-- the label of that point; the same in a few words.
function host.rows_rank(rows)
  local cells, seen = {}, {}
  for _, row in ipairs(rows) do
    if not seen[row.point] and rates_count(row) and row.segment_id then
      seen[row.point] = true
      cells[#cells + 1] = { cell = segments_of(row, rows), label = row.label }
    end
  end
  if #cells < 2 then return "", cells[1] and cells[1].label, cells[1] and "Fastest, the only one that ran: " .. cells[1].label end
  local text, fastest, headline = host.rank(cells)
  return text, fastest and cells[fastest].label, headline
end
