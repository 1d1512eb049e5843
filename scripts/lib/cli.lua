-- What the commands about a model ask of the script layer. Called with a function that refuses what was typed, a verb, the
-- model, "text", "quiet" or "rows" for how to print, and the words that app/cli/settings.h describes; a table of options for mgb.run,
-- mgb.session or mgb.verify is made of them.
local usage, host, verb, model_word, form = ...
local words = { select(6, ...) }
local quiet = form == "quiet" -- the table as text, and nothing else
if quiet then form = "text" end

local side, against = host.words_read(words)
local options = side.run
local repeats, tag = math.tointeger(options.repeats or 1), options.tag
options.repeats, options.tag = nil, nil
local save = options.save
if options.load then
  options.load = { options.load, strict = not options.partial }
  if options.weights_only then options.load.optimizer = false end
end
options.save, options.partial, options.weights_only = nil, nil, nil
if host.machine and (verb == "verify" or save or options.load) then
  usage(("%s: a simulated run has no values; CPU devices compute the same: --backend host"):format(verb == "verify" and verb or
        save and "--save" or "--load"))
end
if options.data then
  local ok, data = pcall(mgb.data.open, options.data)
  options.data = ok and data or usage(tostring(data))
end
local made, optimizer = pcall(host.words_optimizer, side.optimizer)
options.optimizer = made and optimizer or not made and usage(tostring(optimizer)) or nil
options.model = host.words_model(model_word, side.model, usage)

if verb == "verify" then
  options.a, options.b = side.placement, against or {}
  local verdict = mgb.verify(options)
  if form == "text" then
    print(verdict)
  else
    mgb.table({ verdict }, { "equal", "bitwise", "steps", "first_step", "difference", "weight_difference", "variable", "verdict" })
  end
  if not verdict.equal then error("the two placements do not train the same", 0) end
  return
end

for key, value in pairs(side.placement) do options[key] = value end
if verb == "predict" then
  local ranking = host.ranking_make("predict", options)
  if form == "text" and not quiet then print(ranking) print() end
  local columns = { table.unpack(ranking.columns) }
  if form ~= "text" then columns[#columns + 1], columns[#columns + 2] = "simulated", "machine" end
  for _, row in ipairs(ranking) do row.machine = ranking.machine.name end
  mgb.table(ranking, columns)
  if quiet then print("(simulated " .. ranking.machine.name .. ")") end
  if not ranking[1].fits then error("no placement fits: " .. ranking[1].message, 0) end
  return
end
if verb == "session" then
  mgb.session(options)
  return
end

-- Four digits, as elsewhere on the screen.
local function digits(x) return ("%" .. (math.abs(x) >= 1000 and ".0f" or ".4g")):format(x) end

local function size_text(bytes)
  for _, unit in ipairs{ "B", "KiB", "MiB" } do
    if bytes < 1024 then return digits(bytes) .. " " .. unit end
    bytes = bytes / 1024
  end
  return digits(bytes) .. " GiB"
end

local function line_print(what, format, ...) print(("%-11s"):format(what) .. format:format(...)) end

-- " [low, high]"; "" where all steps are equal, nil without an interval.
local function interval_words(ci)
  return ci[1] and (ci[1] == ci[2] and "" or (" [%s, %s]"):format(digits(ci[1]), digits(ci[2]))) or nil
end

local function step_print(r)
  local ci = r.step_ms.ci95
  line_print("step", "%s ms%s, median of %d timed steps%s; %s examples/s", digits(r.step_ms.median),
             interval_words(ci) or " (too few steps for an interval)", r.steps,
             r.step_ms.p95 and ("; p95 %s ms"):format(digits(r.step_ms.p95)) or "", digits(r.examples_per_s or 0))
end

local function steady_print(r)
  if r.backend == "sim" then
    line_print("simulated", "on a description of a machine: nothing was measured, and nothing trained")
    local p = r.played -- a step that would be as the one before it is not played again
    if p and p.real_s > 0 then
      line_print("played", "%s s in %s ms: %d events by the engine of %s, %s million/s", digits(p.virtual_s),
                 digits(p.real_s * 1000), p.events, p.engine, digits(p.events / p.real_s / 1e6))
    end
    return
  end
  line_print("warm-up", "%d steps left out (%s)", r.warmup_steps, options.warmup == "auto" and "found by rule" or
             options.warmup and "as asked" or "default")
  line_print("steady", "%s", r.steady and "yes" or r.not_steady or "not judged: too few timed steps")
end

-- What most outliers have in common, when the record knows.
local function outliers_cause(r)
  if not r.segment_id then return "" end
  local ok, rows = pcall(mgb.db.query, "SELECT substr(cause, 1, instr(cause || ' +', ' +') - 1) AS cause, count(*) AS n " ..
                         "FROM outlier WHERE segment_id = ? AND cause IS NOT NULL GROUP BY 1 ORDER BY n DESC, 1 LIMIT 1",
                         r.segment_id)
  return ok and rows[1] and ("; %d with %s"):format(rows[1].n, rows[1].cause) or ""
end

local function odd_steps_print(r)
  if r.first_ratio and r.first_ratio >= 2 then
    print(("first step %sx the median%s"):format(digits(r.first_ratio), r.first_phase and
          (": mostly %s (allocation, loading and tuning)"):format(r.first_phase) or ""))
  end
  if (r.outliers or 0) > 0 then
    line_print("outliers", "%d of %d timed steps, %d of them far; the longest %sx the median%s", r.outliers, r.steps,
               r.outliers_far, digits(r.worst_ratio), outliers_cause(r))
  end
end

local function stopped_print(r)
  local asked = r.target_noise and ("%.3g %%"):format(100 * r.target_noise)
  local noise = r.noise and ("noise %.2g %%"):format(100 * r.noise) or "noise not known"
  if r.stop_reason == "noise" then
    print(("stopped after %d steps: %s <= %s"):format(r.steps + r.warmup_steps, noise, asked))
  elseif r.stop_reason == "time" then
    print(("stopped after %.4g s, %d steps%s"):format(r.max_time_ms / 1000, r.steps + r.warmup_steps,
          asked and (": %s, %s was asked (not met)"):format(noise, asked) or ""))
  end
end

local function memory_print(r)
  local devices, parts = {}, {}
  for device in pairs(r.memory) do devices[#devices + 1] = device end
  table.sort(devices)
  for i, device in ipairs(devices) do
    local use = r.memory[device]
    parts[i] = not use.peak and ("%s %s planned"):format(device, size_text(use.planned)) or
               ("%s %s of %s planned"):format(device, size_text(math.max(use.peak, use.held)), size_text(use.planned))
  end
  if parts[1] then line_print("memory", "%s", table.concat(parts, ", ")) end
end

-- An automatic warm-up may end behind the steps that were to be traced: they were counted from its least length.
local function traced_print(r)
  if not options.trace_steps or not r.segment_id then return end
  local ok, rows = pcall(mgb.db.query, "SELECT count(*) AS n, min(step) AS first, max(step) AS last, sum(warmup = 0) AS timed FROM step " ..
                         "WHERE segment_id = ? AND step IN (SELECT step FROM task WHERE segment_id = ?)", r.segment_id, r.segment_id)
  if ok and rows[1] and rows[1].timed == 0 then
    line_print("traced", "%d steps from %d to %d, which turned out to be of the warm-up; timed ones: --warmup %d --trace %s", rows[1].n,
               rows[1].first, rows[1].last, r.warmup_steps, options.trace_steps)
  end
end

-- The result in words, below its table.
local function result_print(r)
  if r.steps > 0 then step_print(r) end
  steady_print(r)
  if r.steps > 0 then odd_steps_print(r) end
  if r.unaccounted_share then line_print("unaccounted", " %.2g %% of the time, between steps", 100 * r.unaccounted_share) end
  memory_print(r)
  traced_print(r)
  if r.loaded then
    line_print("loaded", "%s: %d tensors, %s", options.load[1], r.loaded.tensors,
               r.loaded.resumed and "training goes on" or "the optimizer starts anew")
  end
  if save then line_print("saved", "%s", save) end
  stopped_print(r)
end

local row_columns = { "run", "outcome", "steps", "step_ms", "p95", "ci95_low", "ci95_high", "examples_per_s", "loss",
                      "noise", "steady", "not_steady", "warmup_steps", "stop_reason", "outliers", "unaccounted_ms" }

-- One row; its columns go to `columns` where they are not yet.
local function row_make(result, columns)
  local row = { run = result.run_id, outcome = result.outcome, steps = result.steps, step_ms = result.step_ms.median,
                p95 = result.step_ms.p95, ci95_low = result.step_ms.ci95[1], ci95_high = result.step_ms.ci95[2],
                examples_per_s = result.examples_per_s, loss = result.loss, digest = result.digest, backend = result.backend }
  if form ~= "text" then
    for _, name in ipairs{ "noise", "steady", "not_steady", "warmup_steps", "stop_reason", "outliers", "unaccounted_ms" } do
      row[name] = result[name]
    end
  end
  local names = { table.unpack(row_columns) }
  for name, value in pairs(result.metrics) do
    row[name] = value
    names[#names + 1] = name
  end
  names[#names + 1] = "digest"
  for _, name in ipairs(names) do -- too few steps have no interval
    if row[name] ~= nil and not columns[name] then
      columns[name], columns[#columns + 1] = true, name
    end
  end
  return row
end

local function once_run()
  local result <close> = mgb.run(options)
  if save then result:save(save, host.anywhere) end
  local columns = {}
  local row = row_make(result, columns)
  mgb.table({ row }, columns)
  if form == "text" and not quiet then result_print(result) end
end

-- What all repetitions come to: the mean of their medians, as mgbench compare takes them for one side.
local function side_print(rows)
  local sum, low, high, ids = 0, math.huge, 0, {}
  for i, row in ipairs(rows) do
    sum, low, high, ids[i] = sum + row.step_ms, math.min(low, row.step_ms), math.max(high, row.step_ms), tostring(row.run)
  end
  local name = tag and "tag:" .. tag or table.concat(ids, ",")
  print(("\n%s: %d repetitions, step %s ms, the mean of their medians, which are from %s to %s ms"):format(name, #rows,
        digits(sum / #rows), digits(low), digits(high)))
  local ok, count = pcall(mgb.db.query, "SELECT count(*) AS n FROM tag WHERE name = ?", tag or "")
  if ok and tag and count[1].n > #rows then
    print(("note: the tag %s was there before: tag:%s stands for %d runs"):format(tag, tag, count[1].n))
  end
  if mgb.db.query("SELECT 1 AS there FROM run WHERE id = ?", rows[1].run)[1] then
    print(("against others: mgbench compare %s tag:OTHER; kept as one: mgbench baseline set NAME %s"):format(name, name))
  end
end

local function repetitions_run()
  local rows, columns = {}, {}
  for i = 1, repeats do
    local result <close> = mgb.run(options)
    rows[i] = row_make(result, columns)
    if form == "text" and not quiet then
      print(("repetition %d of %d: run %s, step %s ms%s, %d timed steps%s"):format(i, repeats, result.run_id or "-",
            digits(result.step_ms.median), interval_words(result.step_ms.ci95) or "", result.steps,
            result.not_steady and ", " .. result.not_steady or ""))
      io.stdout:flush()
    end
  end
  if form == "text" and not quiet then side_print(rows) else mgb.table(rows, columns) end
end

if repeats > 1 then repetitions_run() else once_run() end
