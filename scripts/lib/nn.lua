-- nn: layers. A layer is a Lua object over the operators of a graph; its first call in a graph makes its variables, a
-- later call uses them again. Built into the program; called once a state with mgb, nn and what C and the other parts
-- lend each other.
local _, nn, host = ...

-- What operators apply by themselves; gelu is a node behind them.
local activations = { table.unpack(host.activations) }
activations[#activations + 1] = "gelu"
local initialisers = { "glorot_uniform", "he_normal", "normal", "uniform", "orthogonal", "zeros", "ones", "constant" }
local init_defaults = { normal = 0.05, uniform = 0.05, orthogonal = 1 } -- of those whose value may be left out

-- The models that are being built, innermost last (a model may be used as a layer of another).
local building = {}
host.building = building

-- Tensors: shape and type are everybody's, graph and number are not.
local tensor_type = { __name = "tensor" }
local inner = setmetatable({}, { __mode = "k" }) -- tensor -> { build, number }

local function tensor_make(build, number)
  local shape, kind = build.graph:shape(number)
  local tensor = setmetatable({ shape = shape, type = kind }, tensor_type)
  inner[tensor] = { build = build, number = number }
  return tensor
end

function tensor_type.__tostring(tensor)
  return ("tensor %s (%s an example)"):format(tensor.type,
    #tensor.shape == 0 and "one value" or table.concat(tensor.shape, "x"))
end

function tensor_type.__index(tensor, name)
  host.fail(("a tensor has no field '%s': there are shape and type"):format(tostring(name)))
end

for operator, name in pairs{ __add = "add", __sub = "sub", __mul = "mul", __div = "div" } do
  tensor_type[operator] = function(a, b) return nn[name](a, b) end
end

function tensor_type.__unm(tensor) return nn.mul(tensor, -1) end

local function is_tensor(value) return inner[value] ~= nil end

local function build_now(what)
  local build = building[#building]
  if not build then host.fail(what .. ": this belongs inside of the function of nn.model") end
  return build
end

host.tensor, host.is_tensor, host.build_now = tensor_make, is_tensor, build_now
function host.number(tensor) return inner[tensor].number end

-- Layers.
local layer_type = { __name = "layer" }
local state = setmetatable({}, { __mode = "k" }) -- layer -> { kind, options }

function layer_type.__index(layer, name)
  host.fail(("a layer has no field '%s': there is name"):format(tostring(name)))
end

function layer_type.__tostring(layer)
  return ("layer %s '%s'"):format(state[layer].kind.name, layer.name)
end

host.layer_state = state

-- What was given where another kind of layer is wanted, or a tensor: then it was most often not called yet.
function host.layer_text(value) return state[value] and tostring(value) or host.describe(value) end

local function given_text(value)
  return state[value] and ("the %s itself: call it on a tensor first"):format(tostring(value)) or host.describe(value)
end

host.given_text = given_text

-- The numbers of the tensors given and how many, after checking how many there are and whose. A kind with `optional` takes
-- up to so many more than `inputs`, nil where one is left out; one with `numbers` takes plain numbers beside tensors, as
-- { number }.
local function operands_check(layer, ...)
  local kind, count = state[layer].kind, select("#", ...)
  local what = "nn." .. kind.name
  local wanted, more = kind.inputs, kind.optional or 0
  if wanted and (count < wanted or count > wanted + more) or not wanted and count == 0 then
    host.fail(("%s: %s%s expected, got %d"):format(what,
      not wanted and "one or more tensors" or wanted == 0 and "no tensor" or wanted == 1 and "one tensor" or
      wanted .. " tensors", more > 0 and (" and up to %d more"):format(more) or "", count))
  end
  local build, numbers = build_now(what), {}
  for i = 1, count do
    local value = select(i, ...)
    if value == nil and wanted and i > wanted then goto continue end
    if state[value] and state[value].kind.name == "parameter" then value = value() end
    local plain = kind.numbers and type(value) == "number"
    if plain and (value ~= value or math.abs(value) > 3.4e38) then
      host.fail(("%s: argument %d: a tensor or a finite number expected, got %s"):format(what, i, host.describe(value)))
    end
    if not plain and not is_tensor(value) then
      host.fail(("%s: argument %d: tensor expected, got %s"):format(what, i, given_text(value)))
    end
    if not plain and inner[value].build.graph ~= build.graph then
      host.fail(("%s: argument %d is a tensor of another model ('%s'); call the model as a layer instead")
                :format(what, i, inner[value].build.name))
    end
    numbers[i] = plain and { value } or inner[value].number
    ::continue::
  end
  return build, numbers, count
end

function layer_type.__call(layer, ...)
  local s = state[layer]
  local build, numbers, count = (s.kind.operands or operands_check)(layer, ...)
  local made = table.pack(s.kind.call(build, layer, s.options, table.unpack(numbers, 1, count)))
  for i = 1, made.n do made[i] = tensor_make(build, made[i]) end
  return table.unpack(made, 1, made.n)
end

-- A value that is closed at the end of its scope however that is left. `ends` may raise; an error on its way goes first.
local function closing(ends)
  return setmetatable({}, { __close = function(_, err)
    if err == nil then ends() else pcall(ends) end
  end })
end

host.closing = closing

-- Makes one variable, frozen when its layer or a model around it is.
function host.variable(build, name, shape, initialiser)
  local kind, value = initialiser[1], initialiser[2]
  local variable = build.graph:variable(name, shape, kind, value)
  for _, group in ipairs(build.root.groups) do
    group[#group + 1] = variable
    if group.frozen then build.graph:freeze(variable, true) end
  end
  return variable
end

-- The variables of a layer in a graph: what `make` made at the first call, in the layer's own name scope.
local function variables_get(build, layer, make)
  local made = build.root.made[layer]
  if not made then
    local group = build.root.variables[layer] or {}
    build.root.variables[layer] = group
    build.graph:begin_scope(layer.name)
    table.insert(build.root.groups, group)
    local _ <close> = closing(function()
      build.graph:end_scope()
      table.remove(build.root.groups)
    end)
    made = make()
    build.root.made[layer] = made
  end
  return made
end

-- { 3, "x" } as a user would write it.
local function list_text(given)
  if type(given) ~= "table" then return host.describe(given) end
  local parts = {}
  for i = 1, math.min(#given, 8) do parts[i] = host.describe(given[i]) end
  return "{ " .. table.concat(parts, ", ") .. (#given > 8 and ", ... }" or " }")
end

local function is_finite(value)
  return type(value) == "number" and value == value and math.abs(value) <= 3.4e38 -- what f32 holds
end

local function initialiser_read(what, key, given, fallback)
  if given == nil then return { fallback } end
  local list = type(given) == "table" and given or { given }
  local ok = false
  for _, name in ipairs(initialisers) do ok = ok or name == list[1] end
  if not ok then
    host.fail(("%s: %s: one of %s expected (or { \"normal\", 0.05 }, { \"constant\", 1 }), got %s")
              :format(what, key, table.concat(initialisers, ", "), host.describe(list[1])))
  end
  if list[1] == "constant" and not is_finite(list[2]) then
    host.fail(("%s: %s: constant needs its value: { \"constant\", 0.1 }%s"):format(what, key,
              list[2] ~= nil and ", got " .. list_text(given) or ""))
  end
  local deviation = (list[1] == "normal" or list[1] == "uniform") and list[2] ~= nil
  if deviation and not (is_finite(list[2]) and list[2] >= 0) then
    host.fail(("%s: %s: a %s from 0 up expected, as { \"%s\", 0.05 }, got %s"):format(what, key,
              list[1] == "normal" and "deviation" or "limit", list[1], list_text(given)))
  end
  local gain = list[1] == "orthogonal" and list[2] ~= nil
  if gain and not is_finite(list[2]) then
    host.fail(("%s: %s: a gain expected, as { \"orthogonal\", 1.4 }, got %s"):format(what, key, list_text(given)))
  end
  if list[3] ~= nil or list[2] ~= nil and list[1] ~= "constant" and not deviation and not gain then
    host.fail(("%s: %s: %s takes no such value: %s"):format(what, key, list[1], list_text(given)))
  end
  if list[2] == nil then return { list[1], init_defaults[list[1]] } end
  return { list[1], list[2] }
end

-- A size that is a number or a pair { height, width }.
local function pair_read(what, key, given, fallback, least)
  if given == nil then given = fallback end
  local list = type(given) == "table" and given or { given, given }
  for i = 1, 2 do
    local n = list[i]
    if math.type(n) ~= "integer" or n < least or n > 0x7fffffff or #list ~= 2 then
      host.fail(("%s: %s: %s or a pair { height, width } of them expected, got %s"):format(what, key,
        math.type(n) == "integer" and n > 0x7fffffff and "integer up to 2147483647" or
        least == 1 and "positive integer" or "integer from " .. least .. " up", list_text(given)))
    end
  end
  return { list[1], list[2] }
end

local function window_read(what, o, size, stride)
  local padding = o.padding or "valid"
  if type(padding) == "string" then
    if padding ~= "valid" and padding ~= "same" then
      host.fail(("%s: padding: \"valid\", \"same\", integer or pair { height, width } expected, got \"%s\"")
                :format(what, padding))
    end
  else
    padding = pair_read(what, "padding", padding, nil, 0)
  end
  return { size = size, stride = pair_read(what, "stride", o.stride, stride, 1),
           dilation = pair_read(what, "dilation", o.dilation, 1, 1), padding = padding, groups = o.groups or 1 }
end

function host.layer_make(kind, name, options)
  local layer = setmetatable({ name = name }, layer_type)
  state[layer] = { kind = kind, options = options }
  return layer
end

-- Declares a kind of layer: nn.NAME{...} makes one. `inputs` nil: any number of tensors. `direct`: nn.NAME(x) uses one
-- with the default options. `numbers`: plain numbers may stand beside tensors. `operands`: what the layer is called on is
-- read by this function instead.
local function define(kind)
  kind.options.name = "text"
  nn[kind.name] = function(...)
    local what, first = "nn." .. kind.name, ...
    if first == nil and select("#", ...) > 0 then
      host.fail(("%s: argument 1: %s expected, got nil"):format(what, kind.direct and "tensor" or "table of options"))
    end
    local direct = is_tensor(first) or state[first] ~= nil or kind.numbers and type(first) == "number"
    if direct and not kind.direct then
      host.fail(("%s needs its options: write %s{...}(x)"):format(what, what))
    end
    local options = host.read(what, not direct and first or {}, kind.options)
    if kind.prepare then kind.prepare(options.name and ("%s '%s'"):format(what, options.name) or what, options) end
    local layer = host.layer_make(kind, options.name or kind.name, options)
    if direct then return layer(...) end
    return layer
  end
end

host.define, host.variables_get = define, variables_get
host.initialiser_read, host.pair_read, host.window_read, host.list_text = initialiser_read, pair_read, window_read, list_text
host.activations = activations

-- The result of `make(activation)`, an operator that applies an activation, for every name of host.activations.
function host.activated(build, layer, activation, make)
  if activation ~= "gelu" then return make(activation) end
  return build.graph:gelu(layer.name .. "_gelu", make("linear"), false)
end

local function function_check(what, fn)
  local callable = type(fn) == "function" or (getmetatable(fn) or {}).__call
  if not callable then host.fail(("%s: function expected, got %s"):format(what, host.describe(fn))) end
end

-- The scope ends with `fn`, also when an error leaves it that the script catches further out.
function nn.scope(name, fn, ...)
  local build = build_now("nn.scope")
  function_check("nn.scope", fn)
  build.graph:begin_scope(name)
  local _ <close> = closing(function() build.graph:end_scope() end)
  return fn(...)
end

function nn.device(name, fn, ...)
  local build = build_now("nn.device")
  function_check("nn.device", fn)
  build.graph:begin_device(name)
  local _ <close> = closing(function() build.graph:end_device() end)
  return fn(...)
end
