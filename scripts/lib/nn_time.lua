-- nn: a layer at every position of the first axis. Called as nn.lua is.
local _, nn, host = ...

local state = host.layer_state

-- Layers that treat positions alike by themselves.
local pointwise = {}
for _, name in ipairs{ "dense", "relu", "relu6", "tanh", "sigmoid", "gelu", "abs", "dropout", "embedding", "batch_norm",
                       "layer_norm" } do
  pointwise[name] = true
end
local along_last = { softmax = true, log_softmax = true }

local most_inputs = 16 -- of one concat

local function joined(graph, name, parts)
  while #parts > 1 do
    local next_parts = {}
    for first = 1, #parts, most_inputs do
      local last = math.min(first + most_inputs - 1, #parts)
      next_parts[#next_parts + 1] = last == first and parts[first] or
        graph:concat(name, { table.unpack(parts, first, last) }, 1)
    end
    parts = next_parts
  end
  return parts[1]
end

host.rows_join = joined

-- One position after the other, each a tensor of its own, with the same variables.
local function positions_call(build, layer, inner, x, shape)
  local graph, parts = build.graph, {}
  local rest = { table.unpack(shape, 2) }
  for position = 0, shape[1] - 1 do
    local one = graph:reshape(layer.name .. "_at", graph:slice(layer.name .. "_cut", x, 1, position, 1), rest)
    local results = table.pack(inner(host.tensor(build, one)))
    if results.n ~= 1 then
      host.fail(("nn.time_distributed '%s': a layer of one output expected, '%s' has %d"):format(layer.name, inner.name,
                results.n))
    end
    parts[#parts + 1] = graph:reshape(layer.name .. "_row", host.number(results[1]), { 1, table.unpack(results[1].shape) })
  end
  return joined(graph, layer.name, parts)
end

host.define{
  name = "time_distributed", inputs = 1, options = { layer = "any" },
  prepare = function(what, o)
    if not state[o.layer] and not host.is_model(o.layer) then
      host.fail(("%s: layer: a layer or model expected, got %s"):format(what, host.describe(o.layer)))
    end
  end,
  call = function(build, layer, o, x)
    local shape, inner = build.graph:shape(x), o.layer
    local kind, given = state[inner] and state[inner].kind.name, state[inner] and state[inner].options
    if #shape == 0 then
      host.fail(("nn.time_distributed '%s': an input with an axis of positions expected, got one value an example")
                :format(layer.name))
    end
    if pointwise[kind] or along_last[kind] and #shape > 1 and (given.axis or -1) == -1 then
      return host.number(inner(host.tensor(build, x)))
    end
    if kind == "flatten" then return build.graph:reshape(layer.name, x, { shape[1], -1 }) end
    return positions_call(build, layer, inner, x, shape)
  end,
}
