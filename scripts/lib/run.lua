-- mgb.run: one run from start to end. What opening a session takes is shared with mgb.session, verify and sweeps.
local mgb, _, host = ...

local places = {}
for _, name in ipairs(host.placement_options) do places[name] = true end
host.is_place = places

-- What every session is opened with, beside the placement.
local common = { model = "any", data = "any", optimizer = "any", seed = "integer", warmup = "any", build = { "once", "tower" },
                 backend = { "auto", "host", "cuda", "sim" }, machine = "text" }

-- Checks the option table `given` against `common`, the placement options and `own`; returns what is no placement.
function host.options_check(what, given, own)
  local kinds = {}
  for name, kind in pairs(common) do kinds[name] = kind end
  for name in pairs(places) do kinds[name] = "any" end
  for name, kind in pairs(own or {}) do kinds[name] = kind end
  return host.read(what, given, kinds)
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

local function warmup_read(what, given, fallback)
  if given == nil then return fallback end
  if given == "auto" then
    host.fail(what .. ": warmup: \"auto\": automatic warm-up is not in this version; give a number of steps")
  end
  if math.type(given) ~= "integer" or given < 0 or given > host.most_steps then
    host.fail(("%s: warmup: integer from 0 to %d or \"auto\" expected, got %s"):format(what, host.most_steps,
              host.describe(given)))
  end
  return given
end

-- Steps of so many epochs.
local function epoch_steps(s, placement, epochs)
  local batch = placement:get("global_batch") or (placement:get("batch") or 32) * placement:towers()
  return epochs * ((s.rows + batch - 1) // batch)
end

-- With epochs the warm-up is within: 10 steps, or half of what there is.
local function warmup_within(s, placement, epochs) return math.min(10, epoch_steps(s, placement, epochs) // 2) end

-- The learning rates of a whole run, asked for once: a schedule may count its calls. nil without a schedule.
function host.run_rates(s, o)
  local steps = o.epochs and epoch_steps(s, s.request.placement, o.epochs) or s.warmup + (o.steps or 100)
  s.rates = s.rates or host.rates(s.schedule, 0, steps)
  return s.rates
end

-- From options that options_check returned to what can be opened (and described, for sweeps): a table
-- { model =, seed =, warmup =, graph =, request = }.
function host.prepare(what, o, given, warmup)
  if o.model == nil then host.fail(what .. ": model: name or model expected, got nil") end
  local model = mgb.model(o.model)
  local s = { what = what, model = model.name, seed = o.seed or 1 }
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
  s.request = { model = model.name, model_options = model_options, graph = graph, data = data_text or "", source = source,
                placement = placement, optimizer = values, seed = s.seed, backend = o.backend, machine = o.machine,
                warmup = s.warmup }
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
  return true
end

local function steps_plan(s, o)
  if o.epochs then
    if o.steps then host.fail(s.what .. ": steps and epochs exclude each other") end
    if s.rows == 0 then
      host.fail(s.what .. ": epochs: this data has no end; give steps, or data with rows as mgb.data.mnist{}")
    end
    local batch = s.session:facts().global_batch
    local count = o.epochs * ((s.rows + batch - 1) // batch)
    if s.schedule then return count, 0 end
    return 0, o.epochs
  end
  return s.warmup + (o.steps or 100), 0
end

-- Runs what was prepared to its end. Returns the result; or nil, status, message, details after closing the session.
function host.run_prepared(s, o)
  local ok, status, message, details = host.open_prepared(s)
  if not ok then return nil, status, message, details end
  local steps, epochs = steps_plan(s, o)
  local figures
  local rates = host.run_rates(s, o)
  if rates and #rates ~= steps then rates = host.rates(s.schedule, 0, steps) end
  figures, status, message, details = s.session:step(steps, epochs, rates, o.trace_every or 0)
  if not figures then
    s.session:close()
    return nil, status, message, details
  end
  if s.judge then s.judge(s, figures) end -- of a sweep: whether what was trained is worth its name
  s.session:finish()
  local losses = figures.losses
  figures.losses = nil
  return host.result_make(s, figures, losses)
end

host.run_options = { steps = "positive", epochs = "positive", expect = { "oom" }, trace_every = "count" }

function mgb.run(options)
  local o = host.options_check("mgb.run", options, host.run_options)
  local s = host.prepare("mgb.run", o, options or {}, 10)
  s.request.expect_oom = o.expect == "oom"
  local result, status, message, details = host.run_prepared(s, o)
  if result then return result end
  if status == host.status_oom and o.expect == "oom" then
    return host.result_refused(s, "oom", message, details)
  end
  host.raise(status, message)
end
