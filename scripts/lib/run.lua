-- mgb.run: one run from start to end. What opening a session takes is shared with mgb.session, verify and sweeps.
local mgb, _, host = ...

local places = {}
for _, name in ipairs(host.placement_options) do places[name] = true end
host.is_place = places

-- What every session is opened with, beside the placement.
local common = { model = "any", data = "any", optimizer = "any", seed = "integer", warmup = "any", build = { "once", "tower" },
                 backend = { "auto", "host", "cuda", "sim" }, machine = "any" }

-- All options with their kinds: `common`, the placement options and `own`.
function host.options_kinds(own)
  local kinds = {}
  for name, kind in pairs(common) do kinds[name] = kind end
  for name in pairs(places) do kinds[name] = "any" end
  for name, kind in pairs(own or {}) do kinds[name] = kind end
  return kinds
end

-- Checks the option table `given` against `common`, the placement options and `own`; returns what is no placement.
function host.options_check(what, given, own)
  return host.read(what, given, host.options_kinds(own))
end

-- Puts the placement options of `given` into `placement`, in the order of the table.
function host.placement_fill(what, placement, given)
  if given.batch ~= nil and given.global_batch ~= nil then
    host.fail(what .. ": batch and global_batch exclude each other: examples per GPU, or of all GPUs together")
  end
  for _, name in ipairs(host.placement_options) do
    if given[name] ~= nil then placement:set(what, name, given[name]) end
  end
  return placement
end

host.most_steps = 0x7fffffff -- in one call: sums of counts stay far from the end of integers
host.most_seconds = 1e9

local function warmup_read(what, given, fallback)
  if given == nil or given == "auto" then return given or fallback end
  if math.type(given) ~= "integer" or given < 0 or given > host.most_steps then
    host.fail(("%s: warmup: integer from 0 to %d or \"auto\" expected, got %s"):format(what, host.most_steps,
              host.describe(given)))
  end
  return given
end

-- Any 63 bits are a seed; all of them choose different values.
local function seed_read(what, given)
  if given and given < 0 then
    host.fail(("%s: seed: integer from 0 to %d expected, got %s"):format(what, math.maxinteger, host.describe(given)))
  end
  return given or 1
end

-- 0.01 and "1%" are the same.
local function noise_read(what, given)
  if given == nil then return nil end
  local percent = type(given) == "string" and given:match("^%s*([%d.eE+-]+)%s*%%%s*$")
  local value = percent and (tonumber(percent) or 0) / 100 or type(given) == "number" and given
  if not value or not (value > 0 and value < 1) then
    host.fail(("%s: target_noise: a share of the median as 0.01 or \"1%%\", more than 0 and less than 1, expected, got %s")
              :format(what, host.describe(given)))
  end
  return value
end

local seconds_of = { ms = 0.001, s = 1, m = 60, min = 60, h = 3600 }

-- Seconds, or a text with a unit: 60, "60s", "5m".
local function time_read(what, given)
  if given == nil then return nil end
  local number, unit
  if type(given) == "string" then number, unit = given:match("^%s*([%d.eE+-]+)%s*(%a+)%s*$") end
  local value = type(given) == "number" and given or (tonumber(number) or 0) * (seconds_of[unit] or 0)
  if not (value > 0 and value <= host.most_seconds) then
    host.fail(("%s: max_time: seconds as 60 or a text as \"60s\", \"5m\" or \"1h\" expected, got %s"):format(what,
              host.describe(given)))
  end
  return value
end

host.value_readers = { warmup = warmup_read, seed = seed_read, target_noise = noise_read, max_time = time_read }

-- Steps of so many epochs.
local function epoch_steps(s, placement, epochs)
  local batch = placement:get("global_batch") or
                (placement:get("batch") or s.graph:fixed_batch() or 32) * placement:towers()
  return epochs * ((s.rows + batch - 1) // batch)
end

-- With epochs the warm-up is within: 10 steps, or half of what there is.
local function warmup_within(s, placement, epochs) return math.min(10, epoch_steps(s, placement, epochs) // 2) end

-- The fewest steps of a run, those of a warm-up of given length included.
local function least_steps(s, o) return (s.warmup == "auto" and 0 or s.warmup) + (o.steps or 100) end

-- The learning rates of a whole run, or of the fewest steps it has, asked for once: a schedule may count its calls. nil
-- without a schedule.
function host.run_rates(s, o)
  local steps = o.epochs and epoch_steps(s, s.request.placement, o.epochs) or least_steps(s, o)
  s.rates = s.rates or host.rates(s.schedule, s.first or 0, steps)
  return s.rates
end

-- From options that options_check returned to what can be opened (and described, for sweeps): a table
-- { model =, seed =, warmup =, graph =, request = }.
function host.prepare(what, o, given, warmup)
  if o.model == nil then host.fail(what .. ": model: name or model expected, got nil") end
  if o.epochs and o.steps then host.fail(what .. ": steps and epochs exclude each other") end
  if o.epochs and o.target_noise then host.fail(what .. ": epochs and target_noise exclude each other") end
  local model = mgb.model(o.model)
  local s = { what = what, model = model.name, seed = seed_read(what, o.seed) }
  s.target_noise, s.max_time = noise_read(what, o.target_noise), time_read(what, o.max_time)
  local backend, machine = host.machine_of(what, o.backend, o.machine)
  local placement = host.placement_fill(what, host.placement(), given)
  local towers = host.built_by_tower(model, o.build) and placement:towers() or nil
  local graph, model_options = host.graph_build(model, towers)
  local values, schedule, optimizer_text = host.optimizer_read(what, o.optimizer)
  local source, data_text, doubt
  if o.data ~= nil then source, data_text, doubt = host.data_bind(what .. ": data", o.data, graph, s.seed) end
  s.doubt = doubt -- why this run may not be told from another
  s.graph, s.towers, s.schedule, s.optimizer = graph, towers, schedule, optimizer_text
  s.rows = source and host.source_facts(source) or 0
  s.warmup = warmup_read(what, o.warmup, o.epochs and warmup_within(s, placement, o.epochs) or warmup)
  if machine then s.warmup = 0 end -- simulated steps have none
  s.request = { model = model.name, model_options = model_options, graph = graph, data = data_text or "", source = source,
                placement = placement, optimizer = values, seed = s.seed, backend = backend, machine = machine,
                warmup = s.warmup == "auto" and host.warmup_auto or s.warmup, load = host.load_read(what, o.load),
                target_noise = s.target_noise, max_time = s.max_time }
  return s
end

-- Opens what was prepared. Results and sessions that nobody holds any more are closed first, so that their memory is free.
-- Returns true, or nil, status, message, details.
function host.open_prepared(s)
  host.check_flags()
  collectgarbage()
  local session, status, message, details = host.open(s.request)
  if not session then return nil, status, message, details end
  s.session = session
  if s.request.load then -- then `status` is what came of it
    s.loaded = host.load_tell(s.request.load.path, status)
    s.first, s.rates = session:facts().step_index, nil
  end
  return true
end

local function epochs_check(s, o)
  if o.epochs and s.rows == 0 then
    host.fail(s.what .. ": epochs: this data has no end; give steps, or data with rows as mgb.data.mnist{}")
  end
end

-- All steps of a run, in one call. How many that are may be found out on the way: a schedule is then asked for more rates
-- until there were enough.
local function steps_run(s, o)
  local steps, done, losses, rates = o.epochs and 0 or least_steps(s, o), 0, {}, host.run_rates(s, o)
  if rates and o.epochs then -- what opened may hold another batch than was asked for
    local batch = s.session:facts().global_batch
    local count = o.epochs * ((s.rows + batch - 1) // batch)
    if #rates ~= count then rates = host.rates(s.schedule, s.first or 0, count) end
  end
  repeat
    local figures, status, message, details = s.session:step(steps, o.epochs or 0, rates, o.trace_every or 0, true)
    if not figures then return nil, status, message, details end
    table.move(figures.losses, 1, #figures.losses, #losses + 1, losses)
    done = done + #figures.losses
    local more = rates and not o.epochs and not figures.stop_reason and (s.warmup == "auto" or s.target_noise)
    if not more then
      figures.losses = nil
      return figures, losses
    end
    rates = host.rates(s.schedule, (s.first or 0) + done, math.max(100, done // 4))
  until false
end

-- Runs what was prepared to its end. Returns the result; or nil, status, message, details after closing the session.
function host.run_prepared(s, o)
  epochs_check(s, o)
  host.trace_check(s, o)
  local ok, status, message, details = host.open_prepared(s)
  if not ok then return nil, status, message, details end
  host.trace_ask(s, o)
  local figures, losses
  figures, losses, message, details = steps_run(s, o)
  if not figures then
    s.session:close()
    return nil, losses, message, details -- the status
  end
  if s.judge then s.judge(s, figures.loss, losses) end -- of a sweep: what was trained may be worth nothing
  local played = s.session:played()
  s.session:finish()
  local result = host.result_make(s, figures, losses)
  result.loaded = s.loaded
  result.played = played
  return result
end

host.run_options = { steps = "positive", epochs = "positive", expect = { "oom" }, trace_every = "count", trace_steps = "any",
                     target_noise = "any", max_time = "any" }

local alone = { load = "any" } -- of a run that is no point of a sweep
for name, kind in pairs(host.run_options) do alone[name] = kind end

function mgb.run(options)
  local o = host.options_check("mgb.run", options, alone)
  local s = host.prepare("mgb.run", o, options or {}, 10)
  s.request.expect_oom = o.expect == "oom"
  local result, status, message, details = host.run_prepared(s, o)
  if result then return result end
  if status == host.status_oom and o.expect == "oom" then
    return host.result_refused(s, "oom", message, details)
  end
  host.raise(status, message)
end
