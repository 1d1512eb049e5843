-- What the commands about a model ask of the script layer. Called with a function that refuses what was typed, a verb, the
-- model, "text" or "rows" for how to print, and the words that app/cli/settings.h describes; a table of options for mgb.run,
-- mgb.session or mgb.verify is made of them.
local usage, verb, model_word, form = ...
local words = { select(5, ...) }

local function number_or_word(text)
  if text == "true" then return true elseif text == "false" then return false end
  return tonumber(text) or text
end

local function ids_read(text)
  local ids = {}
  for id in text:gmatch("%d+") do ids[#ids + 1] = math.tointeger(tonumber(id)) end
  return ids
end

local readers = { n = tonumber, b = function(text) return text == "true" end, l = ids_read, s = tostring,
                  w = number_or_word }

-- The options of one side; `against` is the other side's when there is one.
local function words_read()
  local side = { run = {}, optimizer = {}, model = {}, placement = {} }
  local groups = { r = side.run, d = side.run, o = side.optimizer, m = side.model, p = side.placement }
  local against
  for _, word in ipairs(words) do
    local group, kind, name, text = word:match("^(.)(.):([^=]*)=(.*)$")
    if group == "x" then
      against = {}
      for key, value in pairs(side.placement) do against[key] = value end
      groups.p = against
    else
      groups[group][name] = readers[kind](text)
      if groups.p == against and group == "p" then -- one clears the other
        if name == "batch" then against.global_batch = nil elseif name == "global_batch" then against.batch = nil end
      end
    end
  end
  return side, against
end

-- A script in place of a model would do all its work before it is seen to be none: what begins work is told apart.
local function file_load(file)
  local real = {}
  for _, name in ipairs{ "options", "run", "session", "sweep", "verify" } do
    real[name] = mgb[name]
    rawset(mgb, name, function()
      usage(("'%s' is a script and no model: it calls mgb.%s; to run it: mgbench -e %s"):format(file, name, file))
    end)
  end
  local model = dofile(file)
  for name, value in pairs(real) do rawset(mgb, name, value) end
  if not pcall(mgb.model, model) or type(model) == "string" then
    usage(("'%s' gives back no model (%s): the file should end in return nn.model(...)"):format(file, type(model)))
  end
  return model
end

local function model_find(options)
  local model = model_word
  if model:find("/") or model:find("%.lua$") then model = file_load(model) end
  model = mgb.model(model)
  if next(options) == nil then return model end
  local ok, made = pcall(model, options)
  return ok and made or usage(tostring(made))
end

local function optimizer_make(given)
  if next(given) == nil then return nil end
  local kind, values = given.optimizer or "sgd", {}
  for key, value in pairs(given) do
    if key ~= "optimizer" then values[key] = value end
  end
  local ok, made = pcall(mgb[kind], values)
  return ok and made or usage(tostring(made))
end

local side, against = words_read()
local options = side.run
options.data = options.data and mgb.data[options.data]{}
options.optimizer = optimizer_make(side.optimizer)
options.model = model_find(side.model)

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
if verb == "session" then
  mgb.session(options)
  return
end

local result <close> = mgb.run(options)
local row = { run = result.run_id, outcome = result.outcome, steps = result.steps, step_ms = result.step_ms.median,
              p95 = result.step_ms.p95, ci95_low = result.step_ms.ci95[1], ci95_high = result.step_ms.ci95[2],
              examples_per_s = result.examples_per_s, loss = result.loss, digest = result.digest, backend = result.backend }
local columns = {}
for _, name in ipairs{ "run", "outcome", "steps", "step_ms", "p95", "ci95_low", "ci95_high", "examples_per_s", "loss" } do
  if row[name] ~= nil then columns[#columns + 1] = name end -- too few steps have no interval
end
for name, value in pairs(result.metrics) do
  row[name] = value
  columns[#columns + 1] = name
end
columns[#columns + 1] = "digest"
mgb.table({ row }, columns)
