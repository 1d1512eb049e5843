-- nn: attention, products of matrices, and what goes with them. Called as nn.lua is.
local _, nn, host = ...

local define, variables_get, initialiser_read = host.define, host.variables_get, host.initialiser_read

define{
  name = "matmul", inputs = 2, direct = true, options = { transpose_a = "boolean", transpose_b = "boolean" },
  call = function(build, layer, o, a, b)
    return build.graph:matmul(layer.name, a, b, o.transpose_a, o.transpose_b)
  end,
}

-- The axes of x (the batch is 0, so these begin at 1) with two of them exchanged.
local function axes_swapped(rank, one, two)
  local axes = {}
  for i = 1, rank do axes[i] = i end
  axes[one], axes[two] = two, one
  return axes
end

define{
  name = "transpose", inputs = 1, direct = true, options = { axes = "table" }, -- without axes: the last two
  call = function(build, layer, o, x)
    local rank = #build.graph:shape(x)
    if not o.axes and rank < 2 then
      host.fail(("nn.transpose '%s': two axes or more beside the batch expected, got %d"):format(layer.name, rank))
    end
    return build.graph:transpose(layer.name, x, o.axes or axes_swapped(rank, rank - 1, rank))
  end,
}

define{
  name = "gelu", inputs = 1, direct = true, options = { approximate = "boolean" }, -- approximate: the tanh form
  call = function(build, layer, o, x) return build.graph:gelu(layer.name, x, o.approximate) end,
}

-- Along another axis than the last: that one is made the last meanwhile.
for _, name in ipairs{ "softmax", "log_softmax" } do
  define{
    name = name, inputs = 1, direct = true, options = { axis = "integer" },
    call = function(build, layer, o, x)
      local graph, rank = build.graph, #build.graph:shape(x)
      local axis = o.axis or -1
      if axis < 0 then axis = rank + 1 + axis end
      if axis < 1 or axis > rank then
        host.fail(("nn.%s '%s': axis %d of an input with %d axes (the batch is axis 0%s)"):format(name, layer.name,
          o.axis or -1, rank + 1, axis == 0 and ", which stays whole" or ""))
      end
      if axis == rank then return graph:softmax(layer.name, x, name == "log_softmax") end
      local axes = axes_swapped(rank, axis, rank)
      local y = graph:softmax(layer.name, graph:transpose(layer.name .. "_turn", x, axes), name == "log_softmax")
      return graph:transpose(layer.name .. "_turn_back", y, axes)
    end,
  }
end

-- Query, key and value (one tensor: all three; two: the second is key and value) and the mask, a last tensor of one axis.
local function operands_read(build, layer, first, ...)
  local given = { first, ... }
  local mask
  if #given > 1 and #build.graph:shape(given[#given]) == 1 then mask = table.remove(given) end
  if #given > 3 then
    host.fail(("nn.attention '%s': query, key, value and a mask (one number a key) expected, got %d tensors")
              :format(layer.name, #given + (mask and 1 or 0)))
  end
  local key = given[2] or first
  return first, key, given[3] or key, mask
end

local function heads_make(build, layer, o, q, k, v)
  local function width(x) local shape = build.graph:shape(x) return shape[#shape] or 1 end
  if not o.key_dim and width(q) % o.heads ~= 0 then
    host.fail(("nn.attention '%s': %d heads do not divide the %d elements of a query; give key_dim, the size of a head")
              :format(layer.name, o.heads, width(q)))
  end
  local inner = o.heads * (o.key_dim or width(q) // o.heads)
  local function part(name, from, to)
    build.graph:begin_scope(name)
    local _ <close> = host.closing(function() build.graph:end_scope() end)
    return { kernel = host.variable(build, "kernel", { from, to }, o.kernel_init),
             bias = o.bias ~= false and host.variable(build, "bias", { to }, o.bias_init) or nil }
  end
  return { query = part("query", width(q), inner), key = part("key", width(k), inner),
           value = part("value", width(v), inner), output = part("output", inner, o.units or width(q)) }
end

-- Multi-head attention, a layer with weights. Variables are named as Keras' MultiHeadAttention names them, each kernel a
-- matrix [in, heads * key_dim], the output's [heads * key_dim, units].
local function heads_call(build, layer, o, q, k, v, mask)
  local graph = build.graph
  local made = variables_get(build, layer, function() return heads_make(build, layer, o, q, k, v) end)
  local function dense(name, x)
    local part = made[name]
    return graph:dense(layer.name .. "_" .. name, x, graph:value(part.kernel), part.bias and graph:value(part.bias),
                       "linear")
  end
  local y = graph:attention(layer.name, dense("query", q), dense("key", k), dense("value", v), mask, o.heads,
                            o.causal, o.scale or 0, o.dropout or 0)
  return dense("output", y)
end

define{
  name = "attention", direct = true,
  options = { heads = "positive", key_dim = "positive", units = "positive", causal = "boolean", dropout = "rate",
              scale = "number", bias = "boolean", kernel_init = "any", bias_init = "any" },
  prepare = function(what, o)
    for _, key in ipairs{ "key_dim", "units", "bias", "kernel_init", "bias_init" } do
      if o[key] ~= nil and not o.heads then
        host.fail(("%s: %s goes with heads: without them attention has no weights"):format(what, key))
      end
    end
    o.kernel_init = initialiser_read(what, "kernel_init", o.kernel_init, "glorot_uniform")
    o.bias_init = initialiser_read(what, "bias_init", o.bias_init, "zeros")
  end,
  call = function(build, layer, o, ...)
    local q, k, v, mask = operands_read(build, layer, ...)
    if o.heads then return heads_call(build, layer, o, q, k, v, mask) end
    return build.graph:attention(layer.name, q, k, v, mask, 1, o.causal, o.scale or 0, o.dropout or 0)
  end,
}
