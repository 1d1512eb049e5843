-- nn.model and mgb.model: what a model is, building its graph, and models as layers of other models.
local mgb, nn, host = ...

local model_type = { __name = "model" }
local state = setmetatable({}, { __mode = "k" }) -- model -> { fn, declared, given, build }
local building = host.building

local function is_model(value) return state[value] ~= nil end
host.is_model = is_model

local function options_merged(s)
  local options = {}
  for name, value in pairs(s.declared) do options[name] = value end
  for name, value in pairs(s.given) do options[name] = value end
  return options
end

-- The options as the model's function gets them: asking for one that is not declared is an error.
local function options_strict(name, options)
  return setmetatable(options, { __index = function(t, key)
    host.fail(("model '%s' has no option '%s'%s"):format(name, tostring(key), host.hint(tostring(key), t)))
  end })
end

local function model_new(name, s)
  local model = setmetatable({ name = name }, model_type)
  state[model] = s
  return model
end

-- The same model with other options: a model of its own, with variables of its own.
local function model_with(model, given)
  local s = state[model]
  local all = {}
  for key, value in pairs(s.given) do all[key] = value end
  for key, value in pairs(given) do
    local default = s.declared[key]
    if default == nil then
      host.fail(("model '%s': unknown option '%s'%s"):format(model.name, tostring(key),
                host.hint(tostring(key), s.declared)))
    end
    if type(value) ~= type(default) or math.type(default) == "integer" and math.type(value) ~= "integer" then
      host.fail(("model '%s': %s: %s expected, got %s"):format(model.name, key,
                math.type(default) or type(default), host.describe(value)))
    end
    all[key] = value
  end
  return model_new(model.name, { fn = s.fn, declared = s.declared, given = all, build = s.build })
end

-- What the model's function gets as `m`.
local builder_type = {}
builder_type.__index = function(_, name)
  local method = builder_type[name]
  if not method then
    host.fail(("the model builder has no '%s'%s"):format(tostring(name), host.hint(tostring(name), builder_type)))
  end
  return method
end

local builds = setmetatable({}, { __mode = "k" }) -- m -> build

local function build_of(m)
  return builds[m] or host.fail("write m:input(...), with a colon")
end

local function tensor_check(m, what, value)
  local build = build_of(m)
  if not host.is_tensor(value) then
    host.fail(("%s: tensor expected, got %s"):format(what, host.given_text(value)))
  end
  return build, host.number(value)
end

-- m:input(name, shape, "i32", { batch = 32 }): the model is written for batches of 32 on every GPU. The type may be left out.
function builder_type.input(m, name, shape, kind, options)
  local build = build_of(m)
  if type(kind) == "table" and options == nil then kind, options = nil, kind end
  local o = host.read(("m:input: '%s'"):format(tostring(name)), options, { batch = "positive" })
  if build.arguments then -- a layer: its inputs are the tensors it was called on
    build.taken = build.taken + 1
    local tensor = build.arguments[build.taken]
    if not tensor then
      host.fail(("model '%s' has more inputs than the %d tensors it was called on; the next is '%s'")
                :format(build.name, #build.arguments, name))
    end
    if table.concat(tensor.shape, "x") ~= table.concat(shape or {}, "x") or tensor.type ~= (kind or "f32") then
      host.fail(("model '%s': input '%s' is %s of %s, called on a tensor %s of %s"):format(build.name, name,
                kind or "f32", table.concat(shape or {}, "x"), tensor.type, table.concat(tensor.shape, "x")))
    end
    if o.batch then build.graph:fix_batch(name, o.batch) end
    return tensor
  end
  if kind ~= nil and kind ~= "f32" and kind ~= "i32" then
    host.fail(("m:input: '%s': type \"f32\" or \"i32\" expected, got %s"):format(tostring(name), host.describe(kind)))
  end
  if shape ~= nil and type(shape) ~= "table" then
    host.fail(("m:input: '%s': the shape of an example expected, as { 28, 28, 1 } or {}, got %s")
              :format(tostring(name), host.describe(shape)))
  end
  local tensor = host.tensor(build, build.graph:input(name, shape or {}, kind or "f32"))
  if o.batch then build.graph:fix_batch(name, o.batch) end
  return tensor
end

function builder_type.output(m, name, tensor)
  local build, number = tensor_check(m, "m:output", tensor)
  if build.arguments then
    build.outputs[#build.outputs + 1] = tensor
  else
    build.graph:output(name, number)
  end
end

-- Losses and metrics of a model that is used as a layer are its own matter: the model around it declares those that count.
function builder_type.loss(m, tensor, options)
  local build, number = tensor_check(m, "m:loss", tensor)
  local o = host.read("m:loss", options, { weight = "number" })
  if not build.arguments then build.graph:loss(number, o.weight or 1) end
end

function builder_type.metric(m, name, tensor)
  local build, number = tensor_check(m, "m:metric", tensor)
  if not build.arguments then build.graph:metric(name, number) end
end

-- The layer's variables are no longer trained, those it has and those it will have.
function builder_type.freeze(m, layer, frozen)
  local build = build_of(m)
  if not host.layer_state[layer] and not is_model(layer) then
    host.fail("m:freeze: layer expected, got " .. host.describe(layer))
  end
  if frozen == nil then frozen = true end
  local group = build.root.variables[layer] or {}
  build.root.variables[layer] = group
  group.frozen = frozen
  for _, variable in ipairs(group) do build.graph:freeze(variable, frozen) end
end

-- Whatever happens, the models begun since are no longer being built.
local function building_end(depth)
  return setmetatable({}, { __close = function()
    for i = #building, depth + 1, -1 do building[i] = nil end
  end })
end

local most_deep = 64 -- models within models; more is one that never ends

local function nesting_check(model)
  for _, outer in ipairs(building) do
    if outer.model == model then host.fail(("model '%s' calls itself"):format(model.name)) end
  end
  if #building >= most_deep then
    host.fail(("model '%s' is called within models %d deep: does it call itself without end?"):format(model.name,
              #building))
  end
end

local function function_call(build, s)
  local _ <close> = building_end(#building)
  local m = setmetatable({}, builder_type)
  builds[m] = build
  building[#building + 1] = build
  local options = options_strict(build.name, options_merged(s))
  s.fn(m, options)
  return options
end

-- The options as the model's function left them: one like `small` sets others.
local function options_in_effect(s, used)
  local options = options_merged(s)
  for name, value in pairs(options) do
    local now = rawget(used, name)
    if type(value) ~= "table" and type(now) == type(value) then options[name] = now end
  end
  return options
end

-- A model called on tensors: a layer that shares its variables over its calls.
local function layer_call(model, ...)
  local outer = host.build_now("model '" .. model.name .. "'")
  local root = outer.root
  nesting_check(model)
  local build = { name = model.name, model = model, graph = outer.graph, root = root, arguments = { ... }, taken = 0, outputs = {} }
  for i, value in ipairs(build.arguments) do
    if not host.is_tensor(value) then
      host.fail(("model '%s': argument %d: tensor expected, got %s"):format(model.name, i, host.given_text(value)))
    end
  end
  local group = root.variables[model] or {}
  root.variables[model] = group
  table.insert(root.groups, group)
  outer.graph:begin_scope(model.name)
  root.shares[model] = outer.graph:begin_shared(root.shares[model] or 0)
  local whole = false
  do
    local _ <close> = host.closing(function()
      if not whole then root.failed = root.failed or model.name end -- a script that catches it has half a layer
      outer.graph:end_scope()
      table.remove(root.groups)
      outer.graph:end_shared()
    end)
    function_call(build, state[model])
    whole = true
  end
  if build.taken < #build.arguments then
    host.fail(("model '%s' has %d input%s and was called on %d tensors"):format(model.name, build.taken,
              build.taken == 1 and "" or "s", #build.arguments))
  end
  return table.unpack(build.outputs)
end

function model_type.__call(model, first, ...)
  if host.is_tensor(first) then return layer_call(model, first, ...) end
  if type(first) ~= "table" then
    host.fail(("model '%s': options { ... } or tensors expected, got %s"):format(model.name, host.describe(first)))
  end
  return model_with(model, first)
end

-- The name, with the options that this variant was given: mlp{hidden=64}.
function host.model_text(model)
  local parts = {}
  for key, value in pairs(state[model].given) do
    parts[#parts + 1] = key .. "=" .. (type(value) == "table" and host.json(value) or tostring(value))
  end
  if #parts == 0 then return model.name end
  table.sort(parts)
  return ("%s{%s}"):format(model.name, table.concat(parts, ", "))
end

function model_type.__tostring(model) return "model " .. host.model_text(model) end

local summary_type = {}

function summary_type.__tostring(s)
  local lines = { ("model %s: %d parameters, %.4g million operations an example forward"):format(s.name, s.parameters,
    s.forward_flops / 1e6) }
  for _, v in ipairs(s.variables) do
    lines[#lines + 1] = ("  %-32s %-16s %10d%s"):format(v.name, v.shape, v.parameters, v.trainable and "" or "  frozen")
  end
  lines[#lines + 1] = ("inputs %s; outputs %s"):format(table.concat(s.inputs, ", "), table.concat(s.outputs, ", "))
  return table.concat(lines, "\n")
end

-- What the model is by itself, whatever the placement.
local methods = {}

function methods.summary(model)
  local graph, options = host.graph_build(model)
  local parameters, flops, digest = graph:facts()
  return setmetatable({ name = model.name, options = options, parameters = parameters, forward_flops = flops,
    digest = digest, inputs = graph:inputs(), outputs = graph:outputs(), metrics = graph:metrics(),
    variables = graph:variables(), text = graph:text() }, summary_type)
end

-- The same model under a name of its own, with the options it has now as defaults: models/resnet50.lua is one.
function methods.as(model, name)
  local s = state[model] or host.fail("write model:as(\"name\"), with a colon")
  if type(name) ~= "string" then host.fail("as: name expected, got " .. host.describe(name)) end
  host.name_check("as", name)
  return model_new(name, { fn = s.fn, declared = options_merged(s), given = {}, build = s.build })
end

function model_type.__index(_, name)
  return methods[name] or
    host.fail(("a model has no field '%s': there are name, summary() and as()"):format(tostring(name)))
end

-- Names are shown and stored.
function host.name_check(what, name)
  if name == "" or not utf8.len(name) or name:find("%c") then
    host.fail(("%s: a name of characters that can be shown expected, got %q"):format(what, name))
  end
end

function nn.model(name, fn, spec)
  if type(name) ~= "string" then host.fail("nn.model: name expected, got " .. host.describe(name)) end
  host.name_check("nn.model", name)
  if type(fn) ~= "function" then
    host.fail(("nn.model '%s': function (m, opt) expected, got %s"):format(name, host.describe(fn)))
  end
  local o = host.read("nn.model '" .. name .. "'", spec, { options = "table", build = { "once", "tower" } })
  for key, value in pairs(o.options or {}) do
    if type(key) ~= "string" then
      host.fail(("nn.model '%s': options: value %s without a name"):format(name, host.describe(value)))
    end
  end
  return model_new(name, { fn = fn, declared = o.options or {}, given = {}, build = o.build or "once" })
end

-- The model of a name ("mnist_cnn": models/mnist_cnn.lua beside the script, then in the other places of require), or of a
-- file relative to the script.
local function model_find(name)
  if name:match("%.lua$") then return dofile(host.script_path(name)) end
  return require(name:find(".", 1, true) and name or "models." .. name)
end

function mgb.model(name, options)
  local model = name
  if type(name) == "string" then
    model = model_find(name)
    if not is_model(model) then
      host.fail(("mgb.model: '%s' returns %s, not a model: it should end in return nn.model(...)")
                :format(name, host.describe(model)))
    end
  elseif not is_model(name) then
    host.fail("model: name or model expected, got " .. host.describe(name))
  end
  return options and model_with(model, options) or model
end

-- Is the builder run once a tower?
function host.built_by_tower(model, build) return (build or state[model].build) == "tower" end

-- Equal for names and models that train the same: of one function, with equal options.
function host.model_key(given)
  local model = mgb.model(given)
  local s = state[model]
  return ("%s %s %s %s"):format(model.name, tostring(s.fn), s.build or "", host.json(options_merged(s)))
end

-- The finished graph of a model, built anew. `towers`: how often the builder runs, nil: once for all.
function host.graph_build(model, towers)
  local s = state[model]
  local build = { name = model.name, model = model, graph = host.graph(model.name), made = {}, variables = {}, shares = {}, groups = {} }
  build.root = build
  local used
  for tower = 0, (towers or 1) - 1 do
    if towers then build.graph:begin_tower(tower) end
    used = function_call(build, s)
    if towers then build.graph:end_tower() end
  end
  if build.failed then
    host.fail(("model '%s': an error in model '%s', used as a layer of it, was caught; what is half built cannot be trained")
              :format(model.name, build.failed))
  end
  build.graph:finish()
  return build.graph, host.json(options_in_effect(s, used))
end
