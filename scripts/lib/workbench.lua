-- What the workbench (app/session/workbench) does by scripts: it keeps what is trained, the session of it, and answers to
-- functions that take and give texts. Placements come as words "name=value", as mgb_placement_set takes values.
local mgb, _, host = ...

local w = {}
host.workbench = w

-- spec: what is trained, of plain values: { model =, options = {}, data =, optimizer = { kind, lr = }, seed =, warmup =, build =,
-- backend =, machine = }; prepared: as host.prepare made it; session: the open one.
local spec, offered, prepared, opened, session

local function refuse(message) host.fail((tostring(message):gsub("^[^\n]-:%d+: ", ""))) end

local function place_read(words)
  local place = {}
  for _, word in ipairs(words) do
    local name, text = word:match("^([^=]*)=(.*)$")
    place[name] = host.option_value(name, text)
  end
  return place
end

-- Texts of plain values, as constructors: what repeats them in a script, and what is read back after a crash.
local function value_text(value)
  if math.type(value) == "float" and value == math.floor(value) and math.abs(value) < 1e15 then return ("%.1f"):format(value) end
  if math.type(value) == "float" then return ("%.17g"):format(value) end
  if type(value) == "string" then return (("%q"):format(value):gsub("\n", "n")) end
  if type(value) == "table" and #value > 0 then
    local parts = {}
    for i, one in ipairs(value) do parts[i] = value_text(one) end
    return "{ " .. table.concat(parts, ", ") .. " }"
  end
  if type(value) ~= "table" then return tostring(value) end
  local names = {}
  for name in pairs(value) do names[#names + 1] = name end
  table.sort(names)
  for i, name in ipairs(names) do
    local key = name:match("^[%a_][%w_]*$") and name or ("[%q]"):format(name)
    names[i] = ("%s = %s"):format(key, value_text(value[name]))
  end
  return #names == 0 and "{}" or "{ " .. table.concat(names, ", ") .. " }"
end

local function data_text(data) return data:match("^%l+$") and ("mgb.data.%s{}"):format(data) or ("mgb.data.open(%q)"):format(data) end

local function optimizer_text(given)
  local values = {}
  for name, value in pairs(given) do if name ~= "optimizer" then values[name] = value end end
  return ("mgb.%s%s"):format(given.optimizer or "sgd", value_text(values))
end

local function model_text(of)
  if next(of.options) == nil then return value_text(of.model) end
  return ("mgb.model(%s, %s)"):format(value_text(of.model), value_text(of.options))
end

local plain = { "seed", "warmup", "build", "backend", "machine" } -- the same in a spec, in options and in texts

-- The options of mgb.session that make `of`, without placement.
local function options_of(of)
  local options = { model = host.words_model(of.model, of.options, refuse) }
  if of.data then
    local ok, data = pcall(mgb.data.open, of.data)
    options.data = ok and data or refuse(data)
  end
  if of.optimizer then
    local ok, made = pcall(host.words_optimizer, of.optimizer)
    options.optimizer = ok and made or refuse(made)
  end
  for _, name in ipairs(plain) do options[name] = of[name] end
  return options
end

local function copy_of(of)
  local copy = {}
  for name, value in pairs(of or { options = {} }) do copy[name] = value end
  return copy
end

-- "resnet depth=152", "resnet?depth=152&classes=10"
local function model_read(text)
  local parts = {}
  for part in text:gmatch("[^%s?&]+") do parts[#parts + 1] = part end
  local options = {}
  for i = 2, #parts do
    local name, value = parts[i]:match("^([%w_]+)=(.*)$")
    if not name then host.fail(("model: NAME=VALUE expected after '%s', got '%s'"):format(parts[1], parts[i])) end
    options[name] = host.words_value(value)
  end
  return parts[1] or host.fail("model: a name or a file expected"), options
end

-- The spec that is offered from now on: of the words that app/cli/settings.h describes; placement is not looked at here.
function w.start(model, backend, machine, ...)
  local side = host.words_read{ ... }
  offered = { options = {} }
  if model ~= "" then offered.model, offered.options = model_read(model) end
  for name, value in pairs(side.model) do offered.options[name] = value end
  for name, value in pairs(side.run) do
    if name ~= "tag" then offered[name] = value end
  end
  if next(side.optimizer) then offered.optimizer = side.optimizer end
  offered.backend = backend ~= "" and backend ~= "auto" and backend or nil
  offered.machine = machine ~= "" and machine or nil
  for name in pairs(offered) do
    local known = name == "model" or name == "options" or name == "data" or name == "optimizer"
    for _, other in ipairs(plain) do known = known or name == other end
    if not known then
      offered[name] = nil
      host.output(name .. " has no meaning here: a run goes on until it is paused")
    end
  end
  if not offered.model then spec = offered end
end

-- The same after a crash; gives back the placement of the point, as words in lines.
function w.resume(point)
  local read = load("return " .. point, "=point", "t", {})
  local ok, value = pcall(read or error)
  if not ok or type(value) ~= "table" or type(value.model) ~= "string" then host.fail("the point of the last session cannot be read") end
  local lines = {}
  for name, text in pairs(value.place or {}) do lines[#lines + 1] = name .. "=" .. tostring(text) end
  value.place, value.options = nil, value.options or {}
  offered = value
  table.sort(lines)
  return table.concat(lines, "\n")
end

-- Offers the spec in force with one thing changed.
function w.offer(kind, text)
  offered = copy_of(spec)
  if kind == "model" then
    offered.model, offered.options = model_read(text)
  elseif kind == "data" then
    offered.data = text ~= "" and text or nil
  elseif kind == "warmup" then
    local steps = math.tointeger(tonumber(text))
    if text ~= "auto" and not (steps and steps >= 0) then
      host.fail(("warmup: steps that are not timed, or auto, expected, got '%s'"):format(text))
    end
    offered.warmup = steps or text
  elseif kind == "backend" then
    offered.backend = text ~= "" and text ~= "auto" and text or nil
  elseif kind == "machine" then
    offered.machine = text ~= "" and text ~= "none" and text or nil
  end
  if not offered.model then spec, offered = offered, nil end
end

-- Makes what a session of the offered spec (else of the one in force) would be. The service that opens answers with a preview
-- and MGB_STATE; what is refused leaves everything as it was.
function w.look(...)
  local of, place, made = offered or spec, place_read{ ... }, nil
  local same = not offered and prepared and not prepared.towers and not session
  offered = nil
  if same then
    made = {}
    for name, value in pairs(prepared) do made[name] = value end
    made.request = {}
    for name, value in pairs(prepared.request) do made.request[name] = value end
    made.request.placement = host.placement_fill("placement", host.placement(), place)
  else
    local options = options_of(of)
    for name, value in pairs(place) do options[name] = value end
    made = host.session_prepare(options)
  end
  made.session = nil
  made.request.placement = made.request.placement:copy() -- nothing is given anew: what has no meaning is parked, not refused
  local given, status, message = host.open(made.request)
  if given or message ~= "nothing is run" then host.raise(status, message) end
  spec, prepared = of, made
end

function w.open()
  session = host.session_open(prepared)
  opened = prepared
end

-- Ends the session. What was frozen stays in a graph: the next one of it is built anew.
function w.close()
  if session then session:close() end
  if prepared == opened then prepared = nil end
  session, opened = nil, nil
  collectgarbage()
end

function w.step(count, traced)
  host.session_step(session, math.tointeger(tonumber(count)), traced == "traced" and { trace_every = 1 } or nil, true)
end

function w.digest() return session:digest() end

function w.set(...) session:set(place_read{ ... }) end

-- Constructors: of the session in a script, of the point to go on at after a crash. The words are the placement.
function w.session_text(...)
  local parts = { "model = " .. model_text(spec) }
  if spec.data then parts[#parts + 1] = "data = " .. data_text(spec.data) end
  if spec.optimizer then parts[#parts + 1] = "optimizer = " .. optimizer_text(spec.optimizer) end
  for _, name in ipairs(plain) do
    if spec[name] ~= nil then parts[#parts + 1] = ("%s = %s"):format(name, value_text(spec[name])) end
  end
  local place = place_read{ ... }
  for _, name in ipairs(host.placement_options) do
    if place[name] ~= nil then parts[#parts + 1] = ("%s = %s"):format(name, value_text(place[name])) end
  end
  return "mgb.session{ " .. table.concat(parts, ", ") .. " }"
end

function w.point_text(...)
  local point = copy_of(spec)
  point.place = {}
  for _, word in ipairs{ ... } do
    local name, text = word:match("^([^=]*)=(.*)$")
    point.place[name] = text
  end
  return value_text(point)
end

function host.frozen(of, name, frozen)
  if of == session then host.statement(("s:freeze(%s, %s)"):format(value_text(name), frozen)) end
end

function host.loaded(of, path, options)
  if of ~= opened or not session then return end
  host.statement(("s:load(%s%s)"):format(value_text(path), options and ", " .. value_text(options) or ""))
end

-- What expressions see: `s`, and names of their own that stay from one to the next.
local shell = setmetatable({}, {
  __index = function(_, name)
    if name == "s" then return session end
    return _G[name]
  end,
})

function shell.print(...)
  local parts = {}
  for i = 1, select("#", ...) do parts[i] = tostring((select(i, ...))) end
  host.output(table.concat(parts, "\t"))
end

local function shown(value)
  if type(value) == "table" and getmetatable(value) == nil then
    local ok, text = pcall(host.json, value)
    if ok then return text end
  end
  return tostring(value)
end

-- Gives back the first of what it gives, as text.
function w.eval(text)
  local run, unfinished = load("return " .. text, "=command", "t", shell)
  local message
  if not run then run, message = load(text, "=command", "t", shell) end
  if not run then error(unfinished:find("<eof>", 1, true) and unfinished or message, 0) end
  rawset(shell, "s", nil)
  local results = table.pack(run())
  if rawget(shell, "s") ~= nil then
    rawset(shell, "s", nil)
    host.output("s is the session of the workbench and stays it; another one is opened by choosing a model")
  end
  for i = 1, results.n do
    if results.n > 1 or results[i] ~= nil then host.output(shown(results[i])) end
  end
  if results.n > 0 then return shown(results[1]) end
end

-- Two placements, in words "a:name=value" and "b:name=value": equal ("true"), steps, in words.
function w.verify(steps, ...)
  local sides = { a = {}, b = {} }
  for _, word in ipairs{ ... } do table.insert(sides[word:sub(1, 1)], word:sub(3)) end
  local options = options_of(spec)
  options.warmup = nil
  options.steps, options.a, options.b = math.tointeger(tonumber(steps)), place_read(sides.a), place_read(sides.b)
  local verdict = mgb.verify(options)
  return verdict.equal, verdict.steps, verdict
end

-- Options that stand for each other or contradict each other: the one that a sweep has takes the place of the bench's.
local twins = { batch = "global_batch", global_batch = "batch", cpu_relocation = "weights_at", weights_at = "cpu_relocation",
                cpu_merge = "merge_at", merge_at = "cpu_merge" }
local strategies = { "outputs", "gradients", "allreduce", "independent" }

-- Why an option of the bench cannot be that of all cells of a sweep: "" where it has no meaning in any, nil where it can be.
-- Where strategies vary, each cell parks its own.
local function obstacle(name, options, grid, place, strategy)
  local own, twin = function(of) return grid[of] ~= nil or options[of] ~= nil end, twins[name]
  if grid.strategy == nil then
    local by_like = own("like") and not (options.strategy or place.strategy)
    for _, one in ipairs(by_like and strategies or { options.strategy or strategy }) do
      if not host.option_in_effect(name, one) then return by_like and "like decides the strategy" or "" end
    end
  end
  return twin and own(twin) and ("%s %s"):format(twin, grid[twin] ~= nil and "varies" or "is given") or nil
end

-- Gives the sweep what the bench has and the sweep does not say: model, data and the rest, and every placement option that was
-- asked for. `strategy`: the one in force.
local function bench_add(options, strategy, words)
  local grid, place, left = type(options.grid) == "table" and options.grid or {}, place_read(words), {}
  local common = options_of(spec)
  for _, name in ipairs(host.placement_options) do
    local why = place[name] ~= nil and obstacle(name, options, grid, place, strategy)
    if place[name] ~= nil and not why then common[name] = place[name] end
    if why and why ~= "" and options[name] == nil and grid[name] == nil then
      left[#left + 1] = ("%s=%s (%s)"):format(name, host.point_value(place[name]), why)
    end
  end
  for name, value in pairs(common) do
    if options[name] == nil and grid[name] == nil then options[name] = value end
  end
  if #left > 0 then host.output("sweep: of the bench left out: " .. table.concat(left, ", ")) end
end

-- Why there is no verdict, and what befell a repetition.
local function reason_of(judged)
  if not (judged.reason and judged.odd) then return judged.reason or judged.odd end
  return judged.reason .. "; " .. judged.odd
end

local function field(value) return (tostring(value or ""):gsub("[\t\n]", " ")) end

-- Runs a sweep; what its options leave out is as on the bench, whose placement is in words and its strategy in force. Gives
-- back a line a point in grid order (label, step ms, low, high, ratio to the base's time an example, verdict, outcome, reason;
-- with tabs between), the answer in words, the label of the fastest point, and the answer in few words. The base is the first
-- point that ran.
function w.sweep(text, strategy, ...)
  local read, message = load("return " .. text, "=sweep", "t", shell)
  if not read then error(message, 0) end
  local options = read()
  if type(options) ~= "table" then host.fail("sweep: a table of options expected, as { name = \"x\", grid = { gpus = {1, 2} } }") end
  if spec and spec.model then bench_add(options, strategy, { ... }) end
  if options.name == nil then options.name = "workbench" end
  local rows = mgb.sweep(options)
  local lines, seen, against = {}, {}, host.rows_against_first(rows)
  for _, row in ipairs(rows) do
    if not seen[row.point] then
      seen[row.point] = true
      local one = against[row.point] or {}
      local judged = one.judged or {}
      lines[#lines + 1] = table.concat({ row.label, field(judged.step_ms or row.step_ms and row.step_ms.median), field(judged.low_ms),
        field(judged.high_ms), field(one.base and 1 or judged.ratio), one.base and "base" or judged.verdict or "",
        row.outcome or "", field(reason_of(judged)) }, "\t")
    end
  end
  return table.concat(lines, "\n"), host.rows_rank(rows)
end
