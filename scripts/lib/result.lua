-- What a run gives back: figures with names, and the tables that sessions and results share.
local mgb, _, host = ...

local optimizer_type = { __name = "optimizer" }
local optimizers = setmetatable({}, { __mode = "k" }) -- optimizer -> { values, schedule }

function optimizer_type.__tostring(o)
  local s, parts = optimizers[o], {}
  for key, value in pairs(s.values) do
    if key ~= "kind" then parts[#parts + 1] = key .. "=" .. tostring(value) end
  end
  table.sort(parts)
  return ("%s(%s)"):format(s.values.kind, table.concat(parts, ", "))
end

function optimizer_type.__index(_, name)
  host.fail(("an optimizer has no field '%s'"):format(tostring(name)))
end

for kind, own in pairs{ sgd = { momentum = "rate", nesterov = "boolean" },
                        rmsprop = { rho = "rate", epsilon = "amount" },
                        adagrad = { epsilon = "amount" },
                        adadelta = { rho = "rate", epsilon = "amount" },
                        adam = { beta1 = "rate", beta2 = "rate", epsilon = "amount" } } do
  own.lr, own.clip_norm, own.decay, own.schedule = "amount", "amount", "amount", "function"
  mgb[kind] = function(options)
    local values = host.read("mgb." .. kind, options, own)
    local schedule = values.schedule
    values.schedule, values.kind = nil, kind
    for _, name in ipairs{ "beta1", "beta2" } do -- 1 as f32 divides by 1 - 1
      if values[name] and string.unpack("f", string.pack("f", values[name])) >= 1 then
        host.fail(("mgb.%s: %s: number from 0 to below 1 expected, got %s"):format(kind, name, tostring(values[name])))
      end
    end
    local o = setmetatable({}, optimizer_type)
    optimizers[o] = { values = values, schedule = schedule }
    return o
  end
end

-- The values of an optimizer (plain SGD when there is none), its schedule, and the words for it.
function host.optimizer_read(what, o)
  if o == nil then o = mgb.sgd{ lr = 0.01 } end
  local s = optimizers[o]
  if not s then
    host.fail(("%s: optimizer: optimizer expected (as mgb.sgd{ lr = 0.01 }), got %s"):format(what, host.describe(o)))
  end
  return s.values, s.schedule, tostring(o)
end

-- The learning rates of steps first .. first + count - 1; nil without a schedule.
function host.rates(schedule, first, count)
  if not schedule then return nil end
  local rates = {}
  for i = 1, count do
    local lr = schedule(first + i - 1)
    if type(lr) ~= "number" or lr ~= lr or lr < 0 or lr > 3.4e38 then
      host.fail(("schedule: a finite learning rate from 0 up expected for step %d, got %s"):format(first + i - 1,
                host.describe(lr)))
    end
    rates[i] = lr
  end
  return rates
end

local function named(values, names)
  local result = {}
  for i, name in ipairs(names) do result[name] = values[i] end
  return result
end

-- Figures of the engine with the metrics by name.
function host.figures_name(figures, graph)
  figures.metrics = named(figures.metrics, graph:metrics())
  return figures
end

local plan_type = { __tostring = function(plan) return plan.text end }

-- What a session can tell about itself, for live ones and for results: functions of { session, graph, seed }.
host.look = {
  digest = function(s) return s.session:digest() end,
  variables = function(s) return s.session:variables() end,
  check = function(s) return s.session:check() end,
  memory = function(s) return s.session:memory() end,
  plan = function(s) return setmetatable(s.session:plan(), plan_type) end,
  -- The values of one variable, a flat list.
  values = function(s, name) return s.session:read(name) end,
  evaluate = function(s, data)
    local source = host.data_bind("evaluate", data, s.graph, s.seed)
    local evaluation = s.session:evaluate(source)
    evaluation.metrics = named(evaluation.metrics, s.graph:metrics())
    return evaluation
  end,
  close = function(s) s.session:close() end,
}

local result_type, states = { __name = "result" }, setmetatable({}, { __mode = "k" })

function result_type.__index(result, name)
  if name == "losses" and states[result].losses then
    rawset(result, name, states[result].losses())
    return rawget(result, name)
  end
  local look = host.look[name]
  if not look or name == "load" or name == "digest" or name == "memory" then return nil end
  return function(of, ...)
    local s = states[of] or host.fail("write r:" .. name .. "(...), with a colon")
    if s.gone and name ~= "close" then host.fail(name .. ": " .. s.gone) end
    if not s.gone then return look(s, ...) end
  end
end

function result_type.__close(result) if states[result].session then states[result].session:close() end end

-- Makes a result of a table whose weights are not there; `gone` says why. `losses` finds them when somebody asks.
function host.result_gone(result, gone, losses)
  states[result] = { gone = gone, losses = losses }
  return setmetatable(result, result_type)
end

function host.result_state(r) return states[r] end

local function rounded(value) return value and host.number_text(value) or "-" end

function result_type.__tostring(r)
  if r.outcome ~= "ok" and r.outcome ~= "oom" then return ("%s: %s: %s"):format(r.model, r.outcome, r.message or "-") end
  if r.outcome == "oom" then return ("%s: out of memory: %s"):format(r.model, r.message) end
  return ("%s on %d %s, batch %d (%s scaling): %s ms a step, %s examples/s, loss %s"):format(r.model, r.gpus,
    r.backend == "host" and "CPU device(s)" or r.backend == "sim" and "simulated GPU(s)" or "GPU(s)", r.global_batch,
    r.batch_mode, rounded(r.step_ms.median), rounded(r.examples_per_s), rounded(r.loss))
end

-- The placement options as asked for, by name.
function host.asked_read(s)
  local asked = {}
  for _, name in ipairs(host.placement_options) do asked[name] = s.request.placement:get(name) end
  return asked
end

-- Devices that hold something.
local function memory_used(s)
  local memory = {}
  for device, use in pairs(s.session:memory()) do
    if use.planned > 0 or use.held > 0 or (use.peak or 0) > 0 then memory[device] = use end
  end
  return memory
end

-- The table a run gives back; `s` as for host.look. Fields that have no value are not there.
function host.result_make(s, figures, losses)
  local result = host.figures_name(figures, s.graph)
  local facts = s.session:facts()
  local asked, effective = s.session:placement()
  for _, name in ipairs{ "backend", "batch_mode", "gpus", "batch", "global_batch", "oversubscribed" } do
    result[name] = facts[name]
  end
  result.remark = facts.gave_way ~= "" and facts.gave_way or facts.remark ~= "" and facts.remark or nil
  result.model, result.losses, result.seed = s.model, losses, s.seed
  result.parallel = facts.gpus > 1 -- one GPU is the baseline of others, not a parallel run
  result.traffic = s.session:plan().traffic
  result.towers = facts.towers
  result.placement = { asked = asked, effective = effective }
  result.memory = memory_used(s)
  local check = s.session:check()
  result.duplicates = { count = check.duplicate_count, bytes = check.duplicate_bytes }
  result.leftovers = { count = check.leftover_count, bytes = check.leftover_bytes }
  if facts.backend ~= "sim" then result.digest = s.session:digest() end
  states[result] = s
  return setmetatable(result, result_type)
end

-- A run that could not be made, or not to its end: its row of the database, and why. `details` as host.open gives them.
function host.result_refused(s, outcome, message, details)
  local result = { outcome = outcome, message = message, model = s.model, seed = s.seed, losses = {}, metrics = {},
                   placement = { asked = host.asked_read(s) } }
  details = details or {}
  result.run_id = details.run_id
  if outcome ~= "oom" then return host.result_gone(result, "this run failed: " .. message) end
  result.oom = { device = details.device, needed = details.needed, available = details.available }
  return host.result_gone(result, "this run did not fit: " .. message)
end
